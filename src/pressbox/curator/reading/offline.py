"""What phones keep of the reader, to be read without network."""

from collections.abc import Mapping, Sequence

from markupsafe import escape
from sqlalchemy import func, select

from pressbox.core.app import OfflineThing, Resources
from pressbox.core.audiences.members import Viewer
from pressbox.core.db.arrays import one_of
from pressbox.core.db.database import Database
from pressbox.curator.library.rows import EntryBodyRow
from pressbox.curator.names import PATH
from pressbox.curator.reading.domain import EntryItem, Selection
from pressbox.curator.reading.wiring import reading_service

MOST_ARTICLES = 200
# A longer text is a book, and not kept: its summary is.
LONGEST_HTML = 100_000


async def list_offline(resources: Resources, viewer: Viewer) -> Sequence[OfflineThing]:
    """The newest that the person has not read, with their texts and without pictures."""
    chosen = Selection(unread_only=True)
    page = await reading_service(resources).load_entries(viewer.user_id, chosen, limit=MOST_ARTICLES)
    # A text whose title tells a hidden score tells it too, and what lies on a phone cannot be covered later.
    texts = await _load_texts(resources.database, [item.id for item in page.items if not item.covered])
    return [_thing(item, texts.get(item.id, "")) for item in page.items]


async def _load_texts(database: Database, entry_ids: Sequence[int]) -> Mapping[int, str]:
    whole = func.coalesce(func.nullif(EntryBodyRow.full_content, ""), EntryBodyRow.feed_content)
    statement = select(EntryBodyRow.entry_id, whole).where(
        EntryBodyRow.entry_id == one_of(entry_ids), func.length(whole) <= LONGEST_HTML
    )
    async with database.unit_of_work() as work:
        return dict((await work.session.execute(statement)).tuples().all())


def _thing(item: EntryItem, html: str) -> OfflineThing:
    return OfflineThing(
        path=f"{PATH}/entries/{item.id}",
        title=item.title or item.url,
        detail=item.feed_title,
        at=item.published_at,
        html=html or f"<p>{escape(item.summary)}</p>",
        entry=item.id,
        read=item.read,
        starred=item.starred,
    )
