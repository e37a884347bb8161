"""Writes the search index into tables, as tsvectors of our own terms. Any number of processes may, at the same time."""

import asyncio
import secrets
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from sqlalchemy import Text, bindparam, delete, func, select, text, update
from sqlalchemy.dialects.postgresql import ARRAY, insert
from sqlalchemy.ext.asyncio import AsyncSession

from pressbox.core.db.database import Database
from pressbox.core.errors import ConflictError
from pressbox.core.logs import get_logger
from pressbox.curator.library.rows import SearchDocumentRow, SearchGenerationRow
from pressbox.curator.library.store import SqlStore
from pressbox.curator.search.domain.highlights import text_to_show
from pressbox.curator.search.domain.query import SHORTEST_PREFIX
from pressbox.curator.search.ports import DamagedIndexError, FoundIndex, IndexDocument
from pressbox.curator.text.words import compose, is_unspaced, to_index_terms

# Part of every generation's name: an index of another version has to be rebuilt.
SCHEMA_VERSION = "postgres1"

# The weights of the fields. Title, summary and author are also a vector of their own, which ranks without the text.
TITLE, SUMMARY, AUTHOR, CONTENT = "A", "B", "C", "D"
# What a tsvector can hold: later words are found, but not as part of a phrase.
_LAST_POSITION = 16_383
_MOST_POSITIONS = 255
# A little below its largest size, in bytes as it counts them; words beyond are not found.
_LARGEST_VECTOR = 900_000
# Between two fields, so that no phrase reaches from one into the next.
_GAP = 10


@dataclass(frozen=True)
class Vectors:
    heading: str
    words: str
    # The words that somebody may mistype.
    terms: frozenset[str]


def build_vectors(entry: IndexDocument) -> Vectors:
    shown = text_to_show(entry)
    heading = [
        (TITLE, to_index_terms(shown.title)),
        (SUMMARY, to_index_terms(shown.summary)),
        (AUTHOR, to_index_terms(compose(entry.author))),
    ]
    texts = [*heading, (CONTENT, to_index_terms(shown.content))]
    of_feed = to_index_terms(shown.feed_content)
    words = {term for _, terms in texts for term in terms.split()}
    if not words.issuperset(of_feed.split()):
        texts.append((CONTENT, of_feed))
        words.update(of_feed.split())
    spaced = frozenset(word for word in words if len(word) >= SHORTEST_PREFIX and not is_unspaced(word))
    return Vectors(_literal(heading), _literal(texts), spaced)


def _literal(texts: list[tuple[str, str]]) -> str:
    places: dict[str, list[str]] = {}
    size = 0
    for position, weight, term in _positions(texts):
        known = places.get(term)
        if known is None:
            size += len(term.encode()) + 8
            if size > _LARGEST_VECTOR:
                break
            known = places[term] = []
        if position <= _LAST_POSITION and len(known) < _MOST_POSITIONS:
            known.append(f"{position}{weight}")
            size += 2
    return " ".join(f"{quote(term)}:{','.join(known)}" if known else quote(term) for term, known in places.items())


def _positions(texts: list[tuple[str, str]]) -> Iterator[tuple[int, str, str]]:
    position = 0
    for weight, terms in texts:
        for term in terms.split():
            position += 1
            yield position, weight, term
        position += _GAP


def quote(term: str) -> str:
    """Return a term as tsvector and tsquery read it, whatever is in it."""
    escaped = term.replace("\\", "\\\\").replace("'", "''")
    return f"'{escaped}'"


log = get_logger(__name__)

# A rebuild that takes longer was abandoned, and is not written to any more.
LONGEST_BUILD = timedelta(days=1)
_LOCK = 0x49_4E_44_58  # "INDX": two that create the first index together take turns
# Shared by all that write; a rebuild begins between them, so that nobody writes without knowing of it.
_WRITERS_LOCK = 0x49_4E_44_57  # "INDW"
# Removed in pieces, so that no transaction holds up the others for long.
_REMOVED_AT_ONCE = 5_000
_REMOVE_OLD = text("""
    DELETE FROM curator.search_documents WHERE ctid = ANY (ARRAY(
        SELECT ctid FROM curator.search_documents WHERE generation <> ALL (
            ARRAY(SELECT name FROM curator.search_generations)
        ) LIMIT :limit
    ))
""")

# The dictionary only grows: a word that nothing has any more is looked up in vain, and costs no more than that.
_ADD_TERMS = text("INSERT INTO curator.search_terms (term) SELECT unnest(:terms) ON CONFLICT DO NOTHING").bindparams(
    bindparam("terms", type_=ARRAY(Text))
)
_REMEMBERED_TERMS = 200_000


class PostgresIndex(SqlStore):
    """The index as rows: a change is a transaction, and generations in use are locked against a swap meanwhile."""

    def __init__(self, database: Database) -> None:
        super().__init__(database)
        # Words that the dictionary has: most words of a batch are not new.
        self._known: set[str] = set()

    async def add(self, documents: Iterable[IndexDocument], generation: str = "") -> None:
        """Add or replace documents; without a generation, in all that are in use."""
        # In one order for everybody, so that nobody waits in a circle.
        ordered = sorted(documents, key=lambda one: one.entry_id)
        if not ordered:
            return
        rows, terms = await asyncio.to_thread(_build_rows, ordered)
        await self._add_terms(terms)
        async with self._database.unit_of_work() as work:
            names = await _hold(work.session, generation) if generation else await _hold_in_use(work.session)
            statement = insert(SearchDocumentRow)
            if generation:
                # What is there already was written by a change during the rebuild, and is newer.
                statement = statement.on_conflict_do_nothing()
            else:
                fresh = {name: statement.excluded[name] for name in ("feed_id", "published_at", "heading", "words")}
                statement = statement.on_conflict_do_update(index_elements=["generation", "entry_id"], set_=fresh)
            for name in names:
                await work.session.execute(statement, [{**row, "generation": name} for row in rows])

    async def remove(self, entry_ids: Iterable[int]) -> None:
        async with self._database.unit_of_work() as work:
            await work.session.execute(
                delete(SearchDocumentRow).where(SearchDocumentRow.entry_id.in_(tuple(entry_ids)))
            )

    async def begin_generation(self) -> str:
        name = _new_name()
        async with self._database.unit_of_work() as work:
            await work.session.execute(select(func.pg_advisory_xact_lock(_WRITERS_LOCK)))
            await work.session.execute(delete(SearchGenerationRow).where(~SearchGenerationRow.in_use))
            await work.session.execute(insert(SearchGenerationRow).values(name=name, in_use=False))
        log.info("index_generation_begun", msg="A new search index is being built", generation=name)
        return name

    async def swap(self, generation: str) -> None:
        """Use this generation from now on. A second call changes nothing."""
        async with self._database.unit_of_work() as work:
            rows = await work.session.scalars(select(SearchGenerationRow).with_for_update())
            present = {row.name: row.in_use for row in rows}
            if generation not in present:
                raise _gone_error(generation)
            if not present[generation]:
                await work.session.execute(delete(SearchGenerationRow).where(SearchGenerationRow.in_use))
                of_this = update(SearchGenerationRow).where(SearchGenerationRow.name == generation)
                await work.session.execute(of_this.values(in_use=True))
                log.info("index_generation_searched", msg="The new search index is in use", generation=generation)
        await self._remove_old()

    async def document_ids(self, after: int, limit: int) -> Sequence[int]:
        """Return the ids above `after`, in ascending order."""
        in_use = select(SearchGenerationRow.name).where(SearchGenerationRow.in_use).scalar_subquery()
        statement = (
            select(SearchDocumentRow.entry_id)
            .where(SearchDocumentRow.generation == in_use, SearchDocumentRow.entry_id > after)
            .order_by(SearchDocumentRow.entry_id)
            .limit(limit)
        )
        async with self._database.unit_of_work() as work:
            return tuple(await work.session.scalars(statement))

    async def find(self) -> FoundIndex | None:
        async with self._database.unit_of_work() as work:
            return await find_index(work.session)

    async def _add_terms(self, terms: Sequence[str]) -> None:
        """Add words to the dictionary, in a transaction of their own: two writers with a new word hardly wait."""
        fresh = [term for term in terms if term not in self._known]
        if not fresh:
            return
        async with self._database.unit_of_work() as work:
            await work.session.execute(_ADD_TERMS, {"terms": fresh})
        if len(self._known) > _REMEMBERED_TERMS:
            self._known.clear()
        self._known.update(fresh)

    async def _remove_old(self) -> None:
        removed = _REMOVED_AT_ONCE
        while removed == _REMOVED_AT_ONCE:
            async with self._database.unit_of_work() as work:
                result = await work.session.execute(_REMOVE_OLD, {"limit": _REMOVED_AT_ONCE})
                removed = int(getattr(result, "rowcount", 0))


def _build_rows(documents: Sequence[IndexDocument]) -> tuple[list[dict[str, object]], Sequence[str]]:
    rows: list[dict[str, object]] = []
    terms: set[str] = set()
    for one in documents:
        vectors = build_vectors(one)
        terms |= vectors.terms
        values = {"heading": vectors.heading, "words": vectors.words}
        rows.append({"entry_id": one.entry_id, "feed_id": one.feed_id, "published_at": one.published_at, **values})
    return rows, sorted(terms)


async def find_index(session: AsyncSession) -> FoundIndex | None:
    """Return the generation in use. It and what the database knows of it are one: there are no commits to count."""
    name = await session.scalar(select(SearchGenerationRow.name).where(SearchGenerationRow.in_use))
    if name is None:
        return None
    if name.partition("-")[0] != SCHEMA_VERSION:
        raise DamagedIndexError(
            "The search index was built by another version of Pressbox. "
            "It rebuilds itself; `pressbox trigger reindex --clean` does it at once."
        )
    return FoundIndex(name, 0)


async def _hold(session: AsyncSession, generation: str) -> Sequence[str]:
    """Keep a generation from being swapped or given up until the end of the transaction."""
    held = select(SearchGenerationRow.name).where(SearchGenerationRow.name == generation).with_for_update(read=True)
    if await session.scalar(held) is None:
        raise _gone_error(generation)
    return [generation]


async def _hold_in_use(session: AsyncSession) -> Sequence[str]:
    """Keep the generation in use and the one being built: a change during a rebuild goes into both."""
    # A statement of its own: the next one sees whatever began before the lock was granted.
    await session.execute(select(func.pg_advisory_xact_lock_shared(_WRITERS_LOCK)))
    young = SearchGenerationRow.created_at > func.now() - LONGEST_BUILD
    held = select(SearchGenerationRow).where(SearchGenerationRow.in_use | young).with_for_update(read=True)
    found = (await session.scalars(held)).all()
    if not any(row.in_use for row in found):
        await session.execute(select(func.pg_advisory_xact_lock(_LOCK)))
        name = await session.scalar(select(SearchGenerationRow.name).where(SearchGenerationRow.in_use))
        if name is None:
            await session.execute(insert(SearchGenerationRow).values(name=_new_name(), in_use=True))
        found = (await session.scalars(held)).all()
    for row in found:
        if row.name.partition("-")[0] != SCHEMA_VERSION:
            await find_index(session)
    return [row.name for row in found]


def _new_name() -> str:
    return f"{SCHEMA_VERSION}-{datetime.now(UTC):%Y%m%d%H%M%S}-{secrets.token_hex(4)}"


def _gone_error(generation: str) -> ConflictError:
    return ConflictError(f"The search index {generation} no longer exists; another one was built meanwhile.")
