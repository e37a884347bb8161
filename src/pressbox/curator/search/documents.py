"""What of an entry can be searched, as the database has it."""

from collections.abc import Sequence

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncSession

from pressbox.curator.library.domain import FetchState
from pressbox.curator.library.rows import EntryBodyRow, EntryRow
from pressbox.curator.search.ports import IndexDocument
from pressbox.curator.text.plain_text import to_plain_text


async def load_documents(session: AsyncSession, entry_ids: Sequence[int]) -> Sequence[IndexDocument]:
    statement = (
        select(EntryRow, EntryBodyRow.filtered_content, EntryBodyRow.feed_content)
        .join(EntryBodyRow, EntryBodyRow.entry_id == EntryRow.id)
        .where(EntryRow.id.in_(entry_ids))
        .order_by(EntryRow.id)
    )
    rows = (await session.execute(statement)).tuples().all()
    return [
        IndexDocument(
            entry_id=row.id,
            feed_id=row.feed_id,
            title=row.title,
            summary=row.summary,
            filtered_content=filtered_content,
            # Where the feed's text is the article, its words are indexed already.
            feed_content=to_plain_text(feed_content) if row.fetch_state == FetchState.FETCHED else "",
            author=row.author,
            published_at=row.published_at,
            shown_hash=row.shown_hash,
        )
        for row, filtered_content, feed_content in rows
    ]
