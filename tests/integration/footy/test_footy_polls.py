"""Polls on real PostgreSQL: registers, versions, removal, completion, and who is told."""

import asyncio
from dataclasses import replace
from datetime import timedelta

import pytest
from sqlalchemy import select
from structlog.testing import capture_logs

from pressbox.core.errors import GoneError
from pressbox.footy.adapters.rows import FixtureRow, GoalRow
from pressbox.footy.contracts.download import SettledCandidate
from pressbox.footy.domain.candidates import CandidateOutcome
from pressbox.footy.domain.fixtures import FixtureStatus
from pressbox.footy.domain.goals import Comparison, SearchEnd
from pressbox.footy.domain.views import GoalState
from pressbox.footy.ports.storage import FixtureDecision
from tests.integration.footy.footy_world import SAKA, World, goal, match, uploaded, video, with_goals
from tests.statements import count_statements

EVENT = "1_40_306_Goal_1"


def freeze(team: str, player: str) -> tuple[str, str]:
    return team, player


async def row_of(world: World, number: int = 1) -> FixtureRow:
    async with world.database.unit_of_work() as work:
        return (await work.session.scalars(select(FixtureRow).where(FixtureRow.id == number))).one()


async def goal_row(world: World, event_id: str = EVENT) -> GoalRow:
    async with world.database.unit_of_work() as work:
        return (await work.session.scalars(select(GoalRow).where(GoalRow.event_id == event_id))).one()


async def test_three_polls_confirm_a_goal_and_its_readable_parts_are_frozen(world: World) -> None:
    await world.ingest(match())
    await world.poll(with_goals(1, goal(23)), times=2)
    assert await world.goals.claim_searches(world.policy, 10, lambda team, player: (team, player)) == []
    await world.poll(with_goals(1, goal(23), elapsed=25))
    [first] = await world.goals.claim_searches(world.policy, 10, lambda team, player: (team, player))
    await world.poll(with_goals(1, goal(24, SAKA)))
    [again] = await world.goals.claim_searches(world.policy, 10, lambda team, player: (team, player))
    assert (first.event_id, first.player_slug, first.minute_label) == (EVENT, "Mohamed Salah", "23")
    assert first.asked_before is False
    assert again == first.model_copy(update={"asked_before": True})
    assert await world.goals.load_scorer(EVENT) == ("Bukayo Saka", "Liverpool", 40)
    await world.goals.set_monitor_complete(EVENT, "twitter-1", world.now)
    assert await world.goals.claim_searches(world.policy, 10, lambda team, player: (team, player)) == []


async def test_a_goal_without_a_scorer_is_confirmed_only_when_he_is_known(world: World) -> None:
    await world.ingest(match())
    await world.poll(with_goals(1, goal(23, None)), times=5)
    assert (await world.reader.load_goal("1_40_0_Goal_1")).state is GoalState.UNCONFIRMED
    await world.poll(with_goals(1, goal(23)))
    named = await world.reader.load_goal("1_40_0_Goal_1")
    assert (named.state, named.player_name) == (GoalState.SEARCHING, "Mohamed Salah")


async def test_the_register_of_sightings_does_not_grow_after_the_search_began(world: World) -> None:
    event_id = await world.confirmed_goal()
    before = await goal_row(world)
    await world.poll(with_goals(1, goal(23)), times=3)
    assert len((await world.reader.load_audit(event_id)).sightings) == 3
    assert (await goal_row(world)).last_seen > before.last_seen


async def test_three_polls_without_a_goal_remove_it_and_its_return_restores_it(world: World) -> None:
    event_id = await world.confirmed_goal()
    [candidate] = await world.found(event_id, 1, "a")
    await world.clips.add(event_id, uploaded(video(candidate)), b"print", world.now)
    await world.poll(match(), times=2)
    assert await world.goals.removal_reason(event_id) is None
    await world.poll(with_goals(1, goal(23)))
    assert (await world.reader.load_audit(event_id)).misses == ()
    run_id = await world.poll(match(), times=3)
    assert await world.goals.removal_reason(event_id) == "the goal was disallowed"
    assert (await world.matches.load_fixture(1)).goals == ()
    removed = await goal_row(world)
    assert (removed.completed_at, removed.completion_reason) == (world.now, "removed")
    await world.changes()
    await world.polls.publish_changes(run_id)
    assert ("footy.goal", event_id) in await world.changes()
    await world.poll(with_goals(1, goal(23)))
    back = await world.reader.load_goal(event_id)
    assert (back.state, len(back.clips)) == (GoalState.SEARCHING, 1)


async def test_a_goal_that_returns_after_its_search_ended_is_searched_again_with_what_was_dropped(world: World) -> None:
    event_id = await world.confirmed_goal()
    await world.goals.set_monitor_complete(event_id, "twitter-1", world.now)
    dropped, _ = await world.found(event_id, 1, "a", "b")
    await world.poll(match(), times=3)
    gone = SettledCandidate(candidate_id=dropped, outcome=CandidateOutcome.GOAL_GONE)
    await world.candidates.settle([gone], world.now)
    await world.goals.end_search(event_id, SearchEnd.GONE, world.now)
    assert await world.goals.claim_searches(world.policy, 10, freeze) == []
    await world.poll(with_goals(1, goal(23)))
    [asked] = await world.goals.claim_searches(world.policy, 10, freeze)
    assert (asked.event_id, asked.again) == (event_id, True)
    await world.goals.set_monitor_complete(event_id, "twitter-1", world.now)
    assert await world.goals.claim_searches(world.policy, 10, freeze) == []
    assert dropped in await world.candidates.choose(event_id, 2, 5)


async def test_a_corrected_minute_reopens_the_clips_that_were_refused_for_the_minute(world: World) -> None:
    await world.ingest(match())
    late = goal(90)
    await world.poll(with_goals(1, late, elapsed=90), times=3)
    await world.goals.set_monitor_complete(EVENT, "twitter-1", world.now)
    refused, filmed = await world.found(EVENT, 1, "a", "b")
    outcomes = {refused: CandidateOutcome.WRONG_MINUTE, filmed: CandidateOutcome.FILMED_SCREEN}
    await world.candidates.settle(
        [SettledCandidate(candidate_id=number, outcome=outcome) for number, outcome in outcomes.items()], world.now
    )
    await world.poll(with_goals(1, late, elapsed=90))
    assert await world.candidates.choose(EVENT, 2, 5) == []
    moved = with_goals(1, replace(late, extra=5), elapsed=90, extra=7)
    await world.poll(moved)
    assert await world.candidates.choose(EVENT, 2, 5) == [refused]
    # Refused for the minute that stands, it stays so.
    await world.candidates.settle(
        [SettledCandidate(candidate_id=refused, outcome=CandidateOutcome.WRONG_MINUTE)], world.now
    )
    await world.poll(moved)
    assert await world.candidates.choose(EVENT, 3, 5) == []


async def test_a_clip_that_was_refused_stays_so_when_the_minute_is_corrected_after_the_search(world: World) -> None:
    event_id = await world.confirmed_goal()
    [refused] = await world.found(event_id, 1, "a")
    gone = SettledCandidate(candidate_id=refused, outcome=CandidateOutcome.WRONG_MINUTE)
    await world.candidates.settle([gone], world.now)
    await world.goals.end_search(event_id, SearchEnd.EXHAUSTED, world.now)
    await world.poll(with_goals(1, goal(24)))
    assert (await world.candidates.load(refused)).final


async def test_of_two_runs_at_once_one_must_decide_again_and_nothing_is_lost(world: World) -> None:
    await world.ingest(match())
    seen = with_goals(1, goal(23))
    first, second = "monitor-a", "monitor-b"
    await world.polls.register_run(first, world.policy, world.now)
    await world.polls.save_snapshots(first, {1: {"fixture": 1}}, {}, world.now)
    made = await world.decide(first, seen)
    results = await asyncio.gather(
        world.comparisons.apply(first, made, world.policy, world.now),
        world.comparisons.apply(second, made, world.policy, world.now),
    )
    assert sorted(map(list, results)) == [[], [1]]
    assert len((await world.matches.load_fixture(1)).goals) == 1
    assert len((await world.reader.load_audit(EVENT)).sightings) == 1


async def test_a_run_that_was_cut_off_goes_on_where_it_was(world: World) -> None:
    await world.ingest(*(match(number) for number in (1, 2, 3)))
    answers = [with_goals(number, goal(23)) for number in (1, 2, 3)]
    run_id = await world.begin(*answers)
    assert await world.polls.find_active(run_id) == []
    made = await world.decide(run_id, *answers)
    await world.comparisons.apply(run_id, {1: made[1]}, world.policy, world.now)
    assert [item.fixture_id for item in await world.comparisons.load_uncompared(run_id, 10)] == [2, 3]
    # The whole again, as a retry that knows nothing of the first part: what was written moved on.
    assert await world.comparisons.apply(run_id, made, world.policy, world.now) == [1]
    assert await world.comparisons.load_uncompared(run_id, 10) == []
    for number in (1, 2, 3):
        assert len((await world.reader.load_audit(f"{number}_40_306_Goal_1")).sightings) == 1


async def test_an_answer_that_was_long_on_its_way_does_not_cover_a_newer_one(world: World) -> None:
    await world.ingest(match())
    late = "monitor-late"
    await world.polls.register_run(late, world.policy, world.now)
    newer = await world.begin(match())
    assert await world.polls.find_active(late) == []
    await world.polls.save_snapshots(late, {1: {"old": True}}, {}, world.now - timedelta(seconds=10))
    assert await world.comparisons.load_uncompared(late, 10) == []
    assert [item.raw for item in await world.comparisons.load_uncompared(newer, 10)] == [{"fixture": 1}]


async def test_a_fixture_that_the_api_does_not_answer_is_in_trouble_until_it_does(world: World) -> None:
    await world.ingest(match())
    await world.poll(match())
    await world.polls.register_run("run", world.policy, world.now + timedelta(seconds=1))
    await world.polls.save_snapshots("run", {}, {1: "429"}, world.now + timedelta(seconds=1))
    assert await world.polls.find_active("run") == []
    assert await world.comparisons.load_uncompared("run", 10) == []
    assert await world.comparisons.load_snapshots("run", 0, 10) == []
    assert (await world.matches.load_fixture(1)).trouble == "429"
    assert await world.polls.publish_changes("run") == 1
    await world.poll(match())
    assert (await world.matches.load_fixture(1)).trouble == ""


async def test_an_answer_that_cannot_be_read_changes_nothing_but_the_trouble(world: World) -> None:
    event_id = await world.confirmed_goal()
    run_id = await world.begin(match())
    [(number, (version, _))] = (await world.decide(run_id, match())).items()
    unread = {number: (version, FixtureDecision(None, Comparison(), "No teams."))}
    assert await world.comparisons.apply(run_id, unread, world.policy, world.now) == []
    seen = await world.matches.load_fixture(1)
    assert (seen.trouble, seen.status, [one.event_id for one in seen.goals]) == (
        "No teams.",
        FixtureStatus.FIRST_HALF,
        [event_id],
    )


async def test_a_poll_that_changes_nothing_tells_nobody(world: World) -> None:
    await world.confirmed_goal()
    same = with_goals(1, goal(23))
    await world.poll(same)
    run_id = await world.poll(same)
    await world.changes()
    assert await world.polls.publish_changes(run_id) == 0
    assert await world.changes() == []
    run_id = await world.poll(with_goals(1, goal(23), elapsed=11))
    assert await world.polls.publish_changes(run_id) == 1
    assert await world.changes() == [("footy.fixture", "1"), ("footy.day", "2026-10-03")]


async def test_a_goal_that_is_restored_after_its_deadline_is_searched_again(world: World) -> None:
    event_id = await world.confirmed_goal()
    await world.poll(match(), times=3)
    await world.goals.end_search(event_id, SearchEnd.GONE, world.now)
    world.now += world.policy.completion_deadline
    run_id = await world.poll(with_goals(1, goal(23)))
    assert (await world.archive.archive_finished(run_id, world.policy, world.now)).overdue_goals == 0
    assert [one.event_id for one in await world.goals.claim_searches(world.policy, 10, freeze)] == [event_id]


async def test_a_removed_goal_is_purged_after_its_grace_and_keeps_its_tombstone(world: World) -> None:
    event_id = await world.confirmed_goal()
    [candidate] = await world.found(event_id, 1, "a")
    await world.clips.add(event_id, uploaded(video(candidate)), b"print", world.now)
    [share_id] = [clip.share_id for clip in (await world.reader.load_goal(event_id)).clips]
    await world.poll(match(), times=3)
    assert await world.archive.find_expired(world.policy, world.now, 10) == ([], [])
    later = world.now + world.policy.removal_grace + timedelta(seconds=1)
    assert await world.archive.find_expired(world.policy, later, 10) == ([], [event_id])
    assert (await world.archive.delete([], [event_id])).goals == 1
    assert await world.archive.find_expired(world.policy, later, 10) == ([], [])
    assert (await world.reader.load_audit(event_id)).goal.state is GoalState.REMOVED
    with pytest.raises(GoneError):
        await world.files.find(share_id)
    # A goal of the same player is another one: sequence numbers are never given twice.
    world.now = later
    await world.poll(with_goals(1, goal(60)))
    assert [one.event_id for one in (await world.matches.load_fixture(1)).goals] == ["1_40_306_Goal_2"]


async def test_facts_are_synced_by_named_column_only(world: World) -> None:
    event_id = await world.confirmed_goal()
    changed = match(1, elapsed=70, home_goals=2, status=FixtureStatus.SECOND_HALF)
    assert await world.comparisons.sync_metadata("run", [changed, match(99)], world.now) == 1
    assert await world.comparisons.sync_metadata("run", [changed], world.now) == 0
    seen = await world.matches.load_fixture(1)
    assert (seen.elapsed, seen.home.goals, [one.event_id for one in seen.goals]) == (70, 2, [event_id])


async def test_a_thousand_unchanged_fixtures_cost_a_handful_of_statements(world: World) -> None:
    numbers = range(1, 1_001)
    await world.ingest(*(match(number) for number in numbers))
    answers = [match(number, elapsed=11) for number in numbers]
    run_id = await world.begin(*answers)
    with count_statements(world.database) as statements:
        made = await world.decide(run_id, *answers)
        assert await world.comparisons.apply(run_id, made, world.policy, world.now) == []
    assert 0 < len(statements) <= 8


async def test_a_fixture_that_cannot_be_written_keeps_no_other_from_it(world: World) -> None:
    await world.ingest(*(match(number) for number in (1, 2, 3)))
    answers = [with_goals(number, goal(23)) for number in (1, 2, 3)]
    run_id = await world.begin(*answers)
    made = await world.decide(run_id, *answers)
    version, decision = made[2]
    # Two ids for one sequence number: the database refuses, as it would any mistake of ours.
    twice = (*decision.comparison.created, replace(decision.comparison.created[0], event_id="2_40_306_Goal_x"))
    made[2] = (version, replace(decision, comparison=replace(decision.comparison, created=twice)))
    with capture_logs() as logs:
        assert await world.comparisons.apply(run_id, made, world.policy, world.now) == []
    assert [line["fixture_id"] for line in logs if line["event"] == "fixture_not_written"] == [2]
    seen = [await world.matches.load_fixture(number) for number in (1, 2, 3)]
    assert [len(fixture.goals) for fixture in seen] == [1, 0, 1]
    assert [bool(fixture.trouble) for fixture in seen] == [False, True, False]
    await world.poll(*answers)
    healed = await world.matches.load_fixture(2)
    assert (len(healed.goals), healed.trouble) == (1, "")
