"""What the status page says of the reader: feeds that fail, and whether its articles can be searched."""

from collections.abc import Awaitable, Callable, Sequence

from pressbox.core.app import Resources
from pressbox.core.errors import PressboxError
from pressbox.core.health import HealthState, PartHealth
from pressbox.curator.domain.views import FeedView
from pressbox.curator.ports.storage import SearchReader
from pressbox.curator.web.access import MakeService

NAMED = 3
# Any word will do: a broken index says so whatever is looked for.
CANARY = "news"

MakeSearch = Callable[[Resources], SearchReader]


def build_health(make: MakeService, search: MakeSearch) -> Callable[[Resources], Awaitable[Sequence[PartHealth]]]:
    async def health(resources: Resources) -> Sequence[PartHealth]:
        feeds = await make(resources).sources.everything()
        return feeds_part(feeds), await search_part(search(resources))

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
