"""The hash of what a reader and the search index see of an entry, for rows that the database holds."""

from collections.abc import Sequence

from sqlalchemy import func, literal, update
from sqlalchemy.ext.asyncio import AsyncSession

from pressbox.curator.library.rows import EntryBodyRow, EntryRow

_SEPARATOR = literal("\x1f")


async def refresh_shown(session: AsyncSession, entry_ids: Sequence[int]) -> None:
    """After titles, authors, summaries or texts changed: what is another one now will be indexed again."""
    parts = (EntryRow.title, EntryRow.author, EntryRow.summary, EntryBodyRow.filtered_content)
    shown = EntryBodyRow.feed_content.expression
    for part in reversed(parts):
        shown = part + _SEPARATOR + shown
    await session.execute(
        update(EntryRow)
        .where(EntryRow.id == EntryBodyRow.entry_id, EntryRow.id.in_(entry_ids))
        .values(shown_hash=func.md5(shown))
        .execution_options(synchronize_session=False)
    )
