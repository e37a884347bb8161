"""What the status page says about matches: the fixtures API, and the last canary search of every clip source."""

import asyncio
from collections.abc import Sequence
from datetime import datetime, timedelta

from pressbox.core.app import Resources
from pressbox.core.clock import utc_now
from pressbox.core.errors import ConfigurationError
from pressbox.core.health import HealthState, PartHealth
from pressbox.footy.adapters.polls import SqlPolls
from pressbox.footy.adapters.request_budgets import open_budget
from pressbox.footy.adapters.source_health import SqlSourceHealth
from pressbox.footy.adapters.sources.billing import BILLING, SMALLEST_PAGE, X_API
from pressbox.footy.domain.request_budget import RequestBudget
from pressbox.footy.domain.views import PollView, Readiness, SourceView
from pressbox.footy.readiness import find_missing
from pressbox.footy.settings import FootySettings
from pressbox.footy.x.session import Cookie, is_logged_in, login_end, open_session

# Canary searches run every hour; after two that were missed the last answer is too old.
LOGIN = "login at X"
LOGIN_WARNING = timedelta(days=14)
CANARY_LIFE = timedelta(hours=2, minutes=15)


async def check_health(resources: Resources) -> Sequence[PartHealth]:
    polls = await SqlPolls(resources.database).load_recent(1)
    sources = await SqlSourceHealth(resources.database).load_all()
    footy, now = resources.settings.group(FootySettings), utc_now()
    budget = await open_budget(resources.database, footy).load()
    part = fixtures_part(Readiness(find_missing(footy)), polls, budget, now)
    month = await load_month_part(resources)
    login = await load_login_part(resources)
    more = (*((month,) if month else ()), *((login,) if login.state is not HealthState.OK else ()))
    return (part, *clock_parts(budget), *(source_part(source, now) for source in sources), *more)


async def load_login_part(resources: Resources) -> PartHealth:
    try:
        cookies = await asyncio.to_thread(open_session(resources.settings).load)
    except ConfigurationError as error:
        return PartHealth(LOGIN, HealthState.WARNING, error.message)
    return login_part(cookies, utc_now())


def login_part(cookies: Sequence[Cookie], now: datetime) -> PartHealth:
    """The login at X ends by itself, and with it the searches of its browser."""
    if not is_logged_in(cookies):
        return PartHealth(LOGIN, HealthState.OK, "No login is kept here.")
    end = login_end(cookies)
    if end is None or end - now > LOGIN_WARNING:
        return PartHealth(LOGIN, HealthState.OK, "A login is kept.")
    fix = "Sign in again: `pressbox x login`, or export the cookies of a browser anew."
    detail = f"The login {'ended' if end <= now else 'ends'} on {end:%Y-%m-%d}."
    return PartHealth(LOGIN, HealthState.WARNING, detail, fix)


async def load_month_part(resources: Resources) -> PartHealth | None:
    """How many posts X's API has billed this month, where it is used."""
    footy = resources.settings.group(FootySettings)
    if footy.x_api_token is None:
        return None
    from pressbox.core.spending.ledger import SqlLedger

    return month_part(
        await SqlLedger(resources.database).posts_this_month(X_API, utc_now()),
        footy.x_api_posts_per_month,
        footy.x_api_price_per_post,
    )


def month_part(posts: int, most: int, price: float) -> PartHealth:
    cost = f", {posts * price:,.2f} at {price:g} each" if price else ""
    detail = f"{posts:,} of {most:,} posts of this month are used{cost}."
    if posts + SMALLEST_PAGE <= most:
        return PartHealth("posts of X", HealthState.OK, detail)
    fix = "Raise PRESSBOX_FOOTY_X_API_POSTS_PER_MONTH, or wait for the first of the next month, UTC."
    return PartHealth("posts of X", HealthState.WARNING, f"{detail} X's API is not searched any more.", fix)


def fixtures_part(readiness: Readiness, polls: Sequence[PollView], budget: RequestBudget, now: datetime) -> PartHealth:
    """Without a key, matches are not used on this installation, which is no problem."""
    if not readiness.ready:
        missing = readiness.missing[0]
        return PartHealth("fixtures", HealthState.OK, f"Not used: {missing.name} is not set.", missing.advice)
    requests = describe_requests(budget, now)
    if budget.is_paused(now) or budget.is_slowed(now):
        return PartHealth("fixtures", HealthState.WARNING, requests, _advise(budget))
    if not polls:
        return PartHealth("fixtures", HealthState.OK, f"No poll yet. {requests}".strip())
    last = polls[0]
    if last.failed:
        # `fixtures` counts the answered ones.
        detail = f"{last.failed} of {last.fixtures + last.failed} fixtures got no answer in the last poll."
        fix = "The pages of those matches say why. Check the key and its daily limit at api-football.com."
        return PartHealth("fixtures", HealthState.WARNING, detail, fix, since=last.started_at)
    detail = f"{last.fixtures} fixtures in the last poll. {requests}".strip()
    return PartHealth("fixtures", HealthState.OK, detail, since=last.started_at)


def clock_parts(budget: RequestBudget) -> Sequence[PartHealth]:
    """Say so when our clock and that of a service differ: a fast clock makes every new post look old."""
    if budget.clock_ahead_seconds is None:
        return ()
    seconds = round(abs(budget.clock_ahead.total_seconds()))
    if not seconds:
        return (PartHealth("clock", HealthState.OK, f"It agrees with the clock of {budget.clock_by}."),)
    word = "ahead of" if budget.clock_ahead_seconds > 0 else "behind"
    detail = f"This machine's clock is {seconds} s {word} the clock of {budget.clock_by}."
    fix = "Set the clock, best by NTP (`timedatectl set-ntp true`). Until then searches look further back."
    return (PartHealth("clock", HealthState.WARNING, detail, fix),)


def describe_requests(budget: RequestBudget, now: datetime) -> str:
    """What the API's plan leaves, and what we do about it."""
    parts = []
    left = budget.left_on(now)
    if left is not None:
        plan = f" (plan {budget.plan})" if budget.plan else ""
        parts.append(f"{left:,} of {budget.day_limit or left:,} requests are left today{plan}.")
    if budget.is_paused(now) and budget.paused_until is not None:
        parts.append(f"{budget.pause_reason} Not asked again before {budget.paused_until:%H:%M} UTC.")
    elif budget.is_slowed(now) and budget.poll_seconds is not None:
        parts.append(f"To make them last, live matches are polled every {round(budget.poll_seconds)} s.")
    if budget.refuses_ids(now):
        parts.append("The plan refuses several ids at once, so the list of all live matches is asked for.")
    return " ".join(parts)


def _advise(budget: RequestBudget) -> str:
    if budget.pause_needs_change:
        return "Look at the account at dashboard.api-football.com, then correct the key in the settings."
    return "Requests are given anew at 00:00 UTC. Follow fewer leagues, or take a larger plan at api-football.com."


def source_part(source: SourceView, now: datetime) -> PartHealth:
    name = f"clips: {source.source}"
    if source.failure:
        fix = f"See docs/footy.md for {source.source}. The other sources are still searched."
        return PartHealth(name, HealthState.WARNING, source.failure, fix, since=source.worked_at)
    if source.source in BILLING:
        # It is tried by the searches for goals only, so it may be quiet for days.
        return PartHealth(name, HealthState.OK, f"Its last search found {source.found}.", since=source.worked_at)
    if now - source.checked_at > CANARY_LIFE:
        detail = "Its canary search has not run for a while."
        return PartHealth(name, HealthState.WARNING, detail, "Check the schedule footy-upkeep.", since=source.worked_at)
    return PartHealth(name, HealthState.OK, f"Its last search found {source.found}.", since=source.worked_at)
