"""What the status page says of the reader: feeds that fail, its search, and what models may still use today."""

from collections.abc import Awaitable, Callable, Sequence

from pressbox.core.app import Resources
from pressbox.core.errors import PressboxError
from pressbox.core.health import HealthState, PartHealth
from pressbox.curator.library.domain.views import BudgetView, FeedView
from pressbox.curator.reading.access import MakeService
from pressbox.curator.search.ports import SearchReader
from pressbox.curator.settings import CuratorSettings

NAMED = 3
# Any word will do: a broken index says so whatever is looked for.
CANARY = "news"

MakeSearch = Callable[[Resources], SearchReader]


def build_health(make: MakeService, search: MakeSearch) -> Callable[[Resources], Awaitable[Sequence[PartHealth]]]:
    async def health(resources: Resources) -> Sequence[PartHealth]:
        service = make(resources)
        feeds = await service.sources.everything()
        parts = [feeds_part(feeds), await search_part(search(resources))]
        if resources.settings.group(CuratorSettings).model_name:
            parts.append(budget_part(await service.work.budget()))
        return parts

    return health


def feeds_part(feeds: Sequence[FeedView]) -> PartHealth:
    """Other people's servers: that some fail is usual, and is said with their names."""
    failing = [feed for feed in feeds if feed.health.failing and feed.paused_at is None]
    if not failing:
        return PartHealth("feeds", HealthState.OK, f"{len(feeds)} feeds, all of them answer." if feeds else "No feeds.")
    names = ", ".join(feed.title for feed in failing[:NAMED])
    more = f" and {len(failing) - NAMED} more" if len(failing) > NAMED else ""
    since = min((feed.health.failing_since for feed in failing if feed.health.failing_since), default=None)
    detail = f"{len(failing)} of {len(feeds)} feeds fail: {names}{more}."
    fix = "The page of each source says why and when it is tried again; `pressbox feeds health` lists them."
    return PartHealth("feeds", HealthState.WARNING, detail, fix, since=since)


async def search_part(search: SearchReader) -> PartHealth:
    try:
        await search.search(CANARY, None, 1, 0, False)
    except PressboxError as error:
        return PartHealth(
            "search", HealthState.WARNING, error.message, "Build it anew with `pressbox trigger reindex --clean`."
        )
    return PartHealth("search", HealthState.OK, "The search index answers.")


def budget_part(budget: BudgetView) -> PartHealth:
    """Nothing is broken when it is used up: it was meant so, and somebody may wonder what everything waits for."""
    used = f"{budget.tokens_today:,} of {budget.tokens_per_day:,} tokens of today are used"
    if not budget.used_up:
        return PartHealth("models", HealthState.OK, f"{used}.")
    detail = f"{used}. What needs a model waits until {budget.resumes_at:%H:%M} UTC and then goes on by itself."
    fix = "Wait, or set PRESSBOX_CURATOR_TOKENS_PER_DAY to more and restart; `/reader/costs` shows what used them."
    return PartHealth("models", HealthState.WARNING, detail, fix)
