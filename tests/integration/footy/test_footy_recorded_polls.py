"""Recorded matches with every fault of the API, through the real activities of a poll and a real database."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import timedelta

import pytest
from sqlalchemy import select
from temporalio.testing import ActivityEnvironment

from pressbox.core.errors import GoneError
from pressbox.footy.activities.comparison import ComparisonActivities
from pressbox.footy.activities.poll import PollActivities
from pressbox.footy.adapters.rows import GoalRow
from pressbox.footy.contracts.ingest import RunReference
from pressbox.footy.domain.fixture_parser import parse_fixture
from pressbox.footy.domain.fixtures import FixtureStatus
from pressbox.footy.domain.goals import Cancellation
from pressbox.footy.ports.outside import LiveAnswer
from tests.fakes.footy import FakeBudget, FakePace
from tests.fakes.recorded_matches import FAULTS, MATCHES, Match, play
from tests.integration.footy.footy_world import HOME, SALAH, START, World, goal, match, with_goals


@dataclass
class RecordedApi:
    """Answers for all matches at one moment."""

    matches: dict[int, Match]
    moment: float = 0.0

    async def fetch_by_ids(self, numbers: Sequence[int]) -> LiveAnswer:
        return LiveAnswer({number: self.matches[number].answer(self.moment) for number in numbers}, {})


def play_with_every_fault() -> dict[int, Match]:
    matches = {}
    for number, fault in enumerate(FAULTS.values(), start=1):
        played = play(MATCHES[0])
        played.raw = {**played.raw, "fixture": {**played.raw["fixture"], "id": number}}
        fault(played, 0)
        matches[number] = played
    return matches


async def test_one_goal_is_one_goal_in_the_database_whatever_the_api_does(world: World) -> None:
    api = RecordedApi(play_with_every_fault())
    clock = lambda: world.now  # noqa: E731 - the clock of all activities
    poll = PollActivities(api, world.polls, FakeBudget(), FakePace(), now=clock)  # type: ignore[arg-type]
    comparison = ComparisonActivities(
        world.polls,
        world.comparisons,
        world.archive,
        world.goals,
        None,  # type: ignore[arg-type]
        now=clock,
    )
    await world.ingest(*(replace(parse_fixture(one.answer(0.0)), kickoff=START) for one in api.matches.values()))
    searched: Counter[int] = Counter()
    for moment in sorted({moment for one in api.matches.values() for moment in one.poll_moments()}):
        api.moment, world.now = moment, START + timedelta(minutes=moment)
        run = RunReference(run_id=f"monitor-{moment}", policy=world.policy)
        await world.polls.register_run(run.run_id, world.policy, world.now)
        await ActivityEnvironment().run(poll.fetch_active_fixtures, run)
        await ActivityEnvironment().run(comparison.store_and_compare, run)
        found = await ActivityEnvironment().run(comparison.process_fixture_events, run)
        for each in found.goals:
            searched[each.fixture_id] += 1
            await world.goals.set_monitor_complete(each.event_id, f"twitter-{each.event_id}", world.now)
        confirmed = Counter(
            row.fixture_id for row in await load_goals(world) if row.confirmed_at and not row.removed_at
        )
        for number, one in api.matches.items():
            fault = list(FAULTS)[number - 1]
            assert confirmed[number] <= one.count_standing(moment), f"{fault}: confirmed twice at {moment}"
            assert searched[number] <= one.count_scored(moment), f"{fault}: searched for nothing at {moment}"
    rows = await load_goals(world)
    for number, one in api.matches.items():
        present = [row for row in rows if row.fixture_id == number and not row.removed_at]
        assert sorted(row.player_id for row in present) == one.list_scorers(), list(FAULTS)[number - 1]
        assert all(row.monitor_complete for row in present), list(FAULTS)[number - 1]


async def load_goals(world: World) -> list[GoalRow]:
    async with world.database.unit_of_work() as work:
        return list(await work.session.scalars(select(GoalRow)))


async def test_a_goal_that_was_disallowed_while_no_worker_ran_is_struck_out(world: World) -> None:
    await world.ingest(match())
    await world.poll(match())
    world.now += timedelta(minutes=30)
    decision = Cancellation(HOME.id, *SALAH, 25)
    later = match(elapsed=40, cancellations=(decision,))
    await world.poll(later, times=3)
    corrections = await world.matches.load_corrections(1)
    [gone] = corrections.disallowed
    assert (gone.player_name, gone.minute) == ("Mohamed Salah", "25")
    assert (await world.matches.load_fixture(1)).goals == ()
    with pytest.raises(GoneError):
        await world.reader.load_goal(gone.event_id)
    # A goal of the same player is another one.
    await world.poll(replace(with_goals(1, goal(60)), elapsed=60, cancellations=(decision,)), times=3)
    assert [one.elapsed for one in (await world.matches.load_fixture(1)).goals] == [60]
    assert len((await world.matches.load_corrections(1)).disallowed) == 1


async def test_a_goal_that_one_poll_saw_is_struck_out_when_a_decision_proves_it(world: World) -> None:
    await world.ingest(match())
    await world.poll(with_goals(1, goal(10)))
    gone = match(elapsed=12, cancellations=(Cancellation(HOME.id, *SALAH, 11),))
    await world.poll(gone, times=3)
    assert (await world.matches.load_corrections(1)).disallowed == ()
    await world.poll(replace(gone, elapsed=15))
    assert [one.elapsed for one in (await world.matches.load_corrections(1)).disallowed] == [10]


async def test_a_goal_is_taken_back_after_its_search_ended_and_it_was_complete(world: World) -> None:
    event_id = await world.confirmed_goal()
    world.now += world.policy.completion_deadline
    await world.archive.archive_finished("run", world.policy, world.now)
    assert (await world.reader.load_goal(event_id)).completed_at
    over = match(status=FixtureStatus.FULL_TIME, elapsed=90)
    run_id = await world.poll(over, times=world.policy.polls_to_end)
    world.now += world.policy.end_patience
    assert (await world.archive.archive_finished(run_id, world.policy, world.now)).fixture_ids == (1,)
    assert [one.event_id for one in (await world.matches.load_corrections(1)).disallowed] == [event_id]
