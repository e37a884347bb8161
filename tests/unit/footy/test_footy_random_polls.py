"""Random match days against the rules of goals: the oracle is the script of the match, which the code never sees."""

import random
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, precondition, rule

from pressbox.footy.domain.fixture_parser import parse_fixture
from pressbox.footy.domain.goals import Comparison, GoalDetail, Observation, PlayedMinute
from pressbox.footy.domain.matching import compare
from pressbox.footy.domain.policy import FootyPolicy
from tests.fakes.goal_ledger import Ledger

FIXTURE, HOME, AWAY = 900, 1, 2
KICKOFF = datetime(2024, 3, 13, 20, 0, tzinfo=UTC)
POLICY = FootyPolicy()
# Goals of one side lie further apart than the tolerance and a correction together: nearer ones cannot be told apart
# when one is taken away and the other comes between two polls. Cases for those are in test_footy_matching.
SPACING = 4
SIDES = st.sampled_from([HOME, AWAY])
# Few, so that one player scores often.
PLAYERS = st.integers(1, 3)
CHANCES = st.integers(0, 2**32 - 1)


@dataclass
class Scored:
    """A goal of the script, as it stands now, and what the oracle counts of it."""

    team: int
    player: int
    named: bool
    minute: int
    detail: GoalDetail
    stands: bool = True
    corrected: bool = False
    # Changed since an answer listed it last: two changes at once cannot be told from another goal.
    changed: bool = False
    misses: int = 0
    listed_in: int = 0
    event_id: str = ""

    def raw(self) -> dict[str, Any]:
        return {
            "time": {"elapsed": self.minute, "extra": None},
            "team": {"id": self.team, "name": f"Team {self.team}"},
            "player": {"id": self.team * 10 + self.player, "name": f"P. {self.player}"}
            if self.named
            else {"id": None, "name": None},
            "assist": {"id": None, "name": None},
            "type": "Goal",
            "detail": self.detail.value,
            "comments": None,
        }


class MatchDay(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.script: list[Scored] = []
        self.ledger = Ledger()
        self.meaning: dict[str, int] = {}
        self.runs = 0
        # The minute of the last poll.
        self.looked = 0

    # ---- What happens on the pitch and at the desk of the API

    @rule(team=SIDES, player=PLAYERS, named=st.booleans(), pause=st.integers(0, 5), own=st.booleans())
    def somebody_scores(self, team: int, player: int, named: bool, pause: int, own: bool) -> None:
        last = max((goal.minute for goal in self.script if goal.team == team), default=0)
        # After the last poll: an earlier unnamed goal cannot be told from one whose minute was corrected.
        if (minute := max(last + SPACING + pause, self.looked + 1)) < 90:
            detail = GoalDetail.OWN if own else GoalDetail.NORMAL
            self.script.append(Scored(team, player, named, minute, detail))

    @precondition(lambda self: self.script)
    @rule(chance=CHANCES)
    def a_scorer_becomes_known(self, chance: int) -> None:
        if goal := self._one_of(chance, lambda goal: not goal.named):
            goal.named = goal.changed = True

    @precondition(lambda self: self.script)
    @rule(chance=CHANCES, player=PLAYERS, own=st.booleans())
    def a_scorer_is_corrected(self, chance: int, player: int, own: bool) -> None:
        if goal := self._one_of(chance, lambda goal: goal.named):
            goal.player, goal.detail, goal.changed = player, GoalDetail.OWN if own else GoalDetail.NORMAL, True

    @precondition(lambda self: self.script)
    @rule(chance=CHANCES, by=st.sampled_from([-1, 1]))
    def a_minute_is_corrected(self, chance: int, by: int) -> None:
        if goal := self._one_of(chance, lambda goal: not goal.corrected and goal.listed_in > 0):
            goal.minute, goal.corrected, goal.changed = goal.minute + by, True, True

    @precondition(lambda self: self.script)
    @rule(chance=CHANCES)
    def a_goal_is_disallowed(self, chance: int) -> None:
        """The next poll sees the score fall."""
        if goal := self._one_of(chance, lambda goal: True):
            goal.stands = False
            self.an_honest_poll(chance)

    # ---- What the monitor sees of it

    @rule(chance=CHANCES)
    def an_honest_poll(self, chance: int) -> None:
        self._poll([goal for goal in self.script if goal.stands], chance)

    @rule(chance=CHANCES)
    def a_poll_that_lacks_some(self, chance: int) -> None:
        """A new goal is listed as soon as it is in the score; older ones may be missing."""
        dice = random.Random(chance)
        self._poll([goal for goal in self.script if goal.stands and (not goal.event_id or dice.random() < 0.6)], chance)

    @rule(chance=CHANCES)
    def a_poll_that_repeats_some(self, chance: int) -> None:
        dice = random.Random(chance)
        standing = [goal for goal in self.script if goal.stands]
        self._poll(standing, chance, repeated=[goal for goal in standing if dice.random() < 0.4])

    @rule(chance=CHANCES)
    def an_empty_answer(self, chance: int) -> None:
        if all(goal.event_id or not goal.stands for goal in self.script):
            self._poll([], chance)

    @rule(chance=CHANCES, by=st.sampled_from([-2, -1, 1, 2]), side=st.sampled_from(["home", "away"]))
    def a_poll_with_a_lying_score(self, chance: int, by: int, side: str) -> None:
        """One answer whose score fits no list: it makes no goal, takes none away, and starts no search.

        Only between answers that were settled: a new goal and a lie in the same answer cannot be told apart.
        """
        if not all(self._is_settled(goal) for goal in self.script):
            return
        standing = [goal for goal in self.script if goal.stands]
        before, searched = self.ledger.present(), list(self.ledger.searches)
        raw = self._answer(standing)
        raw["goals"][side] = max(0, raw["goals"][side] + by)
        self.runs += 1
        result = self._compare(raw, f"run-{self.runs}")
        self.ledger.start_searches()
        assert result.created == ()
        assert self.ledger.present() == before, "one lie changed which goals there are"
        assert all(self.meaning[seen.event_id] == self._place_of(seen.observation) for seen in result.seen)
        assert set(self.ledger.searches) - set(searched) <= before
        self.an_honest_poll(chance)

    def _is_settled(self, goal: Scored) -> bool:
        if goal.stands:
            return bool(goal.event_id) and not goal.changed
        return not goal.event_id or goal.misses >= POLICY.runs_to_remove

    def _place_of(self, observation: Observation) -> int:
        return next(
            place
            for place, goal in enumerate(self.script)
            if goal.stands and (goal.team, goal.minute) == (observation.team_id, observation.elapsed)
        )

    @rule()
    def an_answer_without_events(self) -> None:
        before = dict(self.ledger.goals)
        raw = self._answer([])
        del raw["events"]
        self._compare(raw, "without events")
        assert self.ledger.goals == before

    def teardown(self) -> None:
        """The match ends, and the answers are good once more: what stands is there once, the rest is gone."""
        for number in range(POLICY.runs_to_remove + 1):
            standing = [goal for goal in self.script if goal.stands]
            for goal in standing:
                goal.named = True
            self._poll(standing, number)
        standing = [goal for goal in self.script if goal.stands]
        assert self.ledger.present() == {goal.event_id for goal in standing}
        for goal in standing:
            known = self.ledger.goals[goal.event_id]
            assert (known.team_id, known.player_id, known.elapsed, known.detail) == (
                goal.team,
                goal.team * 10 + goal.player,
                goal.minute,
                goal.detail,
            )
            assert known.monitor_complete, "a goal that stands was never searched for"
        assert len(self.ledger.searches) == len(set(self.ledger.searches)), "a search began twice"

    # ---- The poll and the oracle

    def _one_of(self, chance: int, wanted: Any) -> Scored | None:
        found = [goal for goal in self.script if goal.stands and not goal.changed and wanted(goal)]
        return found[chance % len(found)] if found else None

    def _answer(self, listed: list[Scored], repeated: list[Scored] | None = None) -> dict[str, Any]:
        score = [sum(goal.stands and goal.team == side for goal in self.script) for side in (HOME, AWAY)]
        return {
            "fixture": {"id": FIXTURE, "timestamp": int(KICKOFF.timestamp()), "status": {"short": "2H", "elapsed": 80}},
            "league": {"id": 1, "name": "League"},
            "teams": {"home": {"id": HOME, "name": "Team 1"}, "away": {"id": AWAY, "name": "Team 2"}},
            "goals": {"home": score[0], "away": score[1]},
            "events": [goal.raw() for goal in [*listed, *(repeated or [])]],
        }

    def _poll(self, listed: list[Scored], chance: int, repeated: list[Scored] | None = None) -> None:
        self.runs += 1
        raw = self._answer(listed, repeated)
        random.Random(chance).shuffle(raw["events"])
        removed_before = set(self.ledger.goals) - self.ledger.present()
        result = self._compare(raw, f"run-{self.runs}")
        self._check_meanings(listed, result)
        self._check_misses(listed, removed_before)
        after = dict(self.ledger.goals)
        self._compare(raw, f"run-{self.runs}")
        assert self.ledger.goals == after, "the same run with the same answer changed something"
        self.ledger.start_searches()
        self.looked = max((goal.minute for goal in self.script), default=0)

    def _compare(self, raw: dict[str, Any], run_id: str) -> Comparison:
        now = KICKOFF + timedelta(seconds=30 * self.runs)
        known = list(self.ledger.goals.values())
        result = compare(
            known, self.ledger.sequences, parse_fixture(raw), run_id, now, POLICY, PlayedMinute(self.looked)
        )
        self.ledger.apply(result, run_id, now)
        return result

    def _check_meanings(self, listed: list[Scored], result: Comparison) -> None:
        named = [*((new.event_id, new.observation) for new in result.created)]
        named += [(seen.event_id, seen.observation) for seen in result.seen]
        assert len(named) == len(listed), "a goal was lost or counted twice"
        place_of = {(goal.team, goal.minute): place for place, goal in enumerate(self.script) if goal in listed}
        for name, observation in named:
            place = place_of[observation.team_id, observation.elapsed]
            assert self.meaning.setdefault(name, place) == place, "an id means another goal now"
            goal = self.script[place]
            # Only one that was removed and comes back as something else is a new goal to us.
            lost = goal.misses >= POLICY.runs_to_remove and goal.changed
            assert goal.event_id in ("", name) or lost, "a goal got a second id"
            goal.event_id = name

    def _check_misses(self, listed: list[Scored], removed_before: set[str]) -> None:
        """A goal is missed when it does not stand; one that is only not listed is kept by the score."""
        for goal in self.script:
            if any(goal is one for one in listed):
                goal.misses, goal.listed_in, goal.changed = 0, self.runs, False
            elif goal.event_id and not goal.stands:
                goal.misses += 1
        known = [goal for goal in self.script if goal.event_id]
        gone = {goal.event_id for goal in known if goal.misses >= POLICY.runs_to_remove}
        assert {goal.event_id for goal in known} - gone == self.ledger.present()
        fresh = set(self.ledger.goals) - self.ledger.present() - removed_before
        assert all(goal.misses == POLICY.runs_to_remove for goal in known if goal.event_id in fresh)


TestMatchDay = MatchDay.TestCase
TestMatchDay.settings = settings(
    max_examples=80, stateful_step_count=40, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)
