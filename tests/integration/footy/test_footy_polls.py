"""Polls on real PostgreSQL: registers, versions, removal, completion, and who is told."""

import asyncio
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import event, select
from structlog.testing import capture_logs

from pressbox.core.errors import GoneError
from pressbox.footy.adapters.request_budgets import MATCH_TIME, SqlRequestBudget
from pressbox.footy.adapters.rows import FixtureRow, GoalRow
from pressbox.footy.contracts.download import SettledCandidate
from pressbox.footy.domain.candidates import CandidateOutcome
from pressbox.footy.domain.fixtures import FixtureStatus, Followed, Stage
from pressbox.footy.domain.goals import Comparison, SearchEnd
from pressbox.footy.domain.request_budget import RequestBudget
from pressbox.footy.domain.views import FollowKind, GoalState
from pressbox.footy.ports.storage import FixtureDecision
from tests.integration.footy.footy_world import AWAY, SAKA, START, World, goal, match, uploaded, video, with_goals

EVENT = "1_40_306_Goal_1"


def freeze(team: str, player: str) -> tuple[str, str]:
    return team, player


async def row_of(world: World, number: int = 1) -> FixtureRow:
    async with world.database.unit_of_work() as work:
        return (await work.session.scalars(select(FixtureRow).where(FixtureRow.id == number))).one()


async def goal_row(world: World, event_id: str = EVENT) -> GoalRow:
    async with world.database.unit_of_work() as work:
        return (await work.session.scalars(select(GoalRow).where(GoalRow.event_id == event_id))).one()


async def test_ingest_routes_by_status_and_leaves_known_fixtures_alone(world: World) -> None:
    fetched = [
        match(1, status=FixtureStatus.NOT_STARTED),
        match(2),
        match(3, status=FixtureStatus.FULL_TIME),
        match(4, status=FixtureStatus.NOT_STARTED),
    ]
    await world.ingest(fetched[3])
    await world.imports.save_fetched("run", fetched)
    await world.imports.save_fetched("run", fetched)
    first = await world.imports.route_fetched("run", world.policy.alias_age, world.now)
    again = await world.imports.route_fetched("run", world.policy.alias_age, world.now)
    assert (first.staging, first.active, first.completed, first.known) == (1, 1, 1, 1)
    assert again == first
    assert set(first.teams) == {40, 42}
    assert len((await world.matches.load_fixtures(START.date(), limit=10)).items) == 4


async def test_a_postponed_fixture_goes_back_to_staging_with_its_new_date(world: World) -> None:
    await world.ingest(match())
    later = START + timedelta(days=20)
    await world.ingest(match(status=FixtureStatus.POSTPONED, kickoff=later))
    row = await row_of(world)
    assert (row.stage, row.kickoff) == (Stage.STAGING, later)
    assert await world.polls.activate("run", world.policy, later) == 0


async def test_a_live_fixture_that_is_postponed_waits_again(world: World) -> None:
    await world.ingest(match())
    postponed = match(status=FixtureStatus.POSTPONED, elapsed=None)
    await world.poll(postponed)
    assert (await row_of(world)).stage == Stage.ACTIVE
    await world.poll(postponed)
    assert (await row_of(world)).stage == Stage.STAGING


async def test_a_live_fixture_that_moved_to_another_day_waits_and_returns(world: World) -> None:
    await world.ingest(match())
    moved = match(status=FixtureStatus.NOT_STARTED, kickoff=START + timedelta(days=7), elapsed=None)
    await world.archive.archive_finished(await world.poll(moved), world.policy, world.now)
    assert (await row_of(world)).stage == Stage.STAGING
    assert await world.polls.activate("run", world.policy, world.now) == 0
    assert await world.polls.activate("run", world.policy, moved.kickoff) == 1


async def test_a_stopped_match_leaves_the_live_round_and_returns_when_it_goes_on(world: World) -> None:
    await world.ingest(match())
    stopped = match(status=FixtureStatus.SUSPENDED)
    await world.archive.archive_finished(await world.poll(stopped), world.policy, world.now)
    assert (await row_of(world)).stage == Stage.ACTIVE
    world.now += world.policy.stopped_patience
    await world.archive.archive_finished(await world.poll(stopped), world.policy, world.now)
    assert (await row_of(world)).stage == Stage.STAGING
    assert await world.polls.activate("run", world.policy, world.now) == 0
    await world.polls.record_staging([match()], {}, world.now)
    assert await world.polls.activate("run", world.policy, world.now) == 1


async def test_a_fixture_that_vanished_leaves_the_live_round_and_returns(world: World) -> None:
    await world.ingest(match())
    run_id = await world.poll(match())
    world.now += world.policy.vanished_patience + timedelta(minutes=1)
    await world.archive.archive_finished(run_id, world.policy, world.now)
    assert (await row_of(world)).stage == Stage.STAGING
    await world.polls.activate("run", world.policy, world.now)
    await world.archive.archive_finished(await world.poll(match()), world.policy, world.now)
    assert (await row_of(world)).stage == Stage.ACTIVE


async def test_a_cancelled_match_that_is_played_after_all_waits_again(world: World) -> None:
    await world.ingest(match(status=FixtureStatus.CANCELLED))
    assert (await row_of(world)).stage == Stage.COMPLETED
    later = START + timedelta(days=2)
    await world.ingest(match(status=FixtureStatus.NOT_STARTED, kickoff=later))
    row = await row_of(world)
    assert (row.stage, row.kickoff, row.status) == (Stage.STAGING, later, "NS")


async def test_the_goals_of_a_match_that_was_over_at_its_first_sight_are_recorded(world: World) -> None:
    over = with_goals(1, goal(23), status=FixtureStatus.FULL_TIME)
    await world.ingest(over)
    await world.poll(over, times=3)
    assert [one.state for one in (await world.matches.load_fixture(1)).goals] == [GoalState.SEARCHING]


async def test_staging_fixtures_are_looked_at_once_in_a_quarter_of_an_hour(world: World) -> None:
    waiting = match(status=FixtureStatus.NOT_STARTED, kickoff=START + timedelta(hours=5), elapsed=None)
    await world.ingest(waiting)
    now = START.replace(minute=44)
    assert await world.polls.find_staging_due(world.policy, now) == [1]
    await world.polls.record_staging([], {1: "The API did not answer."}, now)
    assert await world.polls.find_staging_due(world.policy, now) == []
    assert (await row_of(world)).trouble == "The API did not answer."
    later = now + timedelta(minutes=1)
    assert await world.polls.find_staging_due(world.policy, later) == [1]
    await world.changes()
    await world.polls.record_staging([match(status=FixtureStatus.NOT_STARTED, kickoff=START)], {}, later)
    row = await row_of(world)
    assert (row.kickoff, row.trouble, row.trouble_since) == (START, "", None)
    assert await world.changes() == [("footy.fixture", "1"), ("footy.day", "2026-10-03")]
    assert await world.polls.activate("run", world.policy, later) == 1


async def test_three_polls_confirm_a_goal_and_its_readable_parts_are_frozen(world: World) -> None:
    await world.ingest(match())
    await world.poll(with_goals(1, goal(23)), times=2)
    assert await world.goals.claim_searches(world.policy, 10, lambda team, player: (team, player)) == []
    await world.poll(with_goals(1, goal(23)))
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


async def test_a_fixture_is_archived_when_its_goals_are_complete_and_enough_polls_said_it_is_over(world: World) -> None:
    event_id = await world.confirmed_goal()
    over = with_goals(1, goal(23), status=FixtureStatus.FULL_TIME, elapsed=90)
    run_id = await world.poll(over, times=world.policy.polls_to_end)
    assert (await world.archive.archive_finished(run_id, world.policy, world.now)).fixture_ids == ()
    for number in range(world.policy.downloads_wanted):
        await world.goals.finish_download(event_id, f"download{number}", "done", world.now)
    done = await world.archive.archive_finished(run_id, world.policy, world.now)
    again = await world.archive.archive_finished(run_id, world.policy, world.now)
    assert (done.fixture_ids, done.overdue_goals) == ((1,), 0)
    assert again == done
    assert (await world.matches.load_fixture(1)).stage is Stage.COMPLETED


async def test_a_match_stays_open_for_a_goal_that_is_listed_after_the_whistle(world: World) -> None:
    await world.ingest(match())
    for late in range(1, world.policy.polls_to_end):
        run_id = await world.poll(match(status=FixtureStatus.FULL_TIME, winner_id=AWAY.id))
        assert (await world.archive.archive_finished(run_id, world.policy, world.now)).fixture_ids == (), late
    await world.poll(with_goals(1, goal(90), status=FixtureStatus.FULL_TIME), times=3)
    assert [one.state for one in (await world.matches.load_fixture(1)).goals] == [GoalState.SEARCHING]


async def test_a_match_stays_open_while_its_goals_are_not_those_of_the_score(world: World) -> None:
    event_id = await world.confirmed_goal()
    for number in range(world.policy.downloads_wanted):
        await world.goals.finish_download(event_id, f"download{number}", "done", world.now)
    taken_back = match(status=FixtureStatus.FULL_TIME, winner_id=AWAY.id)
    run_id = await world.poll(match())
    run_id = await world.poll(taken_back)
    assert (await world.archive.archive_finished(run_id, world.policy, world.now)).fixture_ids == ()
    run_id = await world.poll(taken_back, times=world.policy.polls_to_end)
    assert (await world.archive.archive_finished(run_id, world.policy, world.now)).fixture_ids == (1,)
    assert (await world.matches.load_fixture(1)).goals == ()


async def test_a_match_whose_list_never_agrees_with_its_score_ends_too(world: World) -> None:
    await world.ingest(match())
    over = match(status=FixtureStatus.FULL_TIME, home_goals=1)
    run_id = await world.poll(over, times=world.policy.polls_to_end)
    assert (await world.archive.archive_finished(run_id, world.policy, world.now)).fixture_ids == ()
    run_id = await world.poll(over, times=world.policy.polls_to_agree - world.policy.polls_to_end)
    assert (await world.archive.archive_finished(run_id, world.policy, world.now)).fixture_ids == (1,)


async def test_a_goal_that_is_restored_after_its_deadline_is_searched_again(world: World) -> None:
    event_id = await world.confirmed_goal()
    await world.poll(match(), times=3)
    await world.goals.end_search(event_id, SearchEnd.GONE, world.now)
    world.now += world.policy.completion_deadline
    run_id = await world.poll(with_goals(1, goal(23)))
    assert (await world.archive.archive_finished(run_id, world.policy, world.now)).overdue_goals == 0
    assert [one.event_id for one in await world.goals.claim_searches(world.policy, 10, freeze)] == [event_id]


async def test_a_goal_that_was_never_confirmed_does_not_keep_a_match_open_for_ever(world: World) -> None:
    await world.ingest(match())
    over = with_goals(1, goal(90, None), status=FixtureStatus.FULL_TIME)
    run_id = await world.poll(over, times=world.policy.polls_to_end)
    assert (await world.archive.archive_finished(run_id, world.policy, world.now)).fixture_ids == ()
    late = world.now + world.policy.completion_deadline
    done = await world.archive.archive_finished(run_id, world.policy, late)
    assert (done.fixture_ids, done.overdue_goals) == ((1,), 1)


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


async def test_fixtures_past_their_retention_go_with_everything_of_theirs(world: World) -> None:
    event_id = await world.confirmed_goal()
    old = START + world.policy.retention + timedelta(minutes=1)
    assert await world.archive.find_expired(world.policy, old, 10) == ([1], [])
    assert (await world.archive.delete([1], [])).fixtures == 1
    assert await world.goals.removal_reason(event_id) == "there is no such goal"


async def test_what_people_follow_adds_to_the_settings_and_takes_away_from_them(world: World) -> None:
    await world.follows.unfollow(FollowKind.LEAGUE, 39)
    await world.follows.follow(FollowKind.TEAM, 42, "Arsenal")
    assert await world.follows.load_followed() == Followed(frozenset(), frozenset({42, 50}))
    views = [(view.kind, view.id, view.name, view.by_settings) for view in await world.follows.load_follows()]
    assert views == [(FollowKind.TEAM, 42, "Arsenal", False), (FollowKind.TEAM, 50, "", True)]


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
    statements: list[str] = []
    engine = world.database.engine.sync_engine

    def listener(*details: Any) -> None:
        statements.append(details[2])

    event.listen(engine, "before_cursor_execute", listener)
    made = await world.decide(run_id, *answers)
    assert await world.comparisons.apply(run_id, made, world.policy, world.now) == []
    event.remove(engine, "before_cursor_execute", listener)
    assert len(statements) <= 8


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


async def test_two_processes_share_one_budget_of_requests(world: World) -> None:
    one, other = (SqlRequestBudget(world.database, "api-football:test") for _ in range(2))

    def take(budget: RequestBudget) -> tuple[RequestBudget, None]:
        return budget.model_copy(update={"day_left": (budget.day_left or 0) + 1}), None

    await asyncio.gather(*(store.change(take) for store in (one, other) * 5))
    assert (await other.load()).day_left == 10
    assert (await SqlRequestBudget(world.database, "api-football:another key").load()).day_left is None


async def test_requests_must_last_until_the_last_match_of_today(world: World) -> None:
    store = SqlRequestBudget(world.database, "api-football:test")
    assert await store.find_busy_until(world.now) is None
    await world.ingest(
        match(1), match(2, kickoff=START + timedelta(hours=3)), match(3, kickoff=START + timedelta(days=1))
    )
    assert await store.find_busy_until(world.now) == START + timedelta(hours=3) + MATCH_TIME
