"""Goals that are as close as they can be: while they are listed as they are, nothing ever mixes them up."""

from datetime import UTC, datetime, timedelta
from random import Random

from hypothesis import given, settings
from hypothesis import strategies as st

from pressbox.footy.domain.fixtures import FixtureStatus, League, ObservedFixture, Team
from pressbox.footy.domain.goals import GoalDetail, Observation, Sighting, StoredGoal
from pressbox.footy.domain.matching import compare
from pressbox.footy.domain.policy import FootyPolicy

NOW = datetime(2024, 3, 13, 21, 0, tzinfo=UTC)
HOME, AWAY = Team(1, "Home"), Team(2, "Away")
POLICY = FootyPolicy()


def goal(team: int, player: int, elapsed: int, extra: int) -> Observation:
    # Stoppage time exists behind the last minute of a half only.
    stoppage = extra or None if elapsed == 45 else None
    return Observation(team, f"Team {team}", player, f"P. {player}", GoalDetail.NORMAL, elapsed, stoppage)


GOALS = st.lists(
    st.builds(goal, st.sampled_from([1, 2]), st.integers(11, 13), st.integers(43, 47), st.integers(0, 2)),
    unique=True,
    max_size=12,
)


def answer(events: list[Observation]) -> ObservedFixture:
    home, away = (sum(one.team_id == side.id for one in events) for side in (HOME, AWAY))
    return ObservedFixture(
        7, NOW, FixtureStatus.SECOND_HALF, League(1, "L"), HOME, AWAY, 80, None, home, away, events=tuple(events)
    )


@settings(max_examples=120)
@given(GOALS, st.lists(st.tuples(st.randoms(use_true_random=False), st.floats(0, 1)), max_size=6))
def test_an_id_stays_with_its_goal_however_close_the_next_one_is(
    goals: list[Observation], polls: list[tuple[Random, float]]
) -> None:
    created = compare([], {}, answer(goals), "run-0", NOW, POLICY).created
    assert len({new.event_id for new in created}) == len(goals)
    meaning = {new.event_id: new.observation for new in created}
    stored = {
        new.event_id: StoredGoal(
            new.event_id,
            new.observation.team_id,
            new.observation.player_id or 0,
            new.observation.player_name or "",
            new.observation.detail,
            new.observation.elapsed,
            new.observation.extra,
            new.score,
            frozenset({"run-0"}),
            frozenset(),
        )
        for new in created
    }
    for number, (dice, share) in enumerate(polls, start=1):
        listed = [one for one in goals if dice.random() < share]
        dice.shuffle(listed)
        now = NOW + timedelta(seconds=30 * number)
        result = compare(list(stored.values()), {}, answer(listed), f"run-{number}", now, POLICY)

        assert result.created == ()
        assert {seen.event_id: seen.observation for seen in result.seen} == {
            name: one for name, one in meaning.items() if one in listed
        }
        assert {seen.sighting for seen in result.seen} <= {Sighting.UNCHANGED}
        assert {miss.event_id for miss in result.missed} == {name for name, one in meaning.items() if one not in listed}
        assert not any(miss.removes for miss in result.missed)
