"""A schedule rests and wakes; what a person chose, paused or deleted stays."""

import asyncio
import secrets
from datetime import timedelta

import pytest

from pressbox.core.app import AppManifest, Resources, ScheduleDeclaration
from pressbox.core.contracts import Contract
from pressbox.core.temporal.pace import SchedulePace
from pressbox.core.temporal.schedules import (
    ScheduleOutcome,
    ScheduleView,
    Times,
    list_schedules,
    pause,
    reconcile,
    remove,
    set_times,
)


@pytest.fixture
def declaration() -> ScheduleDeclaration:
    name = f"toy-{secrets.token_hex(4)}"
    return ScheduleDeclaration(
        id=name,
        workflow="ToyWorkflow",
        workflow_id=name,
        task_queue="nobody-polls",
        input=Contract(),
        summary="Plays",
        every=timedelta(hours=1),
        rest_every=timedelta(hours=12),
    )


async def view(resources: Resources, declaration: ScheduleDeclaration) -> ScheduleView:
    manifest = AppManifest("toy", "Toy", "", schedules=lambda _: (declaration,))
    return (await list_schedules(resources, [manifest]))[0]


def pace_of(resources: Resources, declaration: ScheduleDeclaration) -> SchedulePace:
    return SchedulePace(resources.temporal, resources.database, declaration)


async def every(resources: Resources, declaration: ScheduleDeclaration) -> timedelta:
    found = await resources.temporal.get_schedule_handle(declaration.id).describe()
    return found.schedule.spec.intervals[0].every


async def test_a_schedule_that_rests_is_not_taken_for_one_that_a_person_changed(
    resources: Resources, declaration: ScheduleDeclaration
) -> None:
    await reconcile(resources, [declaration])
    pace = pace_of(resources, declaration)
    await asyncio.gather(pace.rest(), pace_of(resources, declaration).rest())
    assert await reconcile(resources, [declaration]) == {declaration.id: ScheduleOutcome.UNCHANGED}
    seen = await view(resources, declaration)
    assert (seen.changed_by_user, seen.timetable) == (
        False,
        "every 12 hours while nothing is due, otherwise every hour",
    )
    await pace.hasten()
    await pace.hasten()
    assert (await view(resources, declaration)).timetable == "every hour"
    assert await every(resources, declaration) == timedelta(hours=1)


async def test_a_paused_schedule_stays_paused(resources: Resources, declaration: ScheduleDeclaration) -> None:
    await reconcile(resources, [declaration])
    await pause(resources.temporal, declaration.id)
    pace = pace_of(resources, declaration)
    for change in (pace.rest, pace.hasten):
        await change()
        assert (await view(resources, declaration)).paused


async def test_times_that_a_person_chose_are_left_alone_even_those_of_a_rest(
    resources: Resources, declaration: ScheduleDeclaration
) -> None:
    await reconcile(resources, [declaration])
    pace = pace_of(resources, declaration)
    for chosen in (timedelta(hours=5), timedelta(hours=12)):
        await set_times(resources, declaration, Times(every=chosen))
        await pace.rest()
        await pace.hasten()
        assert await every(resources, declaration) == chosen
        assert (await view(resources, declaration)).changed_by_user


async def test_a_schedule_that_is_not_there_is_not_made(resources: Resources, declaration: ScheduleDeclaration) -> None:
    pace = pace_of(resources, declaration)
    await pace.hasten()
    assert not (await view(resources, declaration)).exists
    await reconcile(resources, [declaration])
    await remove(resources, declaration)
    await pace.rest()
    assert not (await view(resources, declaration)).exists
