"""The life of a fixture on real PostgreSQL: its stages, when it waits, returns, and ends."""

import asyncio
from dataclasses import replace
from datetime import timedelta

import pytest
from sqlalchemy import select

from pressbox.footy.adapters.request_budgets import SqlRequestBudget
from pressbox.footy.adapters.rows import FixtureRow, GoalRow
from pressbox.footy.domain.day_plan import MATCH_TIME
from pressbox.footy.domain.fixtures import FixtureStatus, Followed, Stage
from pressbox.footy.domain.goals import CompletionReason
from pressbox.footy.domain.request_budget import RequestBudget
from pressbox.footy.domain.views import FollowKind, GoalState
from tests.integration.footy.footy_world import AWAY, SAKA, START, World, goal, match, with_goals

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
    first = await world.imports.route_fetched("run", world.policy, world.now)
    again = await world.imports.route_fetched("run", world.policy, world.now)
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
    await world.polls.record_staging([], {1: "API-Football does not know it."}, world.now)
    assert await world.polls.activate("run", world.policy, world.now) == 0
    await world.polls.record_staging([match(elapsed=80)], {}, world.now)
    assert await world.polls.activate("run", world.policy, world.now) == 1


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
    assert await world.polls.find_staging_due(world.policy, now) == {1: waiting.kickoff}
    await world.polls.record_staging([], {1: "The API did not answer."}, now)
    assert await world.polls.find_staging_due(world.policy, now) == {}
    assert (await row_of(world)).trouble == "The API did not answer."
    later = now + timedelta(minutes=1)
    assert await world.polls.find_staging_due(world.policy, later) == {1: waiting.kickoff}
    await world.changes()
    await world.polls.record_staging([match(status=FixtureStatus.NOT_STARTED, kickoff=START)], {}, later)
    row = await row_of(world)
    assert (row.kickoff, row.trouble, row.trouble_since) == (START, "", None)
    assert await world.changes() == [("footy.fixture", "1"), ("footy.day", "2026-10-03")]
    assert await world.polls.activate("run", world.policy, later) == 1


async def test_a_fixture_is_archived_when_its_goals_are_complete_and_enough_polls_said_it_is_over(world: World) -> None:
    event_id = await world.confirmed_goal()
    over = with_goals(1, goal(23), status=FixtureStatus.FULL_TIME, elapsed=90)
    run_id = await world.poll(over, times=world.policy.polls_to_end)
    assert (await world.archive.archive_finished(run_id, world.policy, world.now)).fixture_ids == ()
    for number in range(world.policy.downloads_wanted):
        await world.goals.finish_download(event_id, f"download{number}", "done", world.now)
    world.now += world.policy.end_patience
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


async def test_a_cup_match_that_goes_on_after_a_pause_is_polled_to_its_end(world: World) -> None:
    await world.ingest(match())
    for status in (FixtureStatus.FULL_TIME, FixtureStatus.AFTER_EXTRA_TIME):
        run_id = await world.poll(match(status=status, elapsed=90), times=18)
        assert (await world.archive.archive_finished(run_id, world.policy, world.now)).fixture_ids == (), status
    over = with_goals(1, goal(118), status=FixtureStatus.AFTER_EXTRA_TIME, elapsed=120)
    await world.poll(over, times=world.policy.polls_to_end)
    assert [one.state for one in (await world.matches.load_fixture(1)).goals] == [GoalState.SEARCHING]


async def test_a_match_stays_open_for_a_goal_that_score_and_list_lacked_for_minutes(world: World) -> None:
    await world.ingest(match())
    for _ in range(8):
        run_id = await world.poll(match(status=FixtureStatus.FULL_TIME))
        assert (await world.archive.archive_finished(run_id, world.policy, world.now)).fixture_ids == ()
    await world.poll(with_goals(1, goal(90), status=FixtureStatus.FULL_TIME), times=3)
    assert [one.state for one in (await world.matches.load_fixture(1)).goals] == [GoalState.SEARCHING]


async def test_a_penalty_shoot_out_is_the_end(world: World) -> None:
    await world.ingest(match())
    run_id = await world.poll(match(status=FixtureStatus.AFTER_PENALTIES), times=world.policy.polls_to_end)
    assert (await world.archive.archive_finished(run_id, world.policy, world.now)).fixture_ids == (1,)


async def test_a_goal_of_the_first_half_whose_scorer_is_named_after_the_whistle_is_searched(world: World) -> None:
    await world.ingest(match())
    await world.poll(with_goals(1, goal(20, None)))
    world.now += timedelta(minutes=85)
    for minutes in (0, 20, 40):
        run_id = await world.poll(with_goals(1, goal(20, None), status=FixtureStatus.FULL_TIME))
        done = await world.archive.archive_finished(run_id, world.policy, world.now)
        assert (done.fixture_ids, done.overdue_goals) == ((), 0), minutes
        world.now += timedelta(minutes=20 if minutes < 40 else 0)
    await world.poll(with_goals(1, goal(20), status=FixtureStatus.FULL_TIME), times=3)
    assert len(await world.goals.claim_searches(world.policy, 10, freeze)) == 1


async def test_a_match_stays_open_while_its_goals_are_not_those_of_the_score(world: World) -> None:
    event_id = await world.confirmed_goal()
    for number in range(world.policy.downloads_wanted):
        await world.goals.finish_download(event_id, f"download{number}", "done", world.now)
    taken_back = match(status=FixtureStatus.FULL_TIME, winner_id=AWAY.id)
    run_id = await world.poll(match())
    run_id = await world.poll(taken_back)
    assert (await world.archive.archive_finished(run_id, world.policy, world.now)).fixture_ids == ()
    run_id = await world.poll(taken_back, times=world.policy.polls_to_end)
    world.now += world.policy.end_patience
    assert (await world.archive.archive_finished(run_id, world.policy, world.now)).fixture_ids == (1,)
    assert (await world.matches.load_fixture(1)).goals == ()


async def test_a_match_whose_list_never_agrees_with_its_score_ends_too(world: World) -> None:
    await world.ingest(match())
    over = match(status=FixtureStatus.FULL_TIME, home_goals=1)
    run_id = await world.poll(over, times=world.policy.polls_to_end)
    assert (await world.archive.archive_finished(run_id, world.policy, world.now)).fixture_ids == ()
    run_id = await world.poll(over, times=world.policy.polls_to_agree - world.policy.polls_to_end)
    assert (await world.archive.archive_finished(run_id, world.policy, world.now)).fixture_ids == (1,)


async def test_a_goal_that_was_never_confirmed_does_not_keep_a_match_open_for_ever(world: World) -> None:
    await world.ingest(match())
    over = with_goals(1, goal(90, None), status=FixtureStatus.FULL_TIME)
    run_id = await world.poll(over, times=world.policy.polls_to_end)
    assert (await world.archive.archive_finished(run_id, world.policy, world.now)).fixture_ids == ()
    late = world.now + world.policy.completion_deadline
    done = await world.archive.archive_finished(run_id, world.policy, late)
    assert (done.fixture_ids, done.overdue_goals) == ((1,), 1)


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


async def test_two_processes_share_one_budget_of_requests(world: World) -> None:
    one, other = (SqlRequestBudget(world.database, "api-football:test") for _ in range(2))

    def take(budget: RequestBudget) -> tuple[RequestBudget, None]:
        return budget.model_copy(update={"day_left": (budget.day_left or 0) + 1}), None

    await asyncio.gather(*(store.change(take) for store in (one, other) * 5))
    assert (await other.load()).day_left == 10
    assert (await SqlRequestBudget(world.database, "api-football:another key").load()).day_left is None


async def test_requests_are_planned_for_the_matches_of_today_that_are_not_over(world: World) -> None:
    store, ahead = SqlRequestBudget(world.database, "api-football:test"), world.policy.activate_ahead
    assert await store.find_windows(world.now, ahead) == []
    waiting, later = START + timedelta(hours=3), START + timedelta(days=1)
    await world.ingest(
        match(1),
        match(2, status=FixtureStatus.NOT_STARTED, kickoff=waiting),
        match(3, status=FixtureStatus.NOT_STARTED, kickoff=later),
        match(4, status=FixtureStatus.POSTPONED, kickoff=START - timedelta(hours=5)),
        match(5, status=FixtureStatus.FULL_TIME),
    )
    both = [(START - ahead, START + MATCH_TIME), (waiting - ahead, waiting + MATCH_TIME)]
    assert sorted((one.begins, one.ends) for one in await store.find_windows(world.now, ahead)) == both
    # One that goes on for hours is polled for a while yet.
    world.now = START + timedelta(hours=4)
    assert max(one.ends for one in await store.find_windows(world.now, ahead) if one.begins < START) > world.now


@pytest.mark.parametrize("status", ["NS", "1H", "HT", "2H", "ET", "BT", "P", "LIVE"])
async def test_a_match_that_stands_still_leaves_the_live_round_and_returns_when_it_changes(
    world: World, status: str
) -> None:
    still = match(status=FixtureStatus(status), elapsed=90)
    await world.ingest(still)
    await world.polls.activate("run", world.policy, world.now)
    await world.poll(still)
    world.now = START + timedelta(hours=4)
    run_id = await world.poll(still)
    await world.archive.archive_finished(run_id, world.policy, world.now)
    assert (await row_of(world)).stage == Stage.STAGING
    await world.polls.record_staging([still], {}, world.now)
    assert await world.polls.activate("run", world.policy, world.now) == 0
    over = replace(still, status=FixtureStatus.FULL_TIME)
    await world.polls.record_staging([over], {}, world.now)
    assert await world.polls.activate("run", world.policy, world.now) == 1


async def test_a_match_that_goes_on_after_hours_is_polled_again(world: World) -> None:
    await world.ingest(match())
    run_id = await world.poll(match())
    world.now += timedelta(hours=3)
    await world.archive.archive_finished(run_id, world.policy, world.now)
    await world.polls.record_staging([match(elapsed=11)], {}, world.now)
    assert await world.polls.activate("run", world.policy, world.now) == 1
    await world.archive.archive_finished("run", world.policy, world.now)
    assert (await row_of(world)).stage == Stage.ACTIVE


async def test_the_first_failed_poll_after_an_outage_of_ours_stops_no_match(world: World) -> None:
    await world.ingest(match())
    await world.poll(match())
    world.now += timedelta(hours=2)
    run_id = await world.begin()
    await world.polls.save_snapshots(run_id, {}, {1: "API-Football did not answer."}, world.now)
    await world.archive.archive_finished(run_id, world.policy, world.now)
    assert (await row_of(world)).stage == Stage.ACTIVE


async def test_goals_of_a_match_that_was_over_for_hours_are_shown_and_not_searched(world: World) -> None:
    world.now = START + timedelta(hours=8)
    over = with_goals(1, goal(23), goal(60, SAKA, AWAY), status=FixtureStatus.FULL_TIME)
    await world.ingest(replace(over, events=None))
    run_id = await world.poll(over, times=world.policy.polls_to_end)
    world.now += world.policy.end_patience
    assert await world.goals.claim_searches(world.policy, 10, freeze) == []
    shown = (await world.matches.load_fixture(1)).goals
    assert [one.completion_reason for one in shown] == [CompletionReason.TOO_LATE] * 2
    assert all(one.confirmed_at for one in shown)
    assert (await world.archive.archive_finished(run_id, world.policy, world.now)).fixture_ids == (1,)
    assert "clips are not searched" in (await world.reader.load_audit(EVENT)).summary


async def test_a_goal_after_a_short_outage_is_searched_and_one_after_a_long_one_is_not(world: World) -> None:
    await world.ingest(match(1), match(2))
    await world.poll(match(1), match(2))
    world.now += timedelta(hours=2)
    await world.poll(with_goals(1, goal(60)), times=3)
    world.now += timedelta(hours=3)
    await world.poll(with_goals(2, goal(60)), times=3)
    assert [one.event_id for one in await world.goals.claim_searches(world.policy, 10, freeze)] == [EVENT]


async def test_a_match_that_was_stopped_over_night_is_searched_when_it_goes_on(world: World) -> None:
    stopped = match(status=FixtureStatus.SUSPENDED)
    await world.ingest(match())
    await world.poll(stopped)
    world.now += timedelta(hours=1)
    await world.archive.archive_finished(await world.poll(stopped), world.policy, world.now)
    world.now += timedelta(hours=18)
    await world.polls.record_staging([stopped], {}, world.now)
    world.now += timedelta(minutes=15)
    await world.polls.record_staging([match(elapsed=50)], {}, world.now)
    assert await world.polls.activate("run", world.policy, world.now) == 1
    await world.poll(with_goals(1, goal(50)), times=3)
    assert [one.event_id for one in await world.goals.claim_searches(world.policy, 10, freeze)] == [EVENT]


async def test_the_goals_of_a_match_that_somebody_named_are_kept_at_once_and_searched(world: World) -> None:
    world.now = START + timedelta(hours=20)
    over = with_goals(1, goal(23), status=FixtureStatus.FULL_TIME)
    await world.ingest(over)
    assert [one.event_id for one in (await world.matches.load_fixture(1)).goals] == [EVENT]
    await world.poll(over, times=2)
    assert [one.event_id for one in await world.goals.claim_searches(world.policy, 10, freeze)] == [EVENT]
    # Named again, it changes nothing.
    await world.ingest(over)
    assert [one.event_id for one in (await world.matches.load_fixture(1)).goals] == [EVENT]
