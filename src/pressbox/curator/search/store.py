"""What the search index and the vectors are made of, and which of them are missing or out of date."""

from collections.abc import Mapping, Sequence

from sqlalchemy import (
    ColumnElement,
    Select,
    and_,
    bindparam,
    delete,
    func,
    or_,
    select,
    text,
    update,
)
from sqlalchemy.dialects.postgresql import ARRAY, insert
from sqlalchemy.ext.asyncio import AsyncSession
from sqlalchemy.types import BigInteger, Text

from pressbox.core.db.database import Database
from pressbox.curator.following.telling import tell_of_articles
from pressbox.curator.library.domain import DistilState, FetchState
from pressbox.curator.library.rows import EntryBodyRow, EntryEmbeddingRow, EntryRow, RemovedEntryRow, SearchIndexRow
from pressbox.curator.library.store import SqlStore
from pressbox.curator.search.contracts import EmbeddingSelection
from pressbox.curator.search.documents import load_documents
from pressbox.curator.search.followed import match_searches
from pressbox.curator.search.ports import FoundIndex, IndexDocument, KnownIndex

_MARK_INDEXED = text("""
    UPDATE curator.entries AS e SET indexed_hash = n.hash
    FROM unnest(:ids, :hashes) AS n (id, hash) WHERE e.id = n.id
""").bindparams(bindparam("ids", type_=ARRAY(BigInteger)), bindparam("hashes", type_=ARRAY(Text)))

_MARK_EMBEDDED = text("""
    UPDATE curator.entries AS e SET vector_hash = n.hash
    FROM unnest(:ids, :hashes) AS n (id, hash) WHERE e.id = n.id
""").bindparams(bindparam("ids", type_=ARRAY(BigInteger)), bindparam("hashes", type_=ARRAY(Text)))
_FORGET_VECTORS = text("UPDATE curator.entries SET vector_hash = NULL WHERE vector_hash IS NOT NULL")

# Models read only the beginning of a text.
_LONGEST_TEXT = 8_000
# The most that pgvector can index.
_MOST_DIMENSIONS = 2_000
# An entry first waits for its summary, which changes its vector; without a distiller, only this long.
_SUMMARY_PATIENCE = text("interval '10 minutes'")
# An index is compared with what is known of it this often, even when nothing is written.
_BETWEEN_CHECKS = text("interval '1 hour'")
ONLY_ROW = 1
_LOCK = 0x56_45_43_54  # "VECT": two that meet a new model together take turns


class SqlIndexStore(SqlStore):
    async def load_documents(self, entry_ids: Sequence[int]) -> Sequence[IndexDocument]:
        async with self._database.unit_of_work() as work:
            return await load_documents(work.session, entry_ids)

    async def ids_after(self, after_entry_id: int, limit: int) -> Sequence[int]:
        return await self._ids(select(EntryRow.id).where(EntryRow.id > after_entry_id).order_by(EntryRow.id), limit)

    async def unindexed_ids(self, limit: int) -> Sequence[int]:
        outdated = EntryRow.indexed_hash.is_distinct_from(EntryRow.shown_hash)
        return await self._ids(select(EntryRow.id).where(outdated).order_by(EntryRow.id), limit)

    async def mark_indexed(self, hashes: Mapping[int, str]) -> None:
        if not hashes:
            return
        # Whoever writes several entries locks them in the order of their ids, so that nobody waits in a circle.
        ordered = dict(sorted(hashes.items()))
        async with self._database.unit_of_work() as work:
            locked = select(EntryRow.id, EntryRow.indexed_hash).where(EntryRow.id.in_(ordered)).order_by(EntryRow.id)
            held = (await work.session.execute(locked.with_for_update(key_share=True))).tuples().all()
            await work.session.execute(_MARK_INDEXED, {"ids": list(ordered), "hashes": list(ordered.values())})
            # Whoever comes second, or again, finds a hash here.
            fresh = [entry_id for entry_id, known in held if known is None]
            if fresh:
                await tell_of_articles(work, fresh, await match_searches(work.session, fresh))

    async def known_index(self) -> KnownIndex | None:
        async with self._database.unit_of_work() as work:
            row = await work.session.get(SearchIndexRow, ONLY_ROW)
        return None if row is None else KnownIndex(row.generation, row.commit_number, row.writing, row.complete)

    async def begin_index_write(self) -> None:
        async with self._database.unit_of_work() as work:
            await work.session.execute(update(SearchIndexRow).values(writing=True))

    async def record_index(self, found: FoundIndex | None, *, complete: bool | None = None) -> None:
        if found is None:
            return
        values = {"generation": found.generation, "commit_number": found.commit_number, "writing": False}
        if complete is not None:
            values["complete"] = complete
        statement = insert(SearchIndexRow).values(id=ONLY_ROW, verified_at=func.now(), **values)
        async with self._database.unit_of_work() as work:
            await work.session.execute(
                statement.on_conflict_do_update(index_elements=["id"], set_={**values, "verified_at": func.now()})
            )

    async def index_check_is_due(self) -> bool:
        recently = func.now() - _BETWEEN_CHECKS
        doubted = or_(SearchIndexRow.verified_at.is_(None), SearchIndexRow.verified_at < recently)
        async with self._database.unit_of_work() as work:
            return await work.session.scalar(select(SearchIndexRow.id).where(doubted)) is not None

    async def doubt_index(self) -> bool:
        """Ask the writer to check the index: something is wrong where people search. Whether nobody had asked yet."""
        statement = update(SearchIndexRow).where(SearchIndexRow.verified_at.is_not(None)).values(verified_at=None)
        async with self._database.unit_of_work() as work:
            return (await work.session.scalar(statement.returning(SearchIndexRow.id))) is not None

    async def removed_ids(self, limit: int) -> Sequence[int]:
        return await self._ids(select(RemovedEntryRow.entry_id).order_by(RemovedEntryRow.entry_id), limit)

    async def forget_removed(self, entry_ids: Sequence[int]) -> None:
        async with self._database.unit_of_work() as work:
            await work.session.execute(delete(RemovedEntryRow).where(RemovedEntryRow.entry_id.in_(entry_ids)))

    async def existing_ids(self, entry_ids: Sequence[int]) -> frozenset[int]:
        return frozenset(await self._ids(select(EntryRow.id).where(EntryRow.id.in_(entry_ids)), len(entry_ids)))

    async def _ids(self, statement: Select[tuple[int]], limit: int) -> Sequence[int]:
        async with self._database.unit_of_work() as work:
            return (await work.session.scalars(statement.limit(limit))).all()


class SqlEmbeddingStore(SqlStore):
    def __init__(self, database: Database) -> None:
        super().__init__(database)
        # Models whose database index is known to exist.
        self._indexed: set[str] = set()

    async def lacks_vectors(self, model: str) -> bool:
        missing = await self._missing(model)
        async with self._database.unit_of_work() as work:
            return await work.session.scalar(select(EntryRow.id).where(missing).limit(1)) is not None

    async def select_for_embedding(self, model: str, after_entry_id: int, limit: int) -> EmbeddingSelection:
        missing = await self._missing(model)
        page = select(EntryRow.id).where(missing, EntryRow.id > after_entry_id).order_by(EntryRow.id).limit(limit)
        count = select(func.count()).select_from(EntryRow).where(missing, EntryRow.id > after_entry_id)
        async with self._database.unit_of_work() as work:
            ids = tuple(await work.session.scalars(page))
            remaining = (await work.session.scalar(count) or 0) if len(ids) == limit else len(ids)
        return EmbeddingSelection(entry_ids=ids, last_entry_id=ids[-1] if ids else None, remaining=remaining)

    async def load_texts(self, entry_ids: Sequence[int]) -> Mapping[int, str]:
        best = func.coalesce(
            func.nullif(EntryBodyRow.filtered_content, ""), func.nullif(EntryRow.summary, ""), EntryRow.title
        )
        statement = (
            select(EntryRow.id, func.left(best, _LONGEST_TEXT))
            .join(EntryBodyRow, EntryBodyRow.entry_id == EntryRow.id)
            .where(EntryRow.id.in_(entry_ids))
            .order_by(EntryRow.id)
        )
        async with self._database.unit_of_work() as work:
            return dict((await work.session.execute(statement)).tuples().all())

    async def save_embeddings(self, model: str, vectors: Mapping[int, Sequence[float]]) -> int:
        """Save vectors, except those of entries that are gone meanwhile."""
        if not vectors:
            return 0
        async with self._database.unit_of_work() as work:
            await self._ensure_index(work.session, model, len(next(iter(vectors.values()))))
            held = select(EntryRow.id, EntryRow.shown_hash).where(EntryRow.id.in_(vectors)).order_by(EntryRow.id)
            hashes = dict((await work.session.execute(held.with_for_update(read=True, key_share=True))).tuples().all())
            if not hashes:
                return 0
            statement = insert(EntryEmbeddingRow)
            await work.session.execute(
                statement.on_conflict_do_update(
                    index_elements=["entry_id", "model"],
                    set_={"embedding": statement.excluded.embedding, "shown_hash": statement.excluded.shown_hash},
                ),
                [
                    {"entry_id": entry_id, "model": model, "embedding": list(vectors[entry_id]), "shown_hash": shown}
                    for entry_id, shown in hashes.items()
                ],
            )
            await work.session.execute(_MARK_EMBEDDED, {"ids": list(hashes), "hashes": list(hashes.values())})
        return len(hashes)

    async def _missing(self, model: str) -> ColumnElement[bool]:
        if not await self._is_in_use(model):
            return _lacks_vector(model)
        # Only then the partial index tells which are missing; for a new model all are.
        return and_(EntryRow.vector_hash.is_distinct_from(EntryRow.shown_hash), _lacks_vector(model))

    async def _is_in_use(self, model: str) -> bool:
        """Whether vectors of this model were stored before: then `vector_hash` is about them."""
        if model not in self._indexed:
            async with self._database.unit_of_work() as work:
                digest = await work.session.scalar(select(func.md5(model)))
                if await work.session.scalar(select(func.to_regclass(_index_name(digest)))) is not None:
                    self._indexed.add(model)
        return model in self._indexed

    async def _ensure_index(self, session: AsyncSession, model: str, dimensions: int) -> None:
        """Create the partial index of a model with its first vectors, when that takes no time."""
        if model in self._indexed or dimensions > _MOST_DIMENSIONS:
            return
        await session.execute(select(func.pg_advisory_xact_lock(_LOCK)))
        digest, quoted = (await session.execute(select(func.md5(model), func.quote_literal(model)))).tuples().one()
        name = _index_name(digest).partition(".")[2]
        if await session.scalar(select(func.to_regclass(_index_name(digest)))) is not None:
            self._indexed.add(model)
            return
        # A new model has no vectors yet, whatever the one before it had.
        await session.execute(_FORGET_VECTORS)
        # Neither a name nor a predicate can be a parameter; the database itself has quoted the model.
        await session.execute(
            text(
                f"CREATE INDEX {name} ON curator.entry_embeddings "
                f"USING hnsw ((embedding::vector({int(dimensions)})) vector_cosine_ops) WHERE model = {quoted}"
            )
        )


def _index_name(digest: str | None) -> str:
    return f"curator.ix_entry_embeddings_{(digest or '')[:16]}"


def _lacks_vector(model: str) -> ColumnElement[bool]:
    """True for entries that have their text and no vector of what they show now."""
    fresh = select(EntryEmbeddingRow.entry_id).where(
        EntryEmbeddingRow.entry_id == EntryRow.id,
        EntryEmbeddingRow.model == model,
        EntryEmbeddingRow.shown_hash == EntryRow.shown_hash,
    )
    has_waited = EntryRow.updated_at < func.now() - _SUMMARY_PATIENCE
    is_settled = or_(EntryRow.distil_state != DistilState.WAITING, has_waited)
    return and_(EntryRow.fetch_state != FetchState.WAITING, is_settled, ~fresh.exists())
