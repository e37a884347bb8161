"""Plans the requests of a day: first for the live matches known for today, then for those that wait. Pure.

It is made anew at every poll from what is left then, so a wrong guess mends itself, and a better plan helps at once.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from pressbox.footy.domain.request_budget import RequestBudget, next_reset, reserve_of

# From kick-off to the end of a match with its break and a late goal.
MATCH_TIME = timedelta(hours=2, minutes=15)
# One that is still polled after that goes on for a while: extra time, or a goal that is listed late.
OVERTIME = timedelta(minutes=15)
# Without `ids=` a poll is the list of all live matches, and mostly that of the day for those that end or begin.
CALLS_WITHOUT_IDS = 2
# What waiting matches get even if live ones could use everything: a moved kick-off must be noticed.
SMALLEST_SHARE = 10
# A match that begins so soon, or should have begun so lately, may change at any time; the others rarely do.
SOON, LATELY = timedelta(hours=4), timedelta(hours=2)
FAR_TIMES = 4
NOT_TODAY = timedelta(days=1)


@dataclass(frozen=True)
class Window:
    """When a match is polled as a live one."""

    begins: datetime
    ends: datetime


@dataclass(frozen=True)
class Round:
    """The calls that one look at all waiting matches costs: those whose time is `near`, and the `far` ones."""

    near: int = 0
    far: int = 0


@dataclass(frozen=True)
class DayPlan:
    """How far apart to ask: for live matches, for waiting ones whose time is near, and for the others."""

    live: timedelta
    near: timedelta
    far: timedelta


def window_of(kickoff: datetime, ahead: timedelta, is_active: bool, now: datetime) -> Window:
    ends = kickoff + MATCH_TIME
    return Window(kickoff - ahead, max(ends, now + OVERTIME) if is_active else ends)


def is_near(kickoff: datetime, now: datetime) -> bool:
    return now - LATELY <= kickoff <= now + SOON


def calls_of_poll(matches: int, batch: int, refuses_ids: bool) -> int:
    if refuses_ids:
        return CALLS_WITHOUT_IDS if matches else 0
    return -(-matches // batch)


def count_waiting_calls(kickoffs: Collection[datetime], batch: int, refuses_ids: bool) -> int:
    """Without `ids=` the list of a day answers for all matches of that day."""
    if refuses_ids:
        return len({kickoff.astimezone(UTC).date() for kickoff in kickoffs})
    return -(-len(kickoffs) // batch)


def count_live_calls(
    windows: Sequence[Window], now: datetime, every: timedelta, batch: int, refuses_ids: bool
) -> float:
    """How many calls the rest of the day of UTC needs if live matches are polled this often."""
    end = next_reset(now)
    spans = [(max(one.begins, now), min(one.ends, end)) for one in windows]
    moments = sorted(change for begins, ends in spans if begins < ends for change in ((begins, 1), (ends, -1)))
    calls, matches, since = 0.0, 0, now
    for at, change in moments:
        calls += (at - since) / every * calls_of_poll(matches, batch, refuses_ids)
        matches, since = matches + change, at
    return calls


def plan_day(
    budget: RequestBudget,
    windows: Sequence[Window],
    waiting: Round,
    now: datetime,
    live: timedelta,
    staging: timedelta,
    batch: int,
) -> DayPlan:
    """`live` and `staging` are the intervals that are set: the plan never asks more often."""
    left = budget.left_on(now)
    if left is None:
        return DayPlan(live, staging, staging)
    refuses_ids, end = budget.refuses_ids(now), next_reset(now)
    usable = max(left - reserve_of(budget), 0)
    needed = count_live_calls(windows, now, live, batch, refuses_ids)
    share = max(usable - needed, usable / SMALLEST_SHARE)
    at_once = calls_of_poll(sum(one.begins <= now < one.ends for one in windows), batch, refuses_ids)
    return DayPlan(_stretch(live, needed, usable, at_once), *_spread(waiting, share, staging, end - now))


def _spread(waiting: Round, share: float, staging: timedelta, rest: timedelta) -> tuple[timedelta, timedelta]:
    """The far ones are asked for as often as the near ones only if there is enough for all."""
    rounds = rest / staging
    if (waiting.near + waiting.far) * max(rounds, 1) <= share:
        return staging, staging
    needed = (waiting.near + waiting.far / FAR_TIMES) * rounds
    near = _stretch(staging, needed, share, waiting.near)
    far = _stretch(staging * FAR_TIMES, needed, share, waiting.near + waiting.far)
    return near, far


def _stretch(interval: timedelta, needed: float, affordable: float, at_once: int) -> timedelta:
    """A round that cannot be paid for is not made before the requests are given anew."""
    if not needed:
        return interval
    if affordable < max(at_once, 1):
        return NOT_TODAY
    return min(interval * max(needed / affordable, 1), NOT_TODAY)


@dataclass(frozen=True)
class Look:
    """Which of the waiting matches are asked for now."""

    near: bool
    far: bool


def decide_poll(budget: RequestBudget, plan: DayPlan, now: datetime, normal: timedelta) -> tuple[RequestBudget, bool]:
    """Whether live matches are polled now. The time of a poll that is due is noted."""
    slowed = plan.live > normal
    changes: dict[str, object] = {"poll_seconds": plan.live.total_seconds() if slowed else None}
    if not slowed:
        return budget.model_copy(update=changes), True
    # Polls begin a little early or late; half of one's distance must not make it wait for the next.
    early = not _is_due(budget.polled_at, plan.live, normal, now)
    if not early:
        changes["polled_at"] = now
    return budget.model_copy(update=changes), not early


def decide_look(
    budget: RequestBudget, plan: DayPlan, now: datetime, normal: timedelta, waiting: Round
) -> tuple[RequestBudget, Look]:
    """Which waiting matches are asked for now. At the interval that is set, they are whenever they are due."""
    look = Look(
        near=waiting.near > 0 and (plan.near <= normal or _is_due(budget.near_at, plan.near, normal, now)),
        far=waiting.far > 0 and (plan.far <= normal or _is_due(budget.far_at, plan.far, normal, now)),
    )
    changes = {name: now for name, asked in (("near_at", look.near), ("far_at", look.far)) if asked}
    return budget.model_copy(update=changes), look


def _is_due(last: datetime | None, every: timedelta, normal: timedelta, now: datetime) -> bool:
    return last is None or now - last >= every - normal / 2
