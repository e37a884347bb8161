"""Searches the tables of the index by tsqueries of our own terms: what everybody wrote, from any process."""

from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import TextClause, bindparam, text
from sqlalchemy.dialects.postgresql import ARRAY
from sqlalchemy.ext.asyncio import AsyncSession
from sqlalchemy.types import BigInteger, Float, Text

from pressbox.core.db.database import Database
from pressbox.curator.search.domain.highlights import Highlighter, show_hit, text_to_show
from pressbox.curator.search.domain.passages import stem
from pressbox.curator.search.domain.query import (
    ENOUGH_EXACT,
    Clause,
    Field,
    SearchQuery,
    Tolerance,
    allows_prefix,
    allows_prefix_typo,
    allows_typo,
    is_one_character,
    next_tolerance,
    one_typo_away,
    parse_query,
    positioned_terms,
)
from pressbox.curator.search.ports import FoundIndex, Hit, IndexDocument, Ranking, SearchScope
from pressbox.curator.search.postgres.writer import AUTHOR, TITLE, find_index, quote
from pressbox.curator.text.words import Word

_WEIGHTS = {Field.ANY: "", Field.TITLE: TITLE, Field.AUTHOR: AUTHOR}


@dataclass(frozen=True)
class Variants:
    """Words that may be meant by words with a typo: whole ones, and beginnings of longer ones."""

    whole: frozenset[str]
    beginnings: frozenset[str]


def typo_variants(query: SearchQuery) -> Variants:
    """Return all that a query may mean; most of them do not exist, so the dictionary is asked which do."""
    words = {word for clause in query.included for word in clause.words if allows_typo(word)}
    return Variants(
        frozenset(one for word in words if not allows_prefix_typo(word) for one in one_typo_away(word.text)),
        frozenset(one for word in words if allows_prefix_typo(word) for one in one_typo_away(word.text)),
    )


def build_query(query: SearchQuery, tolerance: Tolerance, existing: Collection[str] = ()) -> str:
    """`existing` are those variants that the index has; without them a word with a typo is only itself."""
    wanted = [_clause(clause, tolerance, existing) for clause in query.included]
    return " & ".join((*wanted, *(f"!({_exact(clause)})" for clause in query.excluded)))


def term_query(term: str, *, prefix: bool = False, field: Field = Field.ANY) -> str:
    marks = ("*" if prefix else "") + _WEIGHTS[field]
    return f"{quote(term)}:{marks}" if marks else quote(term)


def _clause(clause: Clause, tolerance: Tolerance, existing: Collection[str]) -> str:
    ways = [_exact(clause)]
    if tolerance >= Tolerance.PREFIXES and not clause.exact and allows_prefix(clause.words[-1]):
        ways.append(_phrase(clause, prefix=True))
    typos = tolerance >= (Tolerance.TYPOS_IN_QUOTES if clause.exact else Tolerance.TYPOS)
    if typos and any(allows_typo(word) for word in clause.words):
        ways.append(" & ".join(_with_typo(word, clause.field, existing) for word in clause.words))
    return _any(ways)


def _exact(clause: Clause) -> str:
    return _phrase(clause, prefix=is_one_character(clause))


def _phrase(clause: Clause, *, prefix: bool) -> str:
    """Return the terms one after the other; with `prefix`, the last one may be the beginning of a longer word."""
    terms = positioned_terms(clause)
    parts, before = [], 0
    for number, (position, term) in enumerate(terms):
        one = term_query(term, prefix=prefix and number == len(terms) - 1, field=clause.field)
        parts.append(f"<{position - before}> {one}" if number else one)
        before = position
    return f"({' '.join(parts)})"


def _with_typo(word: Word, field: Field, existing: Collection[str]) -> str:
    if not allows_typo(word):
        return _exact(Clause((Word(word.text, 0, word.unspaced),), field=field))
    prefix = allows_prefix_typo(word)
    meant = sorted(one_typo_away(word.text).intersection(existing)) or [word.text]
    return _any(term_query(other, prefix=prefix, field=field) for other in meant)


def _any(ways: Iterable[str]) -> str:
    return f"({' | '.join(ways)})"


# Texts are not kept twice: what a hit shows is loaded from where the entries are.
LoadDocuments = Callable[[Sequence[int]], Awaitable[Sequence[IndexDocument]]]

# Nobody turns to page one thousand, and a list of that length costs memory.
LARGEST_OFFSET = 10_000
# The best by their headings, which are then ranked by all of their words.
_RANKED = 300
_RANKED_FOR_QUESTIONS = 150
# About the score of a common word: another form of a word is a hint, not a hit.
_STEM_SCORE = 1.5

# The index decides what is read; estimates of words that nobody has counted yet would read all texts instead.
_SETTINGS = text("""
    SELECT set_config('enable_seqscan', 'off', true), set_config('plan_cache_mode', 'force_custom_plan', true),
        set_config('jit', 'off', true)
""")
_NUMBERS = [bindparam(name, type_=ARRAY(BigInteger)) for name in ("feed_ids", "entry_ids", "seen")]


def _statement(sql: str) -> TextClause:
    return text(sql).bindparams(*_NUMBERS)


# In the title five times as much as in the text, in summary and author twice.
_BY_RELEVANCE = _statement("""
    WITH hits AS MATERIALIZED (
        SELECT entry_id, published_at, ts_rank('{0.2, 0.4, 0.4, 1}', heading, CAST(:query AS tsquery)) AS heading
        FROM curator.search_documents WHERE generation = :generation AND words @@ CAST(:query AS tsquery)
            AND (CAST(:feed_ids AS bigint[]) IS NULL OR feed_id = ANY(:feed_ids))
            AND (CAST(:entry_ids AS bigint[]) IS NULL OR entry_id = ANY(:entry_ids))
            AND entry_id <> ALL(:seen)
    ), best AS (
        SELECT * FROM hits ORDER BY heading DESC, published_at DESC, entry_id LIMIT greatest(:limit, :ranked)
    )
    SELECT best.entry_id, (SELECT count(*) FROM hits) FROM best
    JOIN curator.search_documents AS d ON d.generation = :generation AND d.entry_id = best.entry_id
    ORDER BY best.heading + ts_rank('{0.2, 0.4, 0.4, 1}', d.words, CAST(:query AS tsquery), 1) DESC,
        best.published_at DESC, best.entry_id
    LIMIT :limit
""")
_NEWEST_FIRST = _statement("""
    SELECT entry_id, count(*) OVER () FROM curator.search_documents
    WHERE generation = :generation AND words @@ CAST(:query AS tsquery)
            AND (CAST(:feed_ids AS bigint[]) IS NULL OR feed_id = ANY(:feed_ids))
            AND (CAST(:entry_ids AS bigint[]) IS NULL OR entry_id = ANY(:entry_ids))
            AND entry_id <> ALL(:seen)
    ORDER BY published_at DESC, entry_id DESC LIMIT :limit
""")
# The last character there is ends the range of words with a beginning.
_EXISTING = text("""
    SELECT term FROM curator.search_terms WHERE term = ANY(:whole)
    UNION ALL
    SELECT v FROM unnest(:beginnings) AS v WHERE EXISTS (
        SELECT 1 FROM curator.search_terms WHERE term >= v COLLATE "C" AND term < (v || chr(1114111)) COLLATE "C"
    )
""").bindparams(bindparam("whole", type_=ARRAY(Text)), bindparam("beginnings", type_=ARRAY(Text)))
# Rarer words count more: by how many documents have them, as far as this person reads.
_ANY = text("""
    WITH terms AS (
        SELECT number, CAST(query AS tsquery) AS query, fixed
        FROM unnest(:queries, :fixed) WITH ORDINALITY AS t (query, fixed, number)
    ), found AS MATERIALIZED (
        SELECT t.number, t.query, t.fixed, d.entry_id FROM terms AS t CROSS JOIN LATERAL (
            SELECT entry_id FROM curator.search_documents
            WHERE generation = :generation AND words @@ t.query AND feed_id = ANY(:feed_ids)
        ) AS d
    ), counted AS (SELECT number, query, fixed, count(*) AS documents FROM found GROUP BY number, query, fixed),
    largest AS (
        SELECT greatest((SELECT reltuples FROM pg_class WHERE oid = CAST('curator.search_documents' AS regclass)),
            (SELECT max(documents) FROM counted), 1) AS documents
    ), weighed AS (
        SELECT c.number, c.query, c.fixed,
            coalesce(c.fixed, ln(1 + (l.documents - c.documents + 0.5) / (c.documents + 0.5))) AS weight
        FROM counted AS c, largest AS l
    ), best AS (
        SELECT f.entry_id, sum(w.weight) AS score FROM found AS f JOIN weighed AS w USING (number)
        GROUP BY f.entry_id ORDER BY 2 DESC, 1 DESC LIMIT :ranked
    )
    SELECT b.entry_id FROM best AS b
    JOIN curator.search_documents AS d ON d.generation = :generation AND d.entry_id = b.entry_id
    CROSS JOIN weighed AS w
    GROUP BY b.entry_id, b.score
    ORDER BY sum(CASE WHEN w.fixed IS NULL THEN w.weight * ts_rank('{0.5, 0.5, 0.6, 1}', d.words, w.query, 1)
        WHEN d.words @@ w.query THEN w.weight * 0.2 ELSE 0 END) DESC, b.entry_id DESC
    LIMIT :limit
""").bindparams(
    bindparam("queries", type_=ARRAY(Text)),
    bindparam("fixed", type_=ARRAY(Float)),
    bindparam("feed_ids", type_=ARRAY(BigInteger)),
)


class PostgresReader:
    def __init__(self, database: Database, load_documents: LoadDocuments) -> None:
        self._database = database
        self._load = load_documents

    async def rank(self, scope: SearchScope, limit: int) -> Ranking:
        """Return the ids of the first entries and the number of all hits, without reading their texts."""
        parsed = parse_query(scope.query)
        if not parsed.clauses or scope.is_empty:
            return Ranking(scope, (), 0)
        async with self._database.unit_of_work() as work:
            index = await find_index(work.session)
            if index is None:
                return Ranking(scope, (), 0)
            await work.session.execute(_SETTINGS)
            return await _rank(work.session, index.generation, scope, parsed, max(1, limit))

    async def show(self, ranking: Ranking, entry_ids: Sequence[int]) -> Sequence[Hit]:
        """Return these entries of a ranking with their highlights; those that are gone meanwhile are left out."""
        if not entry_ids:
            return ()
        highlighter = Highlighter(parse_query(ranking.scope.query), typos=ranking.typos)
        documents = {one.entry_id: one for one in await self._load(entry_ids)}
        return [
            show_hit(entry_id, 0.0, text_to_show(documents[entry_id]), highlighter)
            for entry_id in entry_ids
            if entry_id in documents
        ]

    async def search(self, scope: SearchScope, limit: int, offset: int = 0) -> tuple[Sequence[Hit], int]:
        """Return a page of hits and the number of all hits."""
        first = min(max(0, offset), LARGEST_OFFSET)
        ranking = await self.rank(scope, first + max(1, limit))
        page = () if offset > LARGEST_OFFSET else ranking.entry_ids[first:]
        return tuple(await self.show(ranking, page)), ranking.total

    async def search_any(self, terms: Sequence[str], feed_ids: Sequence[int], limit: int) -> Sequence[int]:
        """Return entries that have some of these terms, best first. For questions, which are not typed as queries."""
        if not terms or not feed_ids:
            return ()
        wanted: list[tuple[str, float | None]] = [(term_query(term), None) for term in terms]
        wanted += [(term_query(root, prefix=True), _STEM_SCORE) for term in terms if (root := stem(term))]
        async with self._database.unit_of_work() as work:
            index = await find_index(work.session)
            if index is None:
                return ()
            await work.session.execute(_SETTINGS)
            values = {
                "generation": index.generation,
                "queries": [query for query, _ in wanted],
                "fixed": [fixed for _, fixed in wanted],
                "feed_ids": list(feed_ids),
                "ranked": _RANKED_FOR_QUESTIONS,
                "limit": limit,
            }
            return [int(entry_id) for entry_id in await work.session.scalars(_ANY, values)]

    async def find(self) -> FoundIndex | None:
        async with self._database.unit_of_work() as work:
            return await find_index(work.session)


async def _rank(session: AsyncSession, generation: str, scope: SearchScope, query: SearchQuery, limit: int) -> Ranking:
    """Take a later step of tolerance only when the one before finds little; what it adds comes after."""
    seen: list[int] = []
    total = 0
    tolerance: Tolerance | None = Tolerance.EXACT
    reached = Tolerance.EXACT
    while tolerance is not None:
        reached = tolerance
        if scope.newest_first:
            seen, total = [], 0
        # A word with a typo says nothing about how well it fits: the newest are as good as any.
        existing = await _existing_variants(session, query) if tolerance >= Tolerance.TYPOS else ()
        by_time = scope.newest_first or tolerance >= Tolerance.TYPOS
        values: Mapping[str, Any] = {
            "generation": generation,
            "query": build_query(query, tolerance, existing),
            "feed_ids": None if scope.feed_ids is None else list(scope.feed_ids),
            "entry_ids": None if scope.entry_ids is None else list(scope.entry_ids),
            "seen": list(seen),
            "limit": max(limit, ENOUGH_EXACT),
            **({} if by_time else {"ranked": _RANKED}),
        }
        rows = (await session.execute(_NEWEST_FIRST if by_time else _BY_RELEVANCE, values)).tuples().all()
        seen += [entry_id for entry_id, _ in rows]
        total += rows[0][1] if rows else 0
        tolerance = next_tolerance(query, tolerance, total)
    return Ranking(scope, tuple(seen[:limit]), total, typos=reached >= Tolerance.TYPOS)


async def _existing_variants(session: AsyncSession, query: SearchQuery) -> Collection[str]:
    variants = typo_variants(query)
    values = {"whole": sorted(variants.whole), "beginnings": sorted(variants.beginnings)}
    return frozenset(await session.scalars(_EXISTING, values))
