"""The plan of a day's requests: live matches to their end, waiting ones from what is left, for every plan."""

import random
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from itertools import pairwise

import pytest

from pressbox.footy.domain.day_plan import (
    FAR_TIMES,
    MATCH_TIME,
    NOT_TODAY,
    DayPlan,
    Round,
    Window,
    count_live_calls,
    count_waiting_calls,
    decide_look,
    decide_poll,
    is_near,
    plan_day,
    window_of,
)
from pressbox.footy.domain.request_budget import RequestBudget, next_reset, reserve_of

MIDNIGHT = datetime(2026, 11, 14, tzinfo=UTC)
NOON = MIDNIGHT + timedelta(hours=12)
LIVE, STAGING = timedelta(seconds=30), timedelta(minutes=15)
AHEAD = timedelta(minutes=30)
BATCH = 20


def known(left: int, limit: int = 100, *, refuses_ids: bool = False) -> RequestBudget:
    until = MIDNIGHT + timedelta(days=2) if refuses_ids else None
    return RequestBudget(day=MIDNIGHT.date(), day_left=left, day_limit=limit, ids_refused_until=until)


def evening(matches: int, hour: float = 18) -> list[Window]:
    return [window_of(MIDNIGHT + timedelta(hours=hour), AHEAD, False, MIDNIGHT)] * matches


def plan(budget: RequestBudget, windows: Sequence[Window], waiting: Round, now: datetime = NOON) -> DayPlan:
    return plan_day(budget, windows, waiting, now, LIVE, STAGING, BATCH)


def test_before_the_first_answer_of_the_day_everything_is_asked_as_it_is_set() -> None:
    assert plan(RequestBudget(), evening(300), Round(9, 9)) == DayPlan(LIVE, STAGING, STAGING)


def test_a_large_plan_asks_for_everything_as_it_is_set() -> None:
    assert plan(known(74_000, 75_000), evening(120), Round(6, 12)) == DayPlan(LIVE, STAGING, STAGING)


def test_polls_come_further_apart_as_the_day_shrinks() -> None:
    intervals = [plan(known(left), evening(10), Round()).live for left in (1000, 90, 40, 10, 3)]
    assert intervals[0] == LIVE
    assert intervals == sorted(set(intervals))
    assert intervals[-1] == NOT_TODAY


def test_live_matches_come_before_waiting_ones() -> None:
    quiet, busy = (plan(known(90), evening(matches), Round(1, 1)) for matches in (0, 10))
    assert quiet.near < timedelta(minutes=30)
    assert busy.near > timedelta(hours=1)
    assert busy.far / busy.near == pytest.approx(FAR_TIMES)


def test_waiting_matches_are_still_asked_for_on_the_busiest_day() -> None:
    """A kick-off that moves must be noticed, whatever the live matches could use."""
    assert plan(known(90), evening(300, hour=14), Round(1, 0)).near < timedelta(hours=2)


def test_two_matches_at_once_cost_as_much_as_one_and_two_after_each_other_twice() -> None:
    first, later = evening(1, 14), evening(1, 19)
    once, together, apart = (
        count_live_calls(windows, NOON, LIVE, BATCH, False) for windows in (first, first * 2, first + later)
    )
    assert (once, together, apart) == (330, 330, 660)
    assert count_live_calls(first * 21, NOON, LIVE, BATCH, False) == 660
    assert count_live_calls(first * 200, NOON, LIVE, BATCH, True) == 660
    assert count_live_calls(evening(1, 23), NOON, LIVE, BATCH, False) == 180, "the rest is paid by tomorrow's requests"


def test_a_match_that_is_still_polled_after_hours_is_reckoned_with() -> None:
    over = window_of(NOON - timedelta(hours=4), AHEAD, True, NOON)
    assert over.ends > NOON
    assert window_of(NOON, AHEAD, True, NOON).ends == NOON + MATCH_TIME


def test_without_ids_the_waiting_matches_of_a_day_cost_one_call() -> None:
    kickoffs = [NOON + timedelta(minutes=15 * number) for number in range(60)]
    assert count_waiting_calls(kickoffs, BATCH, refuses_ids=False) == 3
    assert count_waiting_calls(kickoffs, BATCH, refuses_ids=True) == 2
    assert count_waiting_calls([], BATCH, refuses_ids=True) == 0


@pytest.mark.parametrize(
    ("minutes", "near"), [(-121, False), (-120, True), (0, True), (240, True), (241, False), (2_000, False)]
)
def test_what_is_near(minutes: int, near: bool) -> None:
    assert is_near(NOON + timedelta(minutes=minutes), NOON) is near


def test_a_slowed_poll_waits_and_then_comes() -> None:
    slow = DayPlan(timedelta(minutes=6), STAGING, STAGING)
    budget, first = decide_poll(known(40), slow, NOON, LIVE)
    budget, second = decide_poll(budget, slow, NOON + LIVE, LIVE)
    budget, later = decide_poll(budget, slow, NOON + timedelta(minutes=6) - LIVE / 2, LIVE)
    assert (first, second, later) == (True, False, True)
    assert budget.is_slowed(NOON)
    assert not budget.is_slowed(NOON + timedelta(days=1))
    budget, polled = decide_poll(budget, DayPlan(LIVE, STAGING, STAGING), NOON + timedelta(minutes=7), LIVE)
    assert (polled, budget.poll_seconds) == (True, None)


def test_waiting_matches_take_their_turns_each_by_their_own_distance() -> None:
    slow, waiting = DayPlan(LIVE, timedelta(minutes=30), timedelta(hours=2)), Round(1, 1)
    budget, looks = known(40), []
    for quarter in range(9):
        budget, look = decide_look(budget, slow, NOON + quarter * STAGING, STAGING, waiting)
        looks.append((look.near, look.far))
    assert [near for near, _ in looks] == [True, False] * 4 + [True]
    assert [quarter for quarter, (_, far) in enumerate(looks) if far] == [0, 8]
    assert decide_look(known(40), slow, NOON, STAGING, Round(0, 1))[0].near_at is None


@dataclass
class Played:
    """What became of a simulated day."""

    calls: int = 0
    live: int = 0
    staging: int = 0
    last_poll: datetime | None = None
    widest: timedelta = timedelta()
    left: int = 0


def play(limit: int, kickoffs: Sequence[datetime], tomorrow: int, *, refuses_ids: bool, begin: datetime) -> Played:
    """Ask by the plan until the day is over, as often as it allows. Every request is answered at once."""
    played, budget, now = Played(), known(limit - 3, limit, refuses_ids=refuses_ids), begin
    soonest = min(kickoffs) - AHEAD - STAGING
    to_come = [MIDNIGHT + timedelta(days=1, hours=15)] * tomorrow

    def pay(calls: int) -> None:
        nonlocal budget
        played.calls += calls
        budget = budget.model_copy(update={"day_left": (budget.day_left or 0) - calls})

    while now < next_reset(begin):
        windows = [window_of(kickoff, AHEAD, False, now) for kickoff in kickoffs]
        live = sum(one.begins <= now < one.ends for one in windows)
        near = [kickoff for kickoff in kickoffs if kickoff - AHEAD > now and is_near(kickoff, now)]
        far = [kickoff for kickoff in kickoffs if kickoff - AHEAD > now and not is_near(kickoff, now)] + to_come
        if (now - MIDNIGHT) % STAGING < LIVE and (near or far):
            waiting = Round(*(count_waiting_calls(one, BATCH, refuses_ids) for one in (near, far)))
            budget, look = decide_look(budget, plan(budget, windows, waiting, now), now, STAGING, waiting)
            pay(waiting.near * look.near + waiting.far * look.far)
            played.staging = played.calls - played.live
        if live:
            budget, polled = decide_poll(budget, plan(budget, windows, Round(), now), now, LIVE)
            if polled:
                if played.last_poll and any(one.begins <= played.last_poll and now < one.ends for one in windows):
                    played.widest = max(played.widest, now - played.last_poll)
                played.last_poll = now
                cost = 2 if refuses_ids else -(-live // BATCH)
                pay(cost)
                played.live += cost
        now += LIVE if live or now >= soonest else STAGING
    played.left = budget.day_left or 0
    return played


@pytest.mark.parametrize("tomorrow", [0, 10, 30, 300])
def test_ten_matches_in_the_evening_are_polled_to_their_end_on_the_free_plan(tomorrow: int) -> None:
    kickoffs = [MIDNIGHT + timedelta(hours=18)] * 10
    played = play(100, kickoffs, tomorrow, refuses_ids=True, begin=MIDNIGHT)
    assert played.last_poll is not None
    assert played.last_poll >= kickoffs[0] + MATCH_TIME - timedelta(minutes=10)
    assert played.widest <= timedelta(minutes=6)
    assert played.left >= reserve_of(known(0))


@pytest.mark.parametrize("seed", range(8))
def test_no_day_uses_more_than_it_has_and_every_day_is_polled_to_its_end(seed: int) -> None:
    dice = random.Random(seed)
    limit, refuses_ids = dice.choice([(100, True), (100, False), (7_500, False), (75_000, False)])
    kickoffs = [MIDNIGHT + timedelta(minutes=5 * dice.randrange(100, 250)) for _ in range(dice.randrange(1, 150))]
    played = play(limit, kickoffs, dice.randrange(100), refuses_ids=refuses_ids, begin=MIDNIGHT + timedelta(hours=6))
    assert played.left >= reserve_of(known(0, limit))
    assert played.last_poll is not None
    # A hundred requests for thirteen hours leave few for the last of them.
    end = min(max(kickoffs) + MATCH_TIME, next_reset(MIDNIGHT))
    assert end - played.last_poll <= timedelta(minutes=60 if limit == 100 else 5)


@pytest.mark.parametrize("seed", range(50))
def test_more_requests_never_mean_fewer_polls(seed: int) -> None:
    dice = random.Random(seed)
    windows = [
        replace(one, begins=one.begins + timedelta(minutes=dice.randrange(300)), ends=one.ends + timedelta(hours=3))
        for one in evening(dice.randrange(1, 60), 13)
    ]
    waiting = Round(dice.randrange(5), dice.randrange(5))
    plans = [plan(known(left, 7_500), windows, waiting) for left in sorted(dice.sample(range(7_500), 20))]
    for fewer, more in pairwise(plans):
        assert more.live <= fewer.live
        assert more.near <= fewer.near
        assert more.far <= fewer.far


@pytest.mark.parametrize(
    ("name", "limit", "widest"),
    [("Free", 100, 30), ("Pro", 7_500, 1.1), ("Ultra", 75_000, 0.5), ("Mega", 150_000, 0.5)],
)
def test_a_saturday_of_120_matches_on_each_plan(name: str, limit: int, widest: float) -> None:
    """From 14:00 to 23:00, with as many tomorrow. The calls are printed (`pytest -s`)."""
    kickoffs = [MIDNIGHT + timedelta(hours=14 + 7 * place // 119, minutes=15 * (place % 4)) for place in range(120)]
    played = play(limit, kickoffs, 120, refuses_ids=limit == 100, begin=MIDNIGHT)
    print(  # noqa: T201 - the figures that people compare
        f"{name:>6}: {played.calls:6,} of {limit:,} calls, {played.live:,} for live matches, {played.staging:,} for"
        f" those that wait; live ones were asked for every {played.widest.total_seconds():g} s or more often"
    )
    assert played.last_poll is not None
    assert played.last_poll >= max(kickoffs) + MATCH_TIME - timedelta(minutes=widest)
    assert played.widest <= timedelta(minutes=widest)
    assert played.left >= reserve_of(known(0, limit))
