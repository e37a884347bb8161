"""Declared schedules are reconciled; what a person changed stays."""

import secrets
from dataclasses import replace
from datetime import UTC, timedelta

import pytest
from temporalio.client import (
    ScheduleDescription,
    ScheduleHandle,
    ScheduleIntervalSpec,
    ScheduleSpec,
    ScheduleUpdate,
    ScheduleUpdateInput,
)
from temporalio.service import RPCError, RPCStatusCode

from pressbox.core.app import AppManifest, Resources, ScheduleDeclaration
from pressbox.core.contracts import Contract
from pressbox.core.errors import InvalidInputError, NotFoundError, TransientError
from pressbox.core.temporal.schedules import (
    ScheduleOutcome,
    Times,
    list_schedules,
    pause,
    reconcile,
    remove,
    resume,
    run_now,
    set_times,
    timetable,
)


class ToyInput(Contract):
    number: int = 1


@pytest.fixture
def declaration() -> ScheduleDeclaration:
    name = f"toy-{secrets.token_hex(4)}"
    return ScheduleDeclaration(
        id=name,
        workflow="ToyWorkflow",
        workflow_id=name,
        task_queue="nobody-polls",
        input=ToyInput(),
        summary="Plays",
        every=timedelta(hours=1),
    )


async def view(resources: Resources, declaration: ScheduleDeclaration):  # type: ignore[no-untyped-def]
    manifest = AppManifest("toy", "Toy", "", schedules=lambda _: (declaration,))
    return (await list_schedules(resources, [manifest]))[0]


async def test_applying_twice_creates_once(resources: Resources, declaration: ScheduleDeclaration) -> None:
    assert await reconcile(resources, [declaration]) == {declaration.id: ScheduleOutcome.CREATED}
    assert await reconcile(resources, [declaration]) == {declaration.id: ScheduleOutcome.UNCHANGED}
    seen = await view(resources, declaration)
    assert (seen.exists, seen.paused, seen.timetable) == (True, False, "every hour")
    assert seen.next_run is not None


async def test_a_schedule_with_which_temporal_has_not_begun_stops_nothing(
    resources: Resources, declaration: ScheduleDeclaration, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def refuse(handle: ScheduleHandle) -> ScheduleDescription:
        raise RPCError("Workflow task is not scheduled yet.", RPCStatusCode.FAILED_PRECONDITION, b"")

    with monkeypatch.context() as patched:
        patched.setattr(ScheduleHandle, "describe", refuse)
        seen = await view(resources, declaration)
        assert seen.problem == f"Temporal has not begun with the schedule {declaration.id} yet."
        assert await reconcile(resources, [declaration]) == {declaration.id: ScheduleOutcome.WAITING}
        with pytest.raises(TransientError, match="has not begun"):
            await set_times(resources, declaration, None)
    assert await reconcile(resources, [declaration]) == {declaration.id: ScheduleOutcome.CREATED}
    assert (await view(resources, declaration)).problem == ""


async def test_a_pause_survives_a_changed_declaration(resources: Resources, declaration: ScheduleDeclaration) -> None:
    await reconcile(resources, [declaration])
    await pause(resources.temporal, declaration.id)
    changed = replace(declaration, every=timedelta(hours=2))
    assert await reconcile(resources, [changed]) == {declaration.id: ScheduleOutcome.UPDATED}
    seen = await view(resources, changed)
    assert (seen.paused, seen.timetable) == (True, "every 2 hours")
    await resume(resources.temporal, declaration.id)
    assert not (await view(resources, changed)).paused


async def test_a_timetable_that_a_person_changed_is_kept(
    resources: Resources, declaration: ScheduleDeclaration
) -> None:
    await reconcile(resources, [declaration])

    def slower(current: ScheduleUpdateInput) -> ScheduleUpdate:
        schedule = current.description.schedule
        schedule.spec = ScheduleSpec(intervals=[ScheduleIntervalSpec(every=timedelta(days=1))])
        return ScheduleUpdate(schedule)

    handle = resources.temporal.get_schedule_handle(declaration.id)
    await handle.update(slower)
    assert await reconcile(resources, [declaration]) == {declaration.id: ScheduleOutcome.KEPT}
    changed = replace(declaration, input=ToyInput(number=2), every=timedelta(hours=3))
    assert await reconcile(resources, [changed]) == {declaration.id: ScheduleOutcome.KEPT}
    description = await handle.describe()
    assert description.schedule.spec.intervals[0].every == timedelta(days=1)
    assert (await view(resources, changed)).changed_by_user


async def test_times_that_a_person_set_stay_and_are_told_in_words(
    resources: Resources, declaration: ScheduleDeclaration
) -> None:
    await reconcile(resources, [declaration])
    await pause(resources.temporal, declaration.id)
    await set_times(resources, declaration, Times(every=timedelta(hours=2)), ToyInput(number=7))
    assert await reconcile(resources, [declaration]) == {declaration.id: ScheduleOutcome.KEPT}
    seen = await view(resources, declaration)
    assert (seen.timetable, seen.changed_by_user, seen.paused) == ("every 2 hours, changed by you", True, True)
    await set_times(resources, declaration, Times(cron="0 3 * * *", timezone="Asia/Tokyo"))
    await resume(resources.temporal, declaration.id)
    assert await reconcile(resources, [declaration]) == {declaration.id: ScheduleOutcome.KEPT}
    seen = await view(resources, declaration)
    assert seen.timetable == "cron 0 3 * * * Asia/Tokyo, changed by you"
    assert seen.next_run is not None
    assert seen.next_run.astimezone(UTC).hour == 18
    with pytest.raises(InvalidInputError):
        await set_times(resources, declaration, Times(cron="every now and then"))
    await set_times(resources, declaration, None)
    assert await reconcile(resources, [declaration]) == {declaration.id: ScheduleOutcome.UNCHANGED}
    assert (await view(resources, declaration)).timetable == "every hour"


async def test_a_schedule_that_a_person_deleted_stays_deleted_until_its_times_are_set(
    resources: Resources, declaration: ScheduleDeclaration
) -> None:
    await reconcile(resources, [declaration])
    await remove(resources, declaration)
    changed = replace(declaration, every=timedelta(hours=5))
    assert await reconcile(resources, [changed]) == {declaration.id: ScheduleOutcome.KEPT}
    seen = await view(resources, declaration)
    assert (seen.exists, seen.timetable) == (False, "deleted by you")
    with pytest.raises(NotFoundError):
        await remove(resources, declaration)
    await set_times(resources, declaration, Times(every=timedelta(days=1)))
    assert (await view(resources, declaration)).exists
    assert await reconcile(resources, [declaration]) == {declaration.id: ScheduleOutcome.KEPT}


async def test_what_is_no_longer_declared_is_deleted_and_strangers_are_left_alone(
    resources: Resources, declaration: ScheduleDeclaration
) -> None:
    stranger = replace(declaration, id=f"{declaration.id}-stranger")
    await reconcile(resources, [declaration, stranger])
    assert await reconcile(resources, [stranger]) == {
        stranger.id: ScheduleOutcome.UNCHANGED,
        declaration.id: ScheduleOutcome.DELETED,
    }
    assert not (await view(resources, declaration)).exists


async def test_a_schedule_that_does_not_exist_is_named(resources: Resources) -> None:
    for act in (pause, resume, run_now):
        with pytest.raises(NotFoundError, match="no schedule missing"):
            await act(resources.temporal, "missing")


def test_timetables_read_as_people_say_them(declaration: ScheduleDeclaration) -> None:
    assert timetable(replace(declaration, every=timedelta(seconds=30))) == "every 30 seconds"
    assert timetable(replace(declaration, every=timedelta(minutes=15))) == "every 15 minutes"
    assert timetable(replace(declaration, every=None, cron="5 0 * * *")) == "cron 5 0 * * * UTC"


def test_a_schedule_needs_exactly_one_timetable(declaration: ScheduleDeclaration) -> None:
    with pytest.raises(ValueError, match="exactly one"):
        replace(declaration, cron="5 0 * * *")
