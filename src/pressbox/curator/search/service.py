"""Searching for people: an index that lacks articles says so instead of finding nothing."""

from collections.abc import Awaitable, Callable, Sequence

from pressbox.core.errors import TransientError
from pressbox.core.logs import get_logger
from pressbox.curator.search.domain.identity import DamagedIndexError, IndexCondition, compare_generations
from pressbox.curator.search.index.reader import TantivyReader
from pressbox.curator.search.ports import Hit
from pressbox.curator.search.store import SqlIndexStore

log = get_logger(__name__)

# Has the writer look at the index now, and not when the next round begins.
RequestCheck = Callable[[], Awaitable[None]]

MESSAGES = {
    IndexCondition.INCOMPLETE: "The search index is being rebuilt: not every article can be found yet.",
    IndexCondition.MISSING: "The search index is missing where this process looks for it. It rebuilds itself.",
    IndexCondition.FOREIGN: "The search index is not the one that this database knows. It rebuilds itself.",
}


class ArticleSearch:
    """Searches the index on disk, and asks for it to be checked when something is wrong with it."""

    def __init__(self, reader: TantivyReader, store: SqlIndexStore, request_check: RequestCheck | None = None) -> None:
        self._reader = reader
        self._store = store
        self._request_check = request_check

    async def search(
        self,
        query: str,
        feed_ids: Sequence[int] | None,
        limit: int,
        offset: int,
        newest_first: bool,
        entry_ids: Sequence[int] | None = None,
    ) -> tuple[Sequence[Hit], int]:
        """Return a page of hits and their number; raise TransientError where "nothing" might not be true."""
        try:
            hits, total = await self._reader.search(query, feed_ids, limit, offset, newest_first, entry_ids)
        except DamagedIndexError:
            await self._doubt_index()
            raise
        if not total:
            await self._require_complete()
        return hits, total

    async def search_any(self, terms: Sequence[str], feed_ids: Sequence[int], limit: int) -> Sequence[int]:
        """Return entries that have some of these terms; none without a usable index: meaning answers questions too."""
        try:
            found = await self._reader.search_any(terms, feed_ids, limit)
            if found or (await self.find_condition()).usable:
                return found
        except DamagedIndexError as error:
            log.warning("index_damaged", msg=error.message)
        await self._doubt_index()
        return ()

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
