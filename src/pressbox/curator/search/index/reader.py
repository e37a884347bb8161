"""The search index as web processes see it: always the newest commit of the generation in use, written by another."""

import asyncio
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from pressbox.core.errors import TransientError
from pressbox.curator.search.domain.highlights import Highlighter, Marked, snippet_html, whole_html
from pressbox.curator.search.domain.query import Field, SearchQuery, may_be_misspelt, may_begin_a_word, parse_query
from pressbox.curator.search.index.errors import index_trouble
from pressbox.curator.search.index.folder import IndexFolder
from pressbox.curator.search.index.queries import QueryBuilder, Tolerance
from pressbox.curator.search.index.schema import ID, PUBLISHED, SHOWN, Shown, shown_from
from pressbox.curator.search.ports import Hit

if TYPE_CHECKING:
    import tantivy

# With fewer hits than this for the words as they were typed, longer words that begin with them count too; with fewer
# than that, words that are nearly the same. Both cost more and mean less.
ENOUGH_EXACT = 100
ENOUGH = 10
# Nobody turns to page one thousand, and a top list of that length costs memory.
FURTHEST = 10_000

NOTHING: tuple[tuple[Hit, ...], int] = ((), 0)


@dataclass(frozen=True)
class _Opened:
    name: str
    stamp: tuple[int, int, int]
    index: "tantivy.Index"


@dataclass(frozen=True)
class _Found:
    hits: "Sequence[tuple[float, tantivy.DocAddress]]"
    total: int
    tolerance: Tolerance


class TantivyReader:
    def __init__(self, path: Path) -> None:
        self._folder = IndexFolder(path)
        self._opening = threading.Lock()
        self._opened: _Opened | None = None

    async def search(
        self, query: str, feed_ids: Sequence[int] | None, limit: int, offset: int, newest_first: bool
    ) -> tuple[Sequence[Hit], int]:
        """Hits and how many there are in all. `feed_ids` None searches all feeds; nothing indexed yet finds nothing."""
        parsed = parse_query(query)
        if not parsed.clauses or (feed_ids is not None and not feed_ids):
            return NOTHING
        return await asyncio.to_thread(self._search, parsed, feed_ids, max(1, limit), max(0, offset), newest_first)

    async def any_of(self, terms: Sequence[str], feed_ids: Sequence[int], limit: int) -> Sequence[int]:
        """Entries that have some of these terms, best first: for questions, whose words nobody chose to search by."""
        if not terms or not feed_ids:
            return ()
        return await asyncio.to_thread(self._any_of, terms, feed_ids, limit)

    def _any_of(self, terms: Sequence[str], feed_ids: Sequence[int], limit: int) -> Sequence[int]:
        index = self._newest()
        if index is None:
            return ()
        with index_trouble():
            searcher = index.searcher()
            found = searcher.search(QueryBuilder(index.schema, feed_ids).any_of(terms), limit, count=False)
            return [int(searcher.doc(address).get_first(ID) or 0) for _, address in found.hits]

    def _search(
        self, query: SearchQuery, feed_ids: Sequence[int] | None, limit: int, offset: int, newest_first: bool
    ) -> tuple[Sequence[Hit], int]:
        index = self._newest()
        if index is None:
            return NOTHING
        with index_trouble():
            searcher = index.searcher()
            found = _found(searcher, QueryBuilder(index.schema, feed_ids), query, limit, offset, newest_first)
            highlighter = Highlighter(query, slips=found.tolerance >= Tolerance.SLIPS)
            return [_hit(searcher, address, score, highlighter) for score, address in found.hits], found.total

    def _newest(self) -> "tantivy.Index | None":
        """The newest commit. Which one that is costs two looks at the file system, and no thread that polls."""
        with self._opening:
            try:
                return self._refreshed()
            except TransientError:
                # Perhaps the generation was swapped away between the look at the pointer and the opening.
                self._opened = None
                return self._refreshed()

    def _refreshed(self) -> "tantivy.Index | None":
        import tantivy

        name = self._folder.current()
        if name is None:
            return None
        path = self._folder.checked(name)
        with index_trouble():
            facts = (path / "meta.json").stat()
            stamp = (facts.st_ino, facts.st_mtime_ns, facts.st_size)
            if self._opened is None or self._opened.name != name:
                index = tantivy.Index.open(str(path))
                index.config_reader("manual")
                index.reload()
                self._opened = _Opened(name, stamp, index)
            elif self._opened.stamp != stamp:
                self._opened.index.reload()
                self._opened = _Opened(name, stamp, self._opened.index)
            return self._opened.index


def _found(
    searcher: "tantivy.Searcher",
    builder: QueryBuilder,
    query: SearchQuery,
    limit: int,
    offset: int,
    newest_first: bool,
) -> _Found:
    """A later step of tolerance is only taken when the one before found little."""

    def page(tolerance: Tolerance) -> _Found:
        order = PUBLISHED if newest_first else None
        built = builder.build(query, tolerance)
        found = searcher.search(built, limit, count=True, order_by_field=order, offset=min(offset, FURTHEST))
        # Ordered by time, the value is a time and says nothing of how well it fits.
        hits = [(0.0 if newest_first else float(value), address) for value, address in found.hits]
        # The stub of the package does not know that a result has a count.
        return _Found([] if offset > FURTHEST else hits, int(getattr(found, "count", 0) or 0), tolerance)

    words = [word for clause in query.wanted for word in clause.words]
    found = page(Tolerance.EXACT)
    if found.total < ENOUGH_EXACT and any(may_begin_a_word(word) for word in words):
        found = page(Tolerance.BEGINNINGS)
        if found.total < ENOUGH and any(may_be_misspelt(word) for word in words):
            found = page(Tolerance.SLIPS if found.total else Tolerance.SLIPS_IN_QUOTES)
    return found


def _hit(searcher: "tantivy.Searcher", address: "tantivy.DocAddress", score: float, highlighter: Highlighter) -> Hit:
    document = searcher.doc(address)
    shown = shown_from(bytes(document.get_first(SHOWN) or b""))
    entry_id = document.get_first(ID)
    assert isinstance(entry_id, int)
    title = whole_html(highlighter.marked(shown.title, Field.TITLE))
    return Hit(entry_id, score, title, snippet_html(_passage(shown, highlighter)))


def _passage(shown: Shown, highlighter: Highlighter) -> Marked:
    """The text in which most words of the query stand; the summary when it is none."""
    best = Marked(shown.summary or shown.content or shown.feed_content, ())
    for text in filter(None, (shown.content, shown.summary, shown.feed_content)):
        marked = highlighter.marked(text)
        if len(marked.clauses) > len(best.clauses):
            best = marked
        if len(best.clauses) == highlighter.clauses:
            break
    return best
