"""The search for clips of one goal, and the names of its team."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from temporalio.client import Client, WorkflowFailureError

from pressbox.core.errors import PermanentError, TransientError
from pressbox.footy.contracts.aliases import RAGWorkflowInput
from pressbox.footy.contracts.search import TwitterWorkflowInput
from pressbox.footy.domain.candidates import CandidateOutcome
from pressbox.footy.domain.errors import SourceLoginError
from pressbox.footy.domain.goals import SearchEnd
from pressbox.footy.ids import rag_workflow_id, twitter_workflow_id, upload_workflow_id
from pressbox.footy.workflows.rag import RAGWorkflow
from pressbox.footy.workflows.twitter import TwitterWorkflow
from tests.fakes.footy import LIVERPOOL, FakeSource, FakeWorld, clip
from tests.waiting import until
from tests.workflows.footy.conftest import Stage, staged


async def search(stage: Stage) -> Any:
    goal = stage.goal()
    return await stage.run(
        TwitterWorkflow, TwitterWorkflowInput(goal=goal, policy=stage.policy), twitter_workflow_id(goal)
    )


async def stored(stage: Stage) -> None:
    """Until the upload of this goal has ended."""
    await stage.client.get_workflow_handle(upload_workflow_id(stage.event_id)).result()


async def test_a_search_finds_downloads_and_stores_clips_and_the_goal_completes(stage: Stage) -> None:
    world = stage.world
    world.sources[0].waves = [
        [world.publish("https://clips.example.org/1", clip("a"))],
        [world.publish("https://clips.example.org/2", clip("b"))],
    ]
    found = await search(stage)
    await stored(stage)
    assert (found["attempts"], found["found"], found["ended"]) == (3, 2, "attempts exhausted")
    goal = world.goals.all[stage.event_id]
    assert goal.query == "(Szoboszlai OR Szobo) (Liverpool OR LFC)"
    assert set(goal.downloads.values()) == {"finished"}
    assert len(goal.downloads) == 3
    assert goal.complete
    assert set(world.candidates.outcomes(stage.event_id).values()) == {CandidateOutcome.STORED}
    assert len(world.clips.all) == 2
    parents = {update.parent_workflow_id for update in stage.reports if update.workflow_type == "DownloadWorkflow"}
    assert parents == {twitter_workflow_id(stage.goal())}, "the page of activities shows downloads below their search"


async def test_a_worker_that_remembers_nothing_comes_to_the_same_end(temporal: Client) -> None:
    """Every task is replayed from the beginning: what is not deterministic fails here."""
    world = FakeWorld()
    world.sources[0].waves = [[world.publish(f"https://clips.example.org/{n}", clip(f"s{n}")) for n in range(2)]]
    async with staged(temporal, world, cached=0) as stage:
        assert (await search(stage))["ended"] == "attempts exhausted"
        await stored(stage)
    assert len(world.clips.all) == 2
    assert world.goals.all[stage.event_id].complete


async def test_fifteen_attempts_are_made_and_the_history_stays_small(stage: Stage) -> None:
    stage.policy = stage.policy.model_copy(update={"attempts": 15, "downloads_wanted": 100})
    found = await search(stage)
    assert found["attempts"] == 15
    assert len(stage.world.goals.all[stage.event_id].downloads) == 15
    assert await stage.events_of(twitter_workflow_id(stage.goal())) < 250


async def test_enough_registered_downloads_end_the_search(stage: Stage) -> None:
    stage.policy = stage.policy.model_copy(update={"attempts": 15, "downloads_wanted": 2})
    assert (await search(stage))["ended"] == "enough downloads"
    assert stage.world.goals.all[stage.event_id].ended is SearchEnd.ENOUGH


async def test_the_longest_five_are_downloaded_the_others_wait_and_known_addresses_are_left_out(stage: Stage) -> None:
    world = stage.world
    first = [world.publish(f"https://clips.example.org/{n}", clip(f"s{n}"), duration=10 + n) for n in range(7)]
    world.sources[0].waves = [first]
    await search(stage)
    asked = world.sources[0].requests
    assert asked[0].exclude_urls == frozenset()
    assert len(asked[1].exclude_urls) == 7
    by_attempt = [
        sorted(row.video.video_page_url for row in world.candidates.all.values() if row.chosen_in == attempt)
        for attempt in (1, 2)
    ]
    assert by_attempt == [
        [f"https://clips.example.org/{n}" for n in range(2, 7)],
        [f"https://clips.example.org/{n}" for n in range(2)],
    ]


async def test_a_failing_source_is_named_and_the_others_count(stage: Stage) -> None:
    world = stage.world
    expired = FakeSource("x-browser")
    expired.failure = SourceLoginError("login expired")
    stumbling = FakeSource("reddit")
    stumbling.failure = KeyError("data")
    world.sources += [expired, stumbling]
    world.sources[0].waves = [[world.publish("https://clips.example.org/1", clip("a"))]]
    await search(stage)
    answers = {answer.source: answer for answer in world.candidates.searches[stage.event_id, 1]}
    assert answers["folder"].found == 1
    assert answers["x-browser"].failure == "login expired"
    assert "KeyError" in answers["reddit"].failure
    assert len(world.candidates.all) == 1


async def test_all_sources_failing_is_an_attempt_all_the_same(stage: Stage) -> None:
    stage.world.sources[0].failure = TransientError("away")
    found = await search(stage)
    assert (found["attempts"], found["ended"]) == (3, "attempts exhausted")
    assert [stage.world.candidates.searches[stage.event_id, n][0].failure for n in (1, 2, 3)] == ["away"] * 3


async def test_after_an_outage_of_ours_the_search_looks_back_to_the_last_one_that_worked(stage: Stage) -> None:
    goal = stage.goal()
    stage.world.goals.all[goal.event_id].searched_since = datetime.now(UTC) - timedelta(minutes=20)
    await search(stage)
    assert stage.world.sources[0].requests[0].max_age >= timedelta(minutes=20)


async def test_what_was_found_and_could_not_be_kept_is_looked_for_again(stage: Stage) -> None:
    goal, source = stage.goal(), stage.world.sources[0]
    stage.world.goals.all[goal.event_id].searched_since = datetime.now(UTC) - timedelta(minutes=20)
    stage.world.candidates.trouble = [TransientError("The database is away.")]
    await search(stage)
    assert source.requests[1].max_age >= timedelta(minutes=20)
    assert source.requests[2].max_age < timedelta(minutes=20)


async def test_a_goal_that_is_gone_ends_its_search(stage: Stage) -> None:
    stage.goal()
    stage.world.goals.all[stage.event_id].removed = True
    assert (await search(stage))["ended"] == "the goal is gone"
    assert stage.world.goals.all[stage.event_id].complete


async def test_a_cancelled_search_leaves_its_reason(stage: Stage) -> None:
    stage.policy = stage.policy.model_copy(update={"attempts": 1000, "downloads_wanted": 1000})
    goal = stage.goal()
    handle = await stage.start(TwitterWorkflow, TwitterWorkflowInput(goal=goal, policy=stage.policy))
    await until(lambda: len(stage.world.sources[0].requests) > 1)
    await handle.cancel()
    with pytest.raises(WorkflowFailureError):
        await handle.result()
    assert stage.world.goals.all[stage.event_id].ended is SearchEnd.FAILED


async def test_aliases_that_cannot_be_had_are_replaced_by_the_name_and_never_cached(stage: Stage) -> None:
    stage.world.alias_source.down = PermanentError("Wikidata refuses.")
    await search(stage)
    assert stage.world.goals.all[stage.event_id].query == "(Szoboszlai OR Szobo) Liverpool"
    assert stage.world.teams.cache == {}


async def test_fresh_aliases_are_not_asked_for_again(stage: Stage) -> None:
    for _ in range(2):
        team = RAGWorkflowInput(team_id=LIVERPOOL, policy=stage.policy)
        found = await stage.run(RAGWorkflow, team, rag_workflow_id(LIVERPOOL))
        assert found["aliases"] == ["Liverpool", "LFC"]
    assert stage.world.alias_source.asked == 1


async def test_the_search_for_names_has_limits_of_its_own(stage: Stage) -> None:
    """The document's rows for RAG, which differ from those of the clip search."""
    await stage.run(RAGWorkflow, RAGWorkflowInput(team_id=LIVERPOOL, policy=stage.policy), rag_workflow_id(LIVERPOOL))
    history = await stage.client.get_workflow_handle(rag_workflow_id(LIVERPOOL)).fetch_history()
    calls = [
        event.activity_task_scheduled_event_attributes
        for event in history.events
        if event.HasField("activity_task_scheduled_event_attributes")
    ]
    assert [
        (call.activity_type.name, call.start_to_close_timeout.seconds, call.retry_policy.maximum_attempts)
        for call in calls
    ] == [("get_cached_team_aliases", 10, 2), ("get_team_aliases", 60, 2), ("save_team_aliases", 10, 2)]


async def test_an_outage_fails_the_search_for_names(stage: Stage) -> None:
    stage.world.alias_source.down = PermanentError("Wikidata refuses.")
    with pytest.raises(WorkflowFailureError):
        await stage.run(RAGWorkflow, RAGWorkflowInput(team_id=LIVERPOOL, policy=stage.policy))
    assert stage.world.teams.cache == {}


async def test_a_goal_without_any_source_says_so_at_once(stage: Stage) -> None:
    stage.world.sources.clear()
    found = await search(stage)
    assert (found["attempts"], found["ended"]) == (1, SearchEnd.NO_SOURCE)
    goal = stage.world.goals.all[stage.event_id]
    assert goal.downloads == {}
    assert goal.complete
