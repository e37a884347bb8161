"""Entries by their meaning: near a person's taste, another entry or a question. Only vectors of one model compare."""

from collections.abc import Sequence

from pgvector.sqlalchemy import Vector
from sqlalchemy import Select, String, and_, bindparam, cast, func, select, type_coerce
from sqlalchemy.ext.asyncio import AsyncSession

from pressbox.curator.library.rows import EntryEmbeddingRow, EntryRow, EntryStateRow
from pressbox.curator.library.store import in_feeds

# A story may occur several times: so many times the wanted number of entries are read.
_COPIES = 4


async def load_taste(session: AsyncSession, user_id: int, model: str) -> tuple[Sequence[float] | None, int]:
    """Return the mean vector of the entries that a person marked up, and how many entries these are."""
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


def order_by_taste(user_id: int, among: Select[tuple[int]], model: str, taste: Sequence[float]) -> Select[tuple[int]]:
    """Order entries by distance from a taste; then those without a vector, and last those judged already."""
    candidates = among.add_columns(EntryRow.published_at).subquery()
    entry_id, published_at = candidates.c.id, candidates.c.published_at
    distance = EntryEmbeddingRow.embedding.cosine_distance(taste)
    is_judged = func.coalesce(EntryStateRow.preference, 0) != 0
    return (
        select(entry_id)
        .outerjoin(EntryEmbeddingRow, and_(EntryEmbeddingRow.entry_id == entry_id, EntryEmbeddingRow.model == model))
        .outerjoin(EntryStateRow, and_(EntryStateRow.entry_id == entry_id, EntryStateRow.user_id == user_id))
        .order_by(is_judged, distance.nulls_last(), published_at.desc(), entry_id.desc())
    )


async def find_related(
    session: AsyncSession, entry_id: int, model: str, feed_ids: Sequence[int], limit: int
) -> list[int]:
    """Return entries of other stories, nearest first; none while the entry has no vector."""
    own = (
        select(EntryEmbeddingRow.embedding, EntryRow.story_id)
        .join(EntryRow, EntryRow.id == EntryEmbeddingRow.entry_id)
        .where(EntryEmbeddingRow.entry_id == entry_id, EntryEmbeddingRow.model == model)
    )
    found = (await session.execute(own)).tuples().one_or_none()
    if found is None:
        return []
    vector, story_id = found
    near = (await find_nearest(session, vector, model, feed_ids, limit * _COPIES, without=entry_id)).items()
    stories = {story_id} - {None}
    ids: list[int] = []
    for other, story in near:
        if story is None or story not in stories:
            ids.append(other)
            stories.add(story)
    return ids[:limit]


async def find_nearest(
    session: AsyncSession,
    vector: Sequence[float],
    model: str,
    feed_ids: Sequence[int],
    limit: int,
    *,
    without: int | None = None,
) -> dict[int, int | None]:
    """Return the entries of these feeds whose vectors are nearest, with their stories, nearest first."""
    # Scan the index further until enough of what it finds lies in these feeds.
    await session.execute(select(func.set_config("hnsw.iterative_scan", "strict_order", True)))
    size = Vector(len(vector))
    # Written as the partial index of the model has it: the size as a cast, the model as a constant.
    distance = cast(EntryEmbeddingRow.embedding, size).cosine_distance(cast(list(vector), size))
    of_model = EntryEmbeddingRow.model == bindparam("model", model, String, literal_execute=True)
    statement = (
        select(EntryRow.id, EntryRow.story_id)
        .join(EntryEmbeddingRow, EntryEmbeddingRow.entry_id == EntryRow.id)
        .where(of_model, in_feeds(EntryRow.feed_id, feed_ids))
        .order_by(distance)
        .limit(limit)
    )
    if without is not None:
        statement = statement.where(EntryRow.id != without)
    return dict((await session.execute(statement)).tuples().all())
