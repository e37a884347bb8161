"""Searches the index by parsed queries: always the newest commit of the generation in use.

There are three steps of tolerance: the words as they are, then also as prefixes, then also with a typo. Scores have
tiers, so that a hit of an earlier step comes before one of a later step. Inside a tier the title counts most.
"""

import asyncio
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from pressbox.core.errors import TransientError
from pressbox.curator.search.domain.highlights import Highlighter, show_hit
from pressbox.curator.search.domain.passages import stem
from pressbox.curator.search.domain.query import (
    Clause,
    Field,
    SearchQuery,
    Tolerance,
    allows_prefix,
    allows_prefix_typo,
    allows_typo,
    is_one_character,
    next_tolerance,
    parse_query,
    positioned_terms,
)
from pressbox.curator.search.index.folder import (
    AUTHOR,
    CONTENT,
    FEED,
    FEED_CONTENT,
    ID,
    PUBLISHED,
    SHOWN,
    SUMMARY,
    TITLE,
    WORDS,
    IndexFolder,
    map_errors,
    read_stored,
)
from pressbox.curator.search.ports import FoundIndex, Hit, Ranking, SearchScope
from pressbox.curator.text.words import Word

if TYPE_CHECKING:
    import tantivy

WEIGHTS = {
    Field.ANY: {TITLE: 5.0, SUMMARY: 2.0, CONTENT: 1.0, FEED_CONTENT: 1.0, AUTHOR: 2.0},
    Field.TITLE: {TITLE: 5.0},
    Field.AUTHOR: {AUTHOR: 2.0},
}
# For questions: where a word is in several fields, the best one counts most.
QUESTION_WEIGHTS = {TITLE: 2.0, SUMMARY: 1.2, CONTENT: 1.0, FEED_CONTENT: 1.0}
TIE = 0.2
# About the score of a common word: another form of a word is a hint, not a hit.
STEM_SCORE = 1.5
# No score inside a tier reaches the next one.
TIER = 500.0


class QueryBuilder:
    """Builds queries for the schema of one index."""

    def __init__(
        self, schema: "tantivy.Schema", feed_ids: Sequence[int] | None, entry_ids: Sequence[int] | None = None
    ) -> None:
        self._schema = schema
        self._among = {FEED: feed_ids, ID: entry_ids}

    def build(self, query: SearchQuery, tolerance: Tolerance) -> "tantivy.Query":
        return self._restrict(query, self._all([self._clause(clause, tolerance) for clause in query.included]))

    def build_any(self, terms: Sequence[str]) -> "tantivy.Query":
        """Match whatever has one of the terms, or another form of it; more and rarer terms score higher."""
        import tantivy

        queries = []
        for term in terms:
            exact = [
                tantivy.Query.boost_query(tantivy.Query.term_query(self._schema, name, term, "freq"), weight)
                for name, weight in QUESTION_WEIGHTS.items()
            ]
            queries.append(tantivy.Query.disjunction_max_query(exact, TIE))
            if root := stem(term):
                queries.append(self._tier(self._prefix(WORDS, root), STEM_SCORE))
        return self._restrict(SearchQuery(()), self._any(queries))

    def _restrict(self, query: SearchQuery, wanted: "tantivy.Query") -> "tantivy.Query":
        """Add what must not be there, the feeds, and a bonus for words in the typed order."""
        import tantivy

        parts = [(tantivy.Occur.Must, wanted)]
        parts += [(tantivy.Occur.Should, one) for one in self._phrases(query)]
        parts += [(tantivy.Occur.MustNot, self._exact(clause)) for clause in query.excluded]
        for field, numbers in self._among.items():
            if numbers is not None:
                among = tantivy.Query.term_set_query(self._schema, field, list(numbers))
                parts.append((tantivy.Occur.Must, self._tier(among, 0.0)))
        return tantivy.Query.boolean_query(parts)

    def _phrases(self, query: SearchQuery) -> "Sequence[tantivy.Query]":
        """Words that were typed one after the other score higher where a text has them so."""
        import tantivy

        plain = [clause for clause in query.included if clause.field is Field.ANY and len(clause.words) == 1]
        terms = [clause.words[0].text for clause in plain if not clause.words[0].unspaced]
        if len(terms) < 2 or len(terms) != len(query.included):
            return ()
        return [
            tantivy.Query.boost_query(tantivy.Query.phrase_query(self._schema, name, list(terms)), weight)
            for name, weight in ((TITLE, 5.0), (CONTENT, 2.0))
        ]

    def _clause(self, clause: Clause, tolerance: Tolerance) -> "tantivy.Query":
        exact, tolerant = self._exact(clause), []
        if tolerance >= Tolerance.PREFIXES and not clause.exact and allows_prefix(clause.words[-1]):
            tolerant.append(self._tier(self._with_prefix(clause), TIER))
        typos = tolerance >= (Tolerance.TYPOS_IN_QUOTES if clause.exact else Tolerance.TYPOS)
        if typos and any(allows_typo(word) for word in clause.words):
            tolerant.append(self._tier(self._all([self._with_typo(word, clause.field) for word in clause.words]), 1.0))
        # The exact query alone needs no tiers.
        return self._any([exact, self._tier(self._unscored(clause) or exact, TIER), *tolerant]) if tolerant else exact

    def _exact(self, clause: Clause) -> "tantivy.Query":
        import tantivy

        return self._any(
            [
                tantivy.Query.boost_query(self._exact_in(name, clause), weight)
                for name, weight in WEIGHTS[clause.field].items()
            ]
        )

    def _unscored(self, clause: Clause) -> "tantivy.Query | None":
        """Match the same documents as `_exact`, but cheaply and without a score, for one word in any field."""
        if clause.field is not Field.ANY or len(clause.words) > 1 or clause.words[0].unspaced:
            return None
        return self._exact_in(WORDS, clause)

    def _exact_in(self, name: str, clause: Clause) -> "tantivy.Query":
        import tantivy

        if is_one_character(clause):
            return self._prefix(name, clause.words[0].text)
        terms = positioned_terms(clause)
        if len(terms) == 1:
            option = "basic" if name == WORDS else "position"
            return tantivy.Query.term_query(self._schema, name, terms[0][1], option)
        return tantivy.Query.phrase_query(self._schema, name, list(terms))

    def _with_prefix(self, clause: Clause) -> "tantivy.Query":
        """Match German compounds, plurals and half-typed words."""
        import tantivy

        terms = positioned_terms(clause)
        if len(terms) == 1:
            return self._prefix(_dictionary(clause.field), terms[0][1])
        return self._any(
            [tantivy.Query.phrase_prefix_query(self._schema, name, list(terms)) for name in WEIGHTS[clause.field]]
        )

    def _with_typo(self, word: Word, field: Field) -> "tantivy.Query":
        import tantivy

        if not allows_typo(word):
            return self._exact(Clause((Word(word.text, 0, word.unspaced),), field=field))
        return tantivy.Query.fuzzy_term_query(
            self._schema, _dictionary(field), word.text, prefix=allows_prefix_typo(word)
        )

    def _prefix(self, name: str, text: str) -> "tantivy.Query":
        import tantivy

        # This takes a quarter of the time of a pattern.
        return tantivy.Query.fuzzy_term_query(self._schema, name, text, distance=0, prefix=True)

    def _tier(self, query: "tantivy.Query", score: float) -> "tantivy.Query":
        import tantivy

        return tantivy.Query.const_score_query(query, score)

    def _any(self, queries: "Sequence[tantivy.Query]") -> "tantivy.Query":
        import tantivy

        return tantivy.Query.boolean_query([(tantivy.Occur.Should, query) for query in queries])

    def _all(self, queries: "Sequence[tantivy.Query]") -> "tantivy.Query":
        """Match all queries; without any, everything: `-word` alone means all but that."""
        import tantivy

        if not queries:
            return tantivy.Query.all_query()
        return tantivy.Query.boolean_query([(tantivy.Occur.Must, query) for query in queries])


def _dictionary(field: Field) -> str:
    """Return the index field in which prefixes and typos are searched."""
    (name, *others) = WEIGHTS[field]
    return WORDS if others else name


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

    async def rank(self, scope: SearchScope, limit: int) -> Ranking:
        """Return the ids of the first entries and the number of all hits, without reading their texts."""
        parsed = parse_query(scope.query)
        if not parsed.clauses or scope.is_empty:
            return Ranking(scope, (), 0)
        return await asyncio.to_thread(self._rank, scope, parsed, max(1, limit))

    async def show(self, ranking: Ranking, entry_ids: Sequence[int]) -> Sequence[Hit]:
        """Return these entries of a ranking with their highlights; those that are gone meanwhile are left out."""
        return await asyncio.to_thread(self._show, ranking, entry_ids) if entry_ids else ()

    async def search(self, scope: SearchScope, limit: int, offset: int = 0) -> tuple[Sequence[Hit], int]:
        """Return a page of hits and the number of all hits."""
        parsed = parse_query(scope.query)
        if not parsed.clauses or scope.is_empty:
            return NO_HITS
        return await asyncio.to_thread(self._search, scope, parsed, max(1, limit), max(0, offset))

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

    def _rank(self, scope: SearchScope, query: SearchQuery, limit: int) -> Ranking:
        index = self._open_newest()
        if index is None:
            return Ranking(scope, (), 0)
        with map_errors():
            searcher = index.searcher()
            found = _search_page(searcher, index.schema, scope, query, limit, 0)
            entry_ids = _entry_ids(searcher, [address for _, address in found.hits])
            return Ranking(scope, entry_ids, found.total, typos=found.tolerance >= Tolerance.TYPOS)

    def _show(self, ranking: Ranking, entry_ids: Sequence[int]) -> Sequence[Hit]:
        import tantivy

        index = self._open_newest()
        if index is None:
            return ()
        with map_errors():
            searcher = index.searcher()
            wanted = tantivy.Query.term_set_query(index.schema, ID, list(entry_ids))
            addresses = [address for _, address in searcher.search(wanted, len(entry_ids), count=False).hits]
            highlighter = Highlighter(parse_query(ranking.scope.query), typos=ranking.typos)
            hits = {hit.entry_id: hit for hit in (_hit(searcher, address, 0.0, highlighter) for address in addresses)}
            return [hits[entry_id] for entry_id in entry_ids if entry_id in hits]

    def _search(self, scope: SearchScope, query: SearchQuery, limit: int, offset: int) -> tuple[Sequence[Hit], int]:
        index = self._open_newest()
        if index is None:
            return NO_HITS
        with map_errors():
            searcher = index.searcher()
            found = _search_page(searcher, index.schema, scope, query, limit, offset)
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
    schema: "tantivy.Schema",
    scope: SearchScope,
    query: SearchQuery,
    limit: int,
    offset: int,
) -> _Results:
    """Take a later step of tolerance only when the one before finds little."""

    builder = QueryBuilder(schema, scope.feed_ids, scope.entry_ids)

    def page(tolerance: Tolerance) -> _Results:
        order = PUBLISHED if scope.newest_first else None
        built = builder.build(query, tolerance)
        found = searcher.search(built, limit, count=True, order_by_field=order, offset=min(offset, LARGEST_OFFSET))
        # Ordered by time, the value is a time and not a score.
        hits = [(0.0 if scope.newest_first else float(value), address) for value, address in found.hits]
        # The type stub of the package lacks the count.
        return _Results([] if offset > LARGEST_OFFSET else hits, int(getattr(found, "count", 0) or 0), tolerance)

    found = page(Tolerance.EXACT)
    while (step := next_tolerance(query, found.tolerance, found.total)) is not None:
        found = page(step)
    return found


def _entry_ids(searcher: "tantivy.Searcher", addresses: "Sequence[tantivy.DocAddress]") -> Sequence[int]:
    return [int(number) for number in searcher.fast_field_values(ID, list(addresses)) if number is not None]


def _hit(searcher: "tantivy.Searcher", address: "tantivy.DocAddress", score: float, highlighter: Highlighter) -> Hit:
    document = searcher.doc(address)
    shown = read_stored(bytes(document.get_first(SHOWN) or b""))
    entry_id = document.get_first(ID)
    assert isinstance(entry_id, int)
    return show_hit(entry_id, score, shown, highlighter)
