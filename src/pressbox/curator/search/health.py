"""What the status page says of the search."""

from collections.abc import Sequence

from pressbox.core.app import Resources
from pressbox.core.errors import PressboxError
from pressbox.core.health import HealthState, PartHealth
from pressbox.curator.search.domain.identity import IndexCondition
from pressbox.curator.search.service import MESSAGES, ArticleSearch

# Any word will do: a broken index says so whatever is looked for.
CANARY = "news"
ADVICE = (
    "It rebuilds itself within minutes. If this stays, look whether web and the worker of curator-index use the same "
    "folder (PRESSBOX_CURATOR_INDEX_PATH)."
)


async def check_search(resources: Resources) -> Sequence[PartHealth]:
    from pressbox.curator.search.wiring import article_search

    return (await search_part(article_search(resources)),)


async def search_part(search: ArticleSearch) -> PartHealth:
    try:
        condition = await search.find_condition()
        if condition.usable:
            await search.search(CANARY, None, 1, 0, False)
    except PressboxError as error:
        return PartHealth("search", HealthState.WARNING, error.message, ADVICE)
    if condition is IndexCondition.EMPTY:
        return PartHealth("search", HealthState.OK, "Nothing is indexed yet.")
    if condition in MESSAGES:
        return PartHealth("search", HealthState.WARNING, MESSAGES[condition], ADVICE)
    return PartHealth("search", HealthState.OK, "The search index answers.")
