"""Many short matches with two faults of the API at once, through the real activities of a poll and a real database.

One goal in reality is one goal here at every poll, and a search, with the clips it finds, stays with its goal.
"""

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import timedelta

from sqlalchemy import select
from temporalio.testing import ActivityEnvironment

from pressbox.footy.activities.comparison import ComparisonActivities
from pressbox.footy.activities.poll import PollActivities
from pressbox.footy.adapters.rows import GoalRow
from pressbox.footy.contracts.ingest import RunReference
from pressbox.footy.domain.fixture_parser import parse_fixture
from pressbox.footy.domain.goals import SearchEnd
from pressbox.footy.ports.outside import LiveAnswer
from tests.fakes.footy import FakeBudget, FakePace
from tests.fakes.played_sequences import POLLS, Played, PlayedGoal, Raw, list_sequences
from tests.integration.footy.footy_world import START, World

BETWEEN_POLLS = timedelta(seconds=30)


@dataclass
class PlayedApi:
    """Answers for all matches at one poll; it knows nothing of those that nobody polls then."""

    matches: dict[int, Played]
    poll: int = 0

    def answer(self, number: int) -> Raw | None:
        match = self.matches[number]
        return None if self.poll in match.scene.unseen else match.answer(self.poll, number)

    async def fetch_by_ids(self, numbers: Sequence[int]) -> LiveAnswer:
        answers = {number: self.answer(number) for number in numbers}
        return LiveAnswer(
            {number: raw for number, raw in answers.items() if raw is not None},
            {number: "not polled" for number, raw in answers.items() if raw is None},
        )


class Season:
    """Polls all matches, and follows which goal each id stands for."""

    def __init__(self, world: World, matches: dict[int, Played]) -> None:
        self.world, self.api = world, PlayedApi(matches)
        clock = lambda: world.now  # noqa: E731 - the clock of all activities
        self.poll = PollActivities(self.api, world.polls, FakeBudget(), FakePace(), now=clock)  # type: ignore[arg-type]
        self.comparison = ComparisonActivities(
            world.polls,
            world.comparisons,
            world.archive,
            world.goals,
            None,  # type: ignore[arg-type]
            now=clock,
        )
        self.searched: Counter[int] = Counter()
        self.about: dict[str, PlayedGoal] = {}

    async def begin(self) -> None:
        answers = (one.answer(0, number) for number, one in self.api.matches.items())
        await self.world.ingest(*(replace(parse_fixture(raw), kickoff=START) for raw in answers))

    async def play(self, number: int) -> None:
        self.api.poll, self.world.now = number, START + number * BETWEEN_POLLS
        run = RunReference(run_id=f"monitor-{number}", policy=self.world.policy)
        await self.world.polls.register_run(run.run_id, self.world.policy, self.world.now)
        await ActivityEnvironment().run(self.poll.fetch_active_fixtures, run)
        await ActivityEnvironment().run(self.comparison.store_and_compare, run)
        await ActivityEnvironment().run(self.comparison.sync_fixture_metadata, run)
        more = True
        while more:
            found = await ActivityEnvironment().run(self.comparison.process_fixture_events, run)
            more = found.more
            for each in found.goals:
                self.searched[each.fixture_id] += 1
                await self.world.goals.set_monitor_complete(each.event_id, f"twitter-{each.event_id}", self.world.now)
                # Nothing is found, so that nothing but the rules of its end keeps a match from the archive.
                await self.world.goals.end_search(each.event_id, SearchEnd.EXHAUSTED, self.world.now)
        await ActivityEnvironment().run(self.comparison.complete_fixture_if_ready, run)

    async def check(self, number: int) -> None:
        confirmed: dict[int, list[GoalRow]] = defaultdict(list)
        for row in await self.load_goals():
            if row.confirmed_at and not row.removed_at:
                confirmed[row.fixture_id].append(row)
        for fixture_id, match in self.api.matches.items():
            goals, where = match.scene.goals, f"{match.name}, at poll {number}"
            standing = [one for one in goals if one.begins <= number and not is_surely_gone(one, match, number)]
            assert len(confirmed[fixture_id]) <= len(standing), f"a goal is confirmed twice: {where}"
            scored = sum(one.begins <= number for one in goals)
            assert self.searched[fixture_id] <= scored, f"a search for a goal that never was: {where}"
            for row in confirmed[fixture_id]:
                goal = self.find_listed(row, match, self.api.answer(fixture_id))
                known = self.about.setdefault(row.event_id, goal) if goal else None
                assert goal == known or goal is None, f"the clips of one goal went to another: {where}"

    def find_listed(self, row: GoalRow, match: Played, raw: Raw | None) -> PlayedGoal | None:
        """The goal that the answer lists as this row has it; None if it lists none or several so."""
        shown = (row.team_id, row.player_name, row.elapsed, row.extra or 0)
        found = {
            # Goals of one player in one minute differ in nothing that anybody sees.
            replace(match.scene.goals[event["truth"]], begins=0)
            for event in (raw or {"events": []})["events"]
            if event["truth"] >= 0
            and event["type"] == "Goal"
            and shown
            == (
                event["team"]["id"],
                event["player"]["name"] or "",
                event["time"]["elapsed"],
                event["time"]["extra"] or 0,
            )
        }
        return next(iter(found)) if len(found) == 1 else None

    async def check_end(self) -> None:
        rows = await self.load_goals()
        for fixture_id, match in self.api.matches.items():
            present = [row for row in rows if row.fixture_id == fixture_id and not row.removed_at]
            standing = [one for one in match.scene.goals if one.stands(POLLS)]
            shown = sorted((row.team_id, row.player_name) for row in present)
            assert shown == sorted((one.side, one.player[1]) for one in standing), match.name
            assert all(row.monitor_complete for row in present), match.name

    async def load_goals(self) -> list[GoalRow]:
        async with self.world.database.unit_of_work() as work:
            return list(await work.session.scalars(select(GoalRow)))


def is_surely_gone(goal: PlayedGoal, match: Played, number: int) -> bool:
    """Three polls have to miss a goal that was taken away."""
    return goal.ends is not None and number >= goal.ends + len(match.scene.unseen) + 2


async def test_one_goal_is_one_goal_whatever_two_faults_the_api_has_at_once(world: World) -> None:
    season = Season(world, dict(enumerate(list_sequences(), start=1)))
    await season.begin()
    for number in range(POLLS):
        await season.play(number)
        await season.check(number)
    await season.check_end()
