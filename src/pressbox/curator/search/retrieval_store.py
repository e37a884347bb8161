"""What retrieval reads of PostgreSQL: a person's feeds, entries near to a vector, and the texts of entries."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from pgvector.sqlalchemy import Vector
from sqlalchemy import String, and_, bindparam, cast, func, select
from sqlalchemy.orm import aliased

from pressbox.core.db.database import Database
from pressbox.curator.library.rows import EntryBodyRow, EntryEmbeddingRow, EntryRow, FeedRow, SubscriptionRow
from pressbox.curator.library.visibility import demand_visible, in_feeds, visible_to

# The first pages of a book are read, not all of it.
LONGEST_TEXT = 200_000


@dataclass(frozen=True)
class Article:
    """`text` is the filtered content, so that places in it are places there; "" when there is none."""

    entry_id: int
    feed_id: int
    story_id: int | None
    title: str
    feed_title: str
    url: str
    published_at: datetime
    summary: str
    text: str


class RetrievalArticles:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def feed_ids(self, user_id: int) -> Sequence[int]:
        statement = select(SubscriptionRow.feed_id).where(SubscriptionRow.user_id == user_id)
        async with self._database.unit_of_work() as work:
            return list(await work.session.scalars(statement))

    async def near(self, vector: Sequence[float], model: str, feed_ids: Sequence[int], limit: int) -> Sequence[int]:
        """Entries by the nearness of their vectors of this model, nearest first."""
        if not feed_ids:
            return ()
        size = Vector(len(vector))
        # Written as the index of the model has it: the size as a cast, the model as a constant.
        distance = cast(EntryEmbeddingRow.embedding, size).cosine_distance(cast(list(vector), size))
        of_model = EntryEmbeddingRow.model == bindparam("model", model, String, literal_execute=True)
        statement = (
            select(EntryRow.id)
            .join(EntryEmbeddingRow, EntryEmbeddingRow.entry_id == EntryRow.id)
            .where(of_model, in_feeds(EntryRow.feed_id, feed_ids))
            .order_by(distance)
            .limit(limit)
        )
        async with self._database.unit_of_work() as work:
            # The index looks further until enough of what it finds lies in the person's feeds.
            await work.session.execute(select(func.set_config("hnsw.iterative_scan", "strict_order", True)))
            return list(await work.session.scalars(statement))

    async def demand(self, user_id: int, entry_id: int) -> None:
        async with self._database.unit_of_work() as work:
            await demand_visible(work.session, user_id, entry_id)

    async def articles(self, user_id: int, entry_ids: Sequence[int]) -> Sequence[Article]:
        """Those of these that the person may see, in the order given."""
        if not entry_ids:
            return ()
        own = aliased(SubscriptionRow)
        named = func.coalesce(func.nullif(own.title, ""), func.nullif(FeedRow.title, ""), FeedRow.url)
        statement = (
            select(
                EntryRow.id,
                EntryRow.feed_id,
                EntryRow.story_id,
                EntryRow.title,
                named,
                EntryRow.url,
                EntryRow.published_at,
                EntryRow.summary,
                func.coalesce(func.left(EntryBodyRow.filtered_content, LONGEST_TEXT), ""),
            )
            .join(FeedRow, FeedRow.id == EntryRow.feed_id)
            .outerjoin(EntryBodyRow, EntryBodyRow.entry_id == EntryRow.id)
            .outerjoin(own, and_(own.feed_id == EntryRow.feed_id, own.user_id == user_id))
            .where(EntryRow.id.in_(entry_ids), visible_to(user_id))
        )
        async with self._database.unit_of_work() as work:
            rows = (await work.session.execute(statement)).tuples().all()
        found = {row[0]: Article(*row) for row in rows}
        return [found[entry_id] for entry_id in entry_ids if entry_id in found]
