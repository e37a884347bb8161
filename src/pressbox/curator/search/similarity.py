"""Entries by their meaning: near to what a person marked up, or to another entry. Vectors of one model only."""

from collections.abc import Sequence

from pgvector.sqlalchemy import Vector
from sqlalchemy import Select, String, and_, bindparam, cast, func, select, type_coerce
from sqlalchemy.ext.asyncio import AsyncSession

from pressbox.curator.library.rows import EntryEmbeddingRow, EntryRow, EntryStateRow
from pressbox.curator.library.visibility import in_feeds

# A story may come several times: of this many times the wanted ones are looked at.
_COPIES = 4


async def taste_of(session: AsyncSession, user_id: int, model: str) -> tuple[Sequence[float] | None, int]:
    """The mean vector of what a person marked up, and how many entries that is with and without a vector."""
    statement = (
        select(type_coerce(func.avg(EntryEmbeddingRow.embedding), Vector()), func.count())
        .select_from(EntryStateRow)
        .outerjoin(
            EntryEmbeddingRow,
            and_(EntryEmbeddingRow.entry_id == EntryStateRow.entry_id, EntryEmbeddingRow.model == model),
        )
        .where(EntryStateRow.user_id == user_id, EntryStateRow.preference == 1)
    )
    mean, marked = (await session.execute(statement)).tuples().one()
    return mean, marked


def by_taste(user_id: int, among: Select[tuple[int]], model: str, taste: Sequence[float]) -> Select[tuple[int]]:
    """Nearest first; then what has no vector yet, and at the end what was judged already."""
    candidates = among.add_columns(EntryRow.published_at).subquery()
    entry_id, published_at = candidates.c.id, candidates.c.published_at
    distance = EntryEmbeddingRow.embedding.cosine_distance(taste)
    judged = func.coalesce(EntryStateRow.preference, 0) != 0
    return (
        select(entry_id)
        .outerjoin(EntryEmbeddingRow, and_(EntryEmbeddingRow.entry_id == entry_id, EntryEmbeddingRow.model == model))
        .outerjoin(EntryStateRow, and_(EntryStateRow.entry_id == entry_id, EntryStateRow.user_id == user_id))
        .order_by(judged, distance.nulls_last(), published_at.desc(), entry_id.desc())
    )


async def nearest(session: AsyncSession, entry_id: int, model: str, feed_ids: Sequence[int], limit: int) -> list[int]:
    """Entries of other stories, nearest first; none while the entry has no vector."""
    own = (
        select(EntryEmbeddingRow.embedding, EntryRow.story_id)
        .join(EntryRow, EntryRow.id == EntryEmbeddingRow.entry_id)
        .where(EntryEmbeddingRow.entry_id == entry_id, EntryEmbeddingRow.model == model)
    )
    found = (await session.execute(own)).tuples().one_or_none()
    if found is None:
        return []
    vector, story_id = found
    # The index looks further until enough of what it finds lies in the person's feeds.
    await session.execute(select(func.set_config("hnsw.iterative_scan", "strict_order", True)))
    size = Vector(len(vector))
    # Written as the index of the model has it: the size as a cast, the model as a constant.
    distance = cast(EntryEmbeddingRow.embedding, size).cosine_distance(cast(vector, size))
    of_model = EntryEmbeddingRow.model == bindparam("model", model, String, literal_execute=True)
    statement = (
        select(EntryRow.id, EntryRow.story_id)
        .join(EntryEmbeddingRow, EntryEmbeddingRow.entry_id == EntryRow.id)
        .where(of_model, in_feeds(EntryRow.feed_id, feed_ids), EntryRow.id != entry_id)
        .order_by(distance)
        .limit(limit * _COPIES)
    )
    stories = {story_id} - {None}
    ids: list[int] = []
    for near, story in (await session.execute(statement)).tuples():
        if story is None or story not in stories:
            ids.append(near)
            stories.add(story)
    return ids[:limit]
