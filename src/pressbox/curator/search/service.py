"""Searching for people, and what the status page says of it: an index that lacks articles says so."""

from collections.abc import Awaitable, Callable, Sequence

from pressbox.core.app import Resources
from pressbox.core.errors import PressboxError, TransientError
from pressbox.core.health import HealthState, PartHealth
from pressbox.curator.search.ports import (
    DamagedIndexError,
    Hit,
    IndexCondition,
    IndexReader,
    Ranking,
    SearchScope,
    compare_generations,
)
from pressbox.curator.search.store import SqlIndexStore

# Has the writer look at the index now, and not when the next round begins.
RequestCheck = Callable[[], Awaitable[None]]

MESSAGES = {
    IndexCondition.INCOMPLETE: "The search index is being rebuilt: not every article can be found yet.",
    IndexCondition.MISSING: "The search index is missing where this process looks for it. It rebuilds itself.",
    IndexCondition.FOREIGN: "The search index is not the one that this database knows. It rebuilds itself.",
}


class ArticleSearch:
    """Searches the index, and asks for it to be checked when something is wrong with it."""

    def __init__(self, reader: IndexReader, store: SqlIndexStore, request_check: RequestCheck | None = None) -> None:
        self._reader = reader
        self._store = store
        self._request_check = request_check

    async def rank(self, scope: SearchScope, limit: int) -> Ranking:
        """Find entries without their texts; raise TransientError where "nothing" might not be true."""
        try:
            ranking = await self._reader.rank(scope, limit)
        except DamagedIndexError:
            await self._doubt_index()
            raise
        if not ranking.total:
            await self._require_complete()
        return ranking

    async def show(self, ranking: Ranking, entry_ids: Sequence[int]) -> Sequence[Hit]:
        return await self._reader.show(ranking, entry_ids)

    async def search(self, scope: SearchScope, limit: int, offset: int = 0) -> tuple[Sequence[Hit], int]:
        """Return a page of hits, every copy of a story among them, and their number."""
        ranking = await self.rank(scope, limit + offset)
        return await self.show(ranking, ranking.entry_ids[offset:]), ranking.total

    async def search_any(self, terms: Sequence[str], feed_ids: Sequence[int], limit: int) -> Sequence[int]:
        """Return entries that have some of these terms; raise TransientError without a usable index."""
        try:
            found = await self._reader.search_any(terms, feed_ids, limit)
        except DamagedIndexError:
            await self._doubt_index()
            raise
        condition = IndexCondition.GOOD if found else await self.find_condition()
        if not condition.usable:
            await self._doubt_index()
            raise TransientError(MESSAGES[condition])
        return found

    async def find_condition(self) -> IndexCondition:
        condition = await self._compare()
        # The writer switches the folder a moment before the database: look again before telling anybody.
        return condition if condition.usable else await self._compare()

    async def _require_complete(self) -> None:
        condition = await self.find_condition()
        if condition not in MESSAGES:
            return
        if not condition.usable:
            await self._doubt_index()
        raise TransientError(f"{MESSAGES[condition]} Search again in a few minutes.")

    async def _doubt_index(self) -> None:
        if await self._store.doubt_index() and self._request_check is not None:
            await self._request_check()

    async def _compare(self) -> IndexCondition:
        found = await self._reader.find()
        return compare_generations(await self._store.known_index(), found)


# Any word will do: a broken index says so whatever is looked for.
CANARY = "news"
ADVICE = (
    "It rebuilds itself within minutes. If this stays, look whether web and the workers of curator-index and "
    "curator-heavy have the same PRESSBOX_CURATOR_INDEX and, with tantivy, share its folder "
    "(PRESSBOX_CURATOR_INDEX_PATH)."
)


async def check_search(resources: Resources) -> Sequence[PartHealth]:
    from pressbox.curator.search.wiring import article_search

    return (await search_part(article_search(resources)),)


async def search_part(search: ArticleSearch) -> PartHealth:
    try:
        condition = await search.find_condition()
        if condition.usable:
            await search.search(SearchScope(CANARY), 1)
    except PressboxError as error:
        return PartHealth("search", HealthState.WARNING, error.message, ADVICE)
    if condition is IndexCondition.EMPTY:
        return PartHealth("search", HealthState.OK, "Nothing is indexed yet.")
    if condition in MESSAGES:
        return PartHealth("search", HealthState.WARNING, MESSAGES[condition], ADVICE)
    return PartHealth("search", HealthState.OK, "The search index answers.")
