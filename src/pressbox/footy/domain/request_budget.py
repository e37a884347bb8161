"""How often API-Football may be asked, by what its answers say: today, this minute, and not at all for a while. Pure.

The plan gives a number of requests per day of UTC and per minute. Whoever keeps asking beyond them loses the account.
"""

from collections.abc import Mapping
from datetime import UTC, date, datetime, timedelta
from email.utils import parsedate_to_datetime

from pressbox.core.contracts import Contract

API = "API-Football"
MINUTE = timedelta(minutes=1)
CLOCK_TOLERANCE = timedelta(seconds=30)
# Per minute, until an answer has told the plan's own number: that of the free plan.
CAUTIOUS_MINUTE_LIMIT = 10
# Requests that polls leave for fixtures that somebody fetches by hand.
SMALLEST_RESERVE = 3
RESERVE_SHARE = 50
# How often the account is asked for a better plan while the requests of the present one are short.
ACCOUNT_EVERY = timedelta(minutes=5)
# The plan may change meanwhile, so what it refused is tried again after this time.
REFUSAL_LIFE = timedelta(hours=24)

NO_PAUSE: Mapping[str, object] = {"paused_until": None, "pause_reason": "", "pause_needs_change": False}


class Seen(Contract):
    """What the headers of one answer say; None where they say nothing."""

    day_limit: int | None = None
    day_left: int | None = None
    minute_limit: int | None = None
    minute_left: int | None = None


class RequestBudget(Contract):
    """What is known of the requests of one key. `day` is the day of UTC to which `day_left` belongs."""

    day: date | None = None
    day_limit: int | None = None
    day_left: int | None = None
    minute_limit: int | None = None
    plan: str = ""
    # When the next request may leave if requests were evenly spread.
    next_at: datetime | None = None
    paused_until: datetime | None = None
    pause_reason: str = ""
    # A setting or the account must be changed: waiting alone does not help.
    pause_needs_change: bool = False
    ids_refused_until: datetime | None = None
    polled_at: datetime | None = None
    poll_seconds: float | None = None
    # When waiting matches were asked for last: those whose time is near, and the others.
    near_at: datetime | None = None
    far_at: datetime | None = None
    account_at: datetime | None = None
    # How far this machine's clock was ahead of a service's at its last answer; negative when behind. Without a key for
    # API-Football the clip sources tell.
    clock_ahead_seconds: float | None = None
    clock_by: str = API

    @property
    def clock_ahead(self) -> timedelta:
        """How far our clock is wrong; nothing as long as the way of an answer may explain it."""
        seconds = self.clock_ahead_seconds or 0.0
        return timedelta(seconds=seconds) if abs(seconds) >= CLOCK_TOLERANCE.total_seconds() else timedelta()

    def left_on(self, now: datetime) -> int | None:
        """Requests left today, or None when today's answers have not told yet."""
        return self.day_left if self.day == now.astimezone(UTC).date() else None

    def is_paused(self, now: datetime) -> bool:
        return self.paused_until is not None and now < self.paused_until

    def refuses_ids(self, now: datetime) -> bool:
        return self.ids_refused_until is not None and now < self.ids_refused_until

    def is_used_up(self, now: datetime) -> bool:
        """Whether the pause is that of a day without requests left, which only another plan ends."""
        if self.paused_until is None or self.pause_needs_change or not self.is_paused(now):
            return False
        return self.paused_until >= next_reset(now)

    def is_slowed(self, now: datetime) -> bool:
        """Whether live matches are polled less often than set, to make the requests last."""
        return self.poll_seconds is not None and self.left_on(now) is not None


def next_reset(now: datetime) -> datetime:
    """When the requests of the day are given anew: at midnight of UTC."""
    midnight = now.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    return midnight + timedelta(days=1)


def reserve_slot(budget: RequestBudget, now: datetime, longest: timedelta) -> tuple[RequestBudget, timedelta | None]:
    """Reserve the time of one request; returns how long to wait for it, or None when that is too long.

    As many as a second of the minute's number may leave at once; the rest follows evenly spread.
    """
    limit = max(budget.minute_limit or CAUTIOUS_MINUTE_LIMIT, 2)
    at_once = max(1, limit // 60)
    spacing = MINUTE / (limit - at_once)
    due = max(budget.next_at or now, now)
    wait = max(due - (at_once - 1) * spacing - now, timedelta())
    if wait > longest:
        return budget, None
    return budget.model_copy(update={"next_at": due + spacing}), wait


def note_answer(budget: RequestBudget, seen: Seen, now: datetime) -> RequestBudget:
    """Take over what an answer says. Answers may overtake each other, so fewer left counts within one day."""
    today, changes = now.astimezone(UTC).date(), dict[str, object]()
    if seen.day_limit is not None:
        changes["day_limit"] = seen.day_limit
        if budget.day_limit not in (None, seen.day_limit):
            # Another plan may allow what the former one refused.
            changes["ids_refused_until"] = None
            if seen.day_left and budget.is_used_up(now):
                changes |= NO_PAUSE
    if seen.day_left is not None:
        known = budget.day_left if budget.day == today and budget.day_limit == seen.day_limit else None
        changes |= {"day": today, "day_left": seen.day_left if known is None else min(known, seen.day_left)}
    if seen.minute_limit:
        changes["minute_limit"] = seen.minute_limit
    if seen.minute_left == 0:
        changes |= {
            "paused_until": now + MINUTE,
            "pause_reason": "API-Football: the requests of this minute are used up.",
        }
        changes["pause_needs_change"] = False
    elif not budget.is_paused(now):
        changes |= NO_PAUSE
    return budget.model_copy(update=changes)


def note_status(
    budget: RequestBudget, plan: str, used: int | None, day_limit: int | None, now: datetime
) -> RequestBudget:
    """Take over what the account's own page says. Another plan may allow what the former one refused."""
    seen = Seen(day_limit=day_limit, day_left=max(day_limit - used, 0) if day_limit and used is not None else None)
    noted = note_answer(budget, seen, now)
    if plan and budget.plan and plan != budget.plan:
        noted = noted.model_copy(update={"ids_refused_until": None, "day_left": seen.day_left})
    if budget.is_used_up(now) and seen.day_left:
        noted = noted.model_copy(update={**NO_PAUSE, "day_left": seen.day_left})
    return noted.model_copy(update={"plan": plan or noted.plan, "account_at": now})


def should_ask_account(budget: RequestBudget, now: datetime) -> bool:
    """Whether to look for a better plan, which costs no request: while the present one keeps polls apart or off."""
    if not (budget.is_used_up(now) or budget.is_slowed(now)):
        return False
    return budget.account_at is None or now - budget.account_at >= ACCOUNT_EVERY


def measure_clock(date_header: str, now: datetime) -> float | None:
    """How many seconds our clock is ahead of the time that a service puts on its answers; None when it says none."""
    try:
        theirs = parsedate_to_datetime(date_header)
    except ValueError:
        return None
    theirs = theirs if theirs.tzinfo else theirs.replace(tzinfo=UTC)
    return round((now - theirs).total_seconds() / 10) * 10.0


def note_clock(budget: RequestBudget, date_header: str, now: datetime) -> RequestBudget:
    ahead = measure_clock(date_header, now)
    return budget if ahead is None else note_clock_ahead(budget, ahead, API)


def note_clock_ahead(budget: RequestBudget, seconds: float, by: str) -> RequestBudget:
    return budget.model_copy(update={"clock_ahead_seconds": seconds, "clock_by": by})


def note_pause(budget: RequestBudget, until: datetime, reason: str, *, needs_change: bool = False) -> RequestBudget:
    return budget.model_copy(update={"paused_until": until, "pause_reason": reason, "pause_needs_change": needs_change})


def note_day_used_up(budget: RequestBudget, reason: str, now: datetime) -> RequestBudget:
    used = budget.model_copy(update={"day": now.astimezone(UTC).date(), "day_left": 0})
    return note_pause(used, next_reset(now), reason)


def note_refused_ids(budget: RequestBudget, now: datetime) -> RequestBudget:
    return budget.model_copy(update={"ids_refused_until": now + REFUSAL_LIFE})


def reserve_of(budget: RequestBudget) -> int:
    return max(SMALLEST_RESERVE, (budget.day_limit or 0) // RESERVE_SHARE)
