"""Articles as the search of the top line and the first page show them."""

from collections.abc import Sequence

from pressbox.core.app import FoundThing, Resources
from pressbox.core.audiences.members import Viewer
from pressbox.core.errors import PressboxError
from pressbox.core.logs import get_logger
from pressbox.curator.names import PATH
from pressbox.curator.reading.domain import EntryItem, Selection, Sort
from pressbox.curator.reading.wiring import reading_service

log = get_logger(__name__)


async def find_things(resources: Resources, viewer: Viewer, words: str, limit: int) -> Sequence[FoundThing]:
    """Articles of the person's own feeds."""
    chosen = Selection(query=words, sort=Sort.RELEVANCE)
    return await _load(resources, viewer, chosen, limit)


async def list_news(resources: Resources, viewer: Viewer, limit: int) -> Sequence[FoundThing]:
    """The newest that the person has not read."""
    return await _load(resources, viewer, Selection(unread_only=True), limit)


async def _load(resources: Resources, viewer: Viewer, chosen: Selection, limit: int) -> Sequence[FoundThing]:
    try:
        page = await reading_service(resources).load_entries(viewer.user_id, chosen, limit=limit)
    except PressboxError as error:
        # The index may be away while everything else can be found.
        log.warning("articles_not_listed", msg="Articles cannot be listed now", error=error.message)
        return ()
    return [_line(item) for item in page.items]


def _line(item: EntryItem) -> FoundThing:
    return FoundThing(
        title=item.title or item.url, path=f"{PATH}/entries/{item.id}", detail=item.feed_title, at=item.published_at
    )
