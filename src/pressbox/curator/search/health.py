"""What the status page says of the search."""

from collections.abc import Sequence

from pressbox.core.app import Resources
from pressbox.core.errors import PressboxError
from pressbox.core.health import HealthState, PartHealth
from pressbox.curator.search.ports import SearchReader

# Any word will do: a broken index says so whatever is looked for.
CANARY = "news"


async def check_search(resources: Resources) -> Sequence[PartHealth]:
    from pressbox.curator.search.wiring import search_reader

    return (await search_part(search_reader(resources)),)


async def search_part(search: SearchReader) -> PartHealth:
    try:
        await search.search(CANARY, None, 1, 0, False)
    except PressboxError as error:
        return PartHealth(
            "search", HealthState.WARNING, error.message, "Build it anew with `pressbox trigger reindex --clean`."
        )
    return PartHealth("search", HealthState.OK, "The search index answers.")
