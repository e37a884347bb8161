"""Ingest: days, looking ahead, aliases and cleaning."""

from datetime import UTC, date, datetime, timedelta
from typing import Any

import pytest
from temporalio.client import Client, WorkflowFailureError, WorkflowHandle
from temporalio.common import WorkflowIDConflictPolicy

from pressbox.core.errors import PermanentError
from pressbox.footy.contracts.ingest import IngestWorkflowInput
from pressbox.footy.domain.fixture_parser import parse_fixture
from pressbox.footy.workflows.ingest import IngestWorkflow
from tests.fakes.footy import FakeWorld, raw_fixture
from tests.waiting import until
from tests.workflows.footy.conftest import Stage, staged


def today(ahead: int = 0) -> date:
    return (datetime.now(UTC) + timedelta(days=ahead)).date()


async def ingest(stage: Stage, **input: Any) -> Any:
    return await stage.run(IngestWorkflow, IngestWorkflowInput(policy=stage.policy, **input))


def fixture_on(stage: Stage, day: date, number: int) -> None:
    stage.world.api.days.setdefault(day, []).append(parse_fixture(raw_fixture(number, status="NS")))


async def test_three_days_are_fetched_and_known_fixtures_are_left_alone(stage: Stage) -> None:
    for ahead in range(3):
        fixture_on(stage, today(ahead), 1 + ahead)
    first, second = await ingest(stage), await ingest(stage)
    assert (first["staging"], second["staging"], second["known"]) == (3, 0, 3)
    assert sorted(set(stage.world.api.asked_days)) == [today(), today(1), today(2)]


async def test_an_empty_tomorrow_looks_ahead_day_by_day_to_the_next_fixture(stage: Stage) -> None:
    fixture_on(stage, today(), 1)
    fixture_on(stage, today(9), 2)
    assert (await ingest(stage))["staging"] == 2
    assert max(stage.world.api.asked_days) == today(9)


async def test_looking_ahead_ends_after_thirty_days(stage: Stage) -> None:
    await ingest(stage)
    assert max(stage.world.api.asked_days) == today(30)


async def test_whoever_follows_during_an_ingest_has_it_fetch_again(stage: Stage) -> None:
    fixture_on(stage, today(1), 1)
    workflow_id = f"ingest-followed-{stage.fixture_id}"
    input = IngestWorkflowInput(policy=stage.policy)

    async def follow() -> WorkflowHandle[Any, Any]:
        return await stage.client.start_workflow(
            IngestWorkflow.run,
            input,
            id=workflow_id,
            task_queue=stage.queue,
            start_signal="fetch_again",
            id_conflict_policy=WorkflowIDConflictPolicy.USE_EXISTING,
        )

    async def last_run() -> str | None:
        return (await stage.client.get_workflow_handle(workflow_id).describe()).run_id

    alone = await follow()
    await alone.result()
    assert await last_run() == alone.first_execution_run_id, "the signal of the start asks for nothing more"
    stage.world.api.held.clear()
    first = await follow()
    await until(lambda: today(2) in stage.world.api.asked_days[3:], "an ingest asks for days")
    await follow()
    stage.world.api.held.set()
    await first.result()
    assert await last_run() not in (None, first.first_execution_run_id)


async def test_named_fixtures_are_taken_whatever_their_date(stage: Stage) -> None:
    numbers = tuple(range(1000, 1050))
    stage.world.api.live = {number: raw_fixture(number) for number in numbers}
    assert (await ingest(stage, fixture_ids=numbers))["staging"] == 50
    assert stage.world.api.asked_days == []
    assert [len(call) for call in stage.world.api.calls] == [20, 20, 10]


async def test_teams_without_aliases_do_not_fail_the_ingest(stage: Stage) -> None:
    teams = stage.fixture_id * 10, stage.fixture_id * 10 + 1
    stage.world.fixtures.teams = teams
    stage.world.alias_source.down = PermanentError("Wikidata refuses.")
    fixture_on(stage, today(1), 1)
    assert (await ingest(stage))["aliases"] == 0
    stage.world.alias_source.down = None
    assert (await ingest(stage))["aliases"] == 2
    assert set(stage.world.teams.cache) == set(teams)


async def test_old_fixtures_are_deleted_in_rounds_with_their_files(stage: Stage) -> None:
    fixture_on(stage, today(1), 1)
    stage.world.fixtures.old = list(range(45))
    await stage.world.objects.put("scratch/footy/7/7_40_1_Goal_1/3.video", b"file")
    assert (await ingest(stage))["deleted"] == 45
    assert stage.world.objects.all == {}


async def test_a_day_that_is_refused_fails_the_run_after_the_others_are_stored(stage: Stage) -> None:
    fixture_on(stage, today(1), 1)
    stage.world.api.refused_days = {today()}
    with pytest.raises(WorkflowFailureError) as failed:
        await ingest(stage)
    assert today().isoformat() in str(failed.value.cause)
    assert stage.world.fixtures.stored == {1}


async def test_without_a_key_ingest_says_what_to_set(temporal: Client) -> None:
    async with staged(temporal, FakeWorld(missing="Set PRESSBOX_FOOTY_API_KEY."), with_media=False) as stage:
        assert (await ingest(stage))["note"] == "Set PRESSBOX_FOOTY_API_KEY."
