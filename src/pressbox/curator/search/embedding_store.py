"""Vectors of entries: which are missing for a model, the texts to make them of, and the index to search them by."""

from collections.abc import Mapping, Sequence

from sqlalchemy import ColumnElement, and_, func, or_, select, text
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncSession

from pressbox.core.db.database import Database
from pressbox.curator.library.domain.entries import DistilState, FetchState
from pressbox.curator.library.rows import EntryBodyRow, EntryEmbeddingRow, EntryRow
from pressbox.curator.library.store import SqlStore
from pressbox.curator.search.contracts import EmbeddingSelection

# More of a text changes its vector no more: models read the beginning.
_LONGEST_TEXT = 8_000
# What pgvector can index.
_MOST_DIMENSIONS = 2_000
# An entry waits for its summary, because it gets another vector then; where nobody summarises, not for ever.
_PATIENCE = text("interval '10 minutes'")
_LOCK = 0x56_45_43_54  # "VECT": two that meet a new model together take turns


class SqlEmbeddingStore(SqlStore):
    def __init__(self, database: Database) -> None:
        super().__init__(database)
        # Models whose index is known to be there.
        self._indexed: set[str] = set()

    async def select_for_embedding(self, model: str, after_entry_id: int, limit: int) -> EmbeddingSelection:
        missing = _missing(model)
        page = select(EntryRow.id).where(missing, EntryRow.id > after_entry_id).order_by(EntryRow.id).limit(limit)
        counted = select(func.count()).select_from(EntryRow).where(missing, EntryRow.id > after_entry_id)
        async with self._database.unit_of_work() as work:
            ids = tuple(await work.session.scalars(page))
            remaining = (await work.session.scalar(counted) or 0) if len(ids) == limit else len(ids)
        return EmbeddingSelection(entry_ids=ids, last_entry_id=ids[-1] if ids else None, remaining=remaining)

    async def texts_to_embed(self, entry_ids: Sequence[int]) -> Mapping[int, str]:
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
        """Vectors of entries that are gone meanwhile are left out."""
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
        return len(hashes)

    async def _ensure_index(self, session: AsyncSession, model: str, dimensions: int) -> None:
        """One partial index per model, made with its first vectors: so it never takes long."""
        if model in self._indexed or dimensions > _MOST_DIMENSIONS:
            return
        await session.execute(select(func.pg_advisory_xact_lock(_LOCK)))
        digest, quoted = (await session.execute(select(func.md5(model), func.quote_literal(model)))).tuples().one()
        name = f"ix_entry_embeddings_{digest[:16]}"
        if await session.scalar(select(func.to_regclass(f"curator.{name}"))) is not None:
            self._indexed.add(model)
            return
        # Neither a name nor a predicate can be a parameter; the database itself has quoted the model.
        await session.execute(
            text(
                f"CREATE INDEX {name} ON curator.entry_embeddings "
                f"USING hnsw ((embedding::vector({int(dimensions)})) vector_cosine_ops) WHERE model = {quoted}"
            )
        )


def _missing(model: str) -> ColumnElement[bool]:
    """Entries without a vector of what they show now, as soon as they have their text."""
    fresh = select(EntryEmbeddingRow.entry_id).where(
        EntryEmbeddingRow.entry_id == EntryRow.id,
        EntryEmbeddingRow.model == model,
        EntryEmbeddingRow.shown_hash == EntryRow.shown_hash,
    )
    waited = EntryRow.updated_at < func.now() - _PATIENCE
    settled = or_(EntryRow.distil_state != DistilState.WAITING, waited)
    return and_(EntryRow.fetch_state != FetchState.WAITING, settled, ~fresh.exists())
