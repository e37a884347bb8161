"""One poll: what it writes, what it starts, and what does not stop it."""

import asyncio
import secrets

import pytest
from temporalio.client import Client, WorkflowFailureError

from pressbox.core.errors import PermanentError, TransientError
from pressbox.footy.contracts.monitor import MonitorWorkflowInput, MonitorWorkflowResult
from pressbox.footy.ids import upload_workflow_id
from pressbox.footy.workflows.monitor import MonitorWorkflow
from tests.fakes.footy import FakeWorld, raw_fixture, raw_goal
from tests.workflows.footy.conftest import Stage, staged


async def poll(stage: Stage) -> MonitorWorkflowResult:
    name = f"monitor-scheduled-{secrets.token_hex(4)}"
    found = await stage.run(MonitorWorkflow, MonitorWorkflowInput(policy=stage.policy), name)
    return MonitorWorkflowResult.model_validate(found)


def play(stage: Stage, *goals: dict[str, object]) -> None:
    stage.world.fixtures.active.add(stage.fixture_id)
    stage.world.api.live[stage.fixture_id] = raw_fixture(stage.fixture_id, *goals)


async def test_three_polls_confirm_a_goal_and_start_one_search(stage: Stage) -> None:
    play(stage, raw_goal())
    results = [await poll(stage) for _ in range(4)]
    assert [found.searches_started for found in results] == [0, 0, 1, 0]
    name = f"twitter-Liverpool-D-Szoboszlai-23min-{stage.event_id}"
    assert (await stage.client.get_workflow_handle(name).result())["ended"] == "attempts exhausted"
    assert stage.world.goals.all[stage.event_id].monitor_complete


async def test_a_goal_without_a_scorer_waits_for_its_name(stage: Stage) -> None:
    play(stage, raw_goal(None, None))
    assert [(await poll(stage)).searches_started for _ in range(3)] == [0, 0, 0]
    play(stage, raw_goal())
    assert (await poll(stage)).searches_started == 1


async def test_a_search_that_died_at_its_first_step_is_started_again_by_the_next_poll(stage: Stage) -> None:
    stage.world.goals.trouble = [PermanentError("The search dies.")]
    play(stage, raw_goal())
    for _ in range(3):
        await poll(stage)
    handle = stage.client.get_workflow_handle(f"twitter-Liverpool-D-Szoboszlai-23min-{stage.event_id}")
    with pytest.raises(WorkflowFailureError):
        await handle.result()
    assert not stage.world.goals.all[stage.event_id].monitor_complete
    assert (await poll(stage)).searches_started == 1
    assert (await handle.result())["ended"] == "attempts exhausted"


async def test_two_monitors_at_once_start_one_search(stage: Stage) -> None:
    play(stage, raw_goal())
    await poll(stage)
    await poll(stage)
    started = await asyncio.gather(poll(stage), poll(stage))
    assert sum(found.searches_started for found in started) == 1


async def test_one_bad_batch_and_one_bad_fixture_do_not_stop_the_others(stage: Stage) -> None:
    first = stage.fixture_id * 1000
    fixtures = stage.world.fixtures
    for number in range(first, first + 60):
        fixtures.active.add(number)
        stage.world.api.live[number] = raw_fixture(number)
    stage.world.api.broken = {first + 5}
    stage.world.api.live[first + 30] = {"fixture": {"id": first + 30}}
    found = await poll(stage)
    assert (found.fixtures, found.failed) == (40, 21)
    assert fixtures.troubles[first + 5] == "The answer is not JSON."
    assert "status" in fixtures.troubles[first + 30]
    assert first + 31 in fixtures.synced


async def test_the_history_of_a_poll_does_not_grow_with_the_fixtures(stage: Stage) -> None:
    first = stage.fixture_id * 1000
    for number in range(first, first + 400):
        stage.world.fixtures.active.add(number)
        stage.world.fixtures.staging.add(number + 500)
        stage.world.api.live[number] = raw_fixture(number)
        stage.world.api.live[number + 500] = raw_fixture(number + 500, status="NS")
    name = f"monitor-scheduled-{secrets.token_hex(4)}"
    found = await stage.run(MonitorWorkflow, MonitorWorkflowInput(policy=stage.policy), name)
    assert found["fixtures"] == 800
    assert await stage.events_of(name) <= 60
    assert max(len(call) for call in stage.world.api.calls) == 20
    assert 1 < stage.world.api.most_at_once <= 8


async def test_an_api_that_is_away_still_lets_known_kick_offs_activate(stage: Stage) -> None:
    stage.world.fixtures.staging.add(stage.fixture_id)
    stage.world.api.down = TransientError("API-Football does not answer.")
    found = await poll(stage)
    assert stage.fixture_id in stage.world.fixtures.active
    assert stage.world.fixtures.troubles[stage.fixture_id] == "API-Football does not answer."
    assert found.failed == 2


async def test_an_archived_match_leaves_scratch_files_of_open_candidates_only(stage: Stage) -> None:
    world = stage.world
    stage.goal()
    world.fixtures.active.add(stage.fixture_id)
    world.fixtures.ready = (stage.fixture_id,)
    open_one = world.candidates.plant(stage.event_id, "https://clips.example.org/1")
    done = world.candidates.plant(stage.event_id, "https://clips.example.org/2")
    world.candidates.all[done].outcome = world.candidates.all[done].outcome.STORED
    for number in (open_one, done):
        await world.objects.put(f"scratch/footy/{stage.fixture_id}/{stage.event_id}/{number}.video", b"file")
    assert (await poll(stage)).fixtures_completed == 1
    assert list(world.objects.all) == [f"scratch/footy/{stage.fixture_id}/{stage.event_id}/{open_one}.video"]


async def test_every_poll_is_recorded_and_readers_are_told_once(stage: Stage) -> None:
    play(stage, raw_goal())
    await poll(stage)
    assert stage.world.fixtures.told == 1
    (summary,) = stage.world.fixtures.runs.values()
    assert summary is not None
    assert summary["goals_created"] == 1


async def test_without_a_key_the_monitor_says_what_to_set_and_does_nothing(temporal: Client) -> None:
    world = FakeWorld(missing="Set PRESSBOX_FOOTY_API_KEY.")
    async with staged(temporal, world, with_media=False) as stage:
        play(stage, raw_goal())
        assert (await poll(stage)).note == "Set PRESSBOX_FOOTY_API_KEY."
    assert world.api.calls == []
    assert world.fixtures.runs == {}


async def test_a_disallowed_goal_is_removed_after_three_misses_and_its_search_ends(stage: Stage) -> None:
    stage.policy = stage.policy.model_copy(update={"attempts": 1000})
    play(stage, raw_goal())
    for _ in range(3):
        await poll(stage)
    search = stage.client.get_workflow_handle(f"twitter-Liverpool-D-Szoboszlai-23min-{stage.event_id}")
    play(stage)
    removed = [(await poll(stage)).goals_removed for _ in range(3)]
    assert removed == [0, 0, 1]
    assert (await search.result())["ended"] == "the goal is gone"
    assert upload_workflow_id(stage.event_id).endswith(stage.event_id)
