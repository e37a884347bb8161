"""Searches the index: always the newest commit of the generation in use, which another process writes."""

import asyncio
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from pressbox.core.errors import TransientError
from pressbox.curator.search.domain.highlights import Highlighter, Highlights, snippet_html, text_html
from pressbox.curator.search.domain.identity import FoundIndex
from pressbox.curator.search.domain.query import Field, SearchQuery, allows_prefix, allows_typo, parse_query
from pressbox.curator.search.index.folder import IndexFolder, map_errors
from pressbox.curator.search.index.queries import QueryBuilder, Tolerance
from pressbox.curator.search.index.schema import ID, PUBLISHED, SHOWN, StoredText, read_stored
from pressbox.curator.search.ports import Hit

if TYPE_CHECKING:
    import tantivy

# With fewer exact hits than this, prefixes count too; with fewer hits than that, words with a typo as well. Both are
# slower and less relevant.
ENOUGH_EXACT = 100
ENOUGH = 10
# Nobody turns to page one thousand, and a list of that length costs memory.
LARGEST_OFFSET = 10_000

NO_HITS: tuple[tuple[Hit, ...], int] = ((), 0)


@dataclass(frozen=True)
class _OpenIndex:
    name: str
    stamp: tuple[int, int, int]
    index: "tantivy.Index"


@dataclass(frozen=True)
class _Results:
    hits: "Sequence[tuple[float, tantivy.DocAddress]]"
    total: int
    tolerance: Tolerance


class TantivyReader:
    def __init__(self, path: Path) -> None:
        self._folder = IndexFolder(path)
        self._opening = threading.Lock()
        self._opened: _OpenIndex | None = None

    async def search(
        self,
        query: str,
        feed_ids: Sequence[int] | None,
        limit: int,
        offset: int,
        newest_first: bool,
        entry_ids: Sequence[int] | None = None,
    ) -> tuple[Sequence[Hit], int]:
        """Return a page of hits and the number of all hits, among these feeds or entries when they are given."""
        parsed = parse_query(query)
        if not parsed.clauses or any(numbers is not None and not numbers for numbers in (feed_ids, entry_ids)):
            return NO_HITS
        return await asyncio.to_thread(
            self._search, parsed, feed_ids, entry_ids, max(1, limit), max(0, offset), newest_first
        )

    async def search_any(self, terms: Sequence[str], feed_ids: Sequence[int], limit: int) -> Sequence[int]:
        """Return entries that have some of these terms, best first. For questions, which are not typed as queries."""
        if not terms or not feed_ids:
            return ()
        return await asyncio.to_thread(self._search_any, terms, feed_ids, limit)

    async def find(self) -> FoundIndex | None:
        """Return which index is on disk."""
        return await asyncio.to_thread(self._folder.find)

    def _search_any(self, terms: Sequence[str], feed_ids: Sequence[int], limit: int) -> Sequence[int]:
        index = self._open_newest()
        if index is None:
            return ()
        with map_errors():
            searcher = index.searcher()
            found = searcher.search(QueryBuilder(index.schema, feed_ids).build_any(terms), limit, count=False)
            return [int(searcher.doc(address).get_first(ID) or 0) for _, address in found.hits]

    def _search(
        self,
        query: SearchQuery,
        feed_ids: Sequence[int] | None,
        entry_ids: Sequence[int] | None,
        limit: int,
        offset: int,
        newest_first: bool,
    ) -> tuple[Sequence[Hit], int]:
        index = self._open_newest()
        if index is None:
            return NO_HITS
        with map_errors():
            searcher = index.searcher()
            builder = QueryBuilder(index.schema, feed_ids, entry_ids)
            found = _search_page(searcher, builder, query, limit, offset, newest_first)
            highlighter = Highlighter(query, typos=found.tolerance >= Tolerance.TYPOS)
            return [_hit(searcher, address, score, highlighter) for score, address in found.hits], found.total

    def _open_newest(self) -> "tantivy.Index | None":
        """Open the newest commit. To know which one it is takes two file system calls and no polling thread."""
        with self._opening:
            try:
                return self._refresh()
            except TransientError:
                # The generation may have been replaced after its pointer was read.
                self._opened = None
                return self._refresh()

    def _refresh(self) -> "tantivy.Index | None":
        import tantivy

        name = self._folder.current()
        if name is None:
            return None
        path = self._folder.open_generation(name)
        with map_errors():
            facts = (path / "meta.json").stat()
            stamp = (facts.st_ino, facts.st_mtime_ns, facts.st_size)
            if self._opened is None or self._opened.name != name:
                index = tantivy.Index.open(str(path))
                index.config_reader("manual")
                index.reload()
                self._opened = _OpenIndex(name, stamp, index)
            elif self._opened.stamp != stamp:
                self._opened.index.reload()
                self._opened = _OpenIndex(name, stamp, self._opened.index)
            return self._opened.index


def _search_page(
    searcher: "tantivy.Searcher",
    builder: QueryBuilder,
    query: SearchQuery,
    limit: int,
    offset: int,
    newest_first: bool,
) -> _Results:
    """Take a later step of tolerance only when the one before finds little."""

    def page(tolerance: Tolerance) -> _Results:
        order = PUBLISHED if newest_first else None
        built = builder.build(query, tolerance)
        found = searcher.search(built, limit, count=True, order_by_field=order, offset=min(offset, LARGEST_OFFSET))
        # Ordered by time, the value is a time and not a score.
        hits = [(0.0 if newest_first else float(value), address) for value, address in found.hits]
        # The type stub of the package lacks the count.
        return _Results([] if offset > LARGEST_OFFSET else hits, int(getattr(found, "count", 0) or 0), tolerance)

    words = [word for clause in query.included for word in clause.words]
    found = page(Tolerance.EXACT)
    if found.total < ENOUGH_EXACT and any(allows_prefix(word) for word in words):
        found = page(Tolerance.PREFIXES)
        if found.total < ENOUGH and any(allows_typo(word) for word in words):
            found = page(Tolerance.TYPOS if found.total else Tolerance.TYPOS_IN_QUOTES)
    return found


def _hit(searcher: "tantivy.Searcher", address: "tantivy.DocAddress", score: float, highlighter: Highlighter) -> Hit:
    document = searcher.doc(address)
    shown = read_stored(bytes(document.get_first(SHOWN) or b""))
    entry_id = document.get_first(ID)
    assert isinstance(entry_id, int)
    title = text_html(highlighter.find(shown.title, Field.TITLE))
    return Hit(entry_id, score, title, snippet_html(_best_text(shown, highlighter)))


def _best_text(shown: StoredText, highlighter: Highlighter) -> Highlights:
    """Return the text with most words of the query, or the summary when none has any."""
    best = Highlights(shown.summary or shown.content or shown.feed_content, ())
    for text in filter(None, (shown.content, shown.summary, shown.feed_content)):
        found = highlighter.find(text)
        if len(found.clauses) > len(best.clauses):
            best = found
        if len(best.clauses) == highlighter.clauses:
            break
    return best
