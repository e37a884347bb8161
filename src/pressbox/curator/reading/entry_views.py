"""From rows to lines of a list: states, labels and the other sources of a story, in three statements for a page."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import Row, and_, func, select
from sqlalchemy.ext.asyncio import AsyncSession

from pressbox.curator.library.domain.entries import DistilState, FetchState
from pressbox.curator.library.domain.views import EntryItem, LabelView, Preference, SourceOfStory
from pressbox.curator.library.rows import EntryLabelRow, EntryRow, EntryStateRow, FeedRow, LabelRow
from pressbox.curator.library.visibility import in_feeds
from pressbox.curator.reading.selection import Scope


async def entry_items(session: AsyncSession, user_id: int, entry_ids: Sequence[int], scope: Scope) -> list[EntryItem]:
    """These entries in this order; what is gone is left out. Whether the person may see them was decided before."""
    if not entry_ids:
        return []
    rows = {row.id: row for row in await session.execute(_statement(user_id, entry_ids))}
    labels = await _labels(session, user_id, entry_ids)
    others = await _copies(session, {row.story_id for row in rows.values() if row.story_id is not None}, scope)
    titles = dict(scope.titles) | await _titles(session, {row.feed_id for row in rows.values()} - scope.titles.keys())
    return [
        _item(row, titles, labels.get(row.id, ()), [copy for copy in others[row.story_id] if copy.entry_id != row.id])
        for entry_id in entry_ids
        if (row := rows.get(entry_id)) is not None
    ]


def _statement(user_id: int, entry_ids: Sequence[int]) -> Any:
    return (
        select(
            EntryRow.id,
            EntryRow.feed_id,
            EntryRow.story_id,
            EntryRow.title,
            EntryRow.url,
            EntryRow.author,
            EntryRow.language,
            EntryRow.published_at,
            EntryRow.dated,
            EntryRow.summary,
            EntryRow.thumbnail_url,
            EntryRow.words,
            EntryRow.fetch_state,
            EntryRow.distil_state,
            EntryStateRow.read_at,
            EntryStateRow.starred_at,
            EntryStateRow.preference,
            (func.coalesce(EntryStateRow.note, "") != "").label("has_note"),
        )
        .outerjoin(EntryStateRow, and_(EntryStateRow.entry_id == EntryRow.id, EntryStateRow.user_id == user_id))
        .where(EntryRow.id.in_(entry_ids))
    )


def _item(
    row: Row[Any], titles: Mapping[int, str], labels: Sequence[LabelView], others: Sequence[SourceOfStory]
) -> EntryItem:
    return EntryItem(
        id=row.id,
        feed_id=row.feed_id,
        feed_title=titles.get(row.feed_id, ""),
        title=row.title,
        url=row.url,
        author=row.author,
        language=row.language,
        published_at=row.published_at,
        dated=row.dated,
        summary=row.summary,
        thumbnail_url=row.thumbnail_url,
        words=row.words,
        fetch_state=FetchState(row.fetch_state),
        distil_state=DistilState(row.distil_state),
        read=row.read_at is not None,
        starred=row.starred_at is not None,
        preference=Preference(row.preference or 0),
        has_note=row.has_note,
        labels=tuple(labels),
        others=tuple(others),
    )


async def _labels(session: AsyncSession, user_id: int, entry_ids: Sequence[int]) -> dict[int, list[LabelView]]:
    statement = (
        select(EntryLabelRow.entry_id, LabelRow.id, LabelRow.name)
        .join(LabelRow, LabelRow.id == EntryLabelRow.label_id)
        .where(LabelRow.user_id == user_id, EntryLabelRow.entry_id.in_(entry_ids))
        .order_by(func.lower(LabelRow.name))
    )
    found: dict[int, list[LabelView]] = defaultdict(list)
    for entry_id, label_id, name in (await session.execute(statement)).tuples():
        found[entry_id].append(LabelView(label_id, name))
    return found


async def _copies(session: AsyncSession, story_ids: set[int], scope: Scope) -> dict[int | None, list[SourceOfStory]]:
    found: dict[int | None, list[SourceOfStory]] = defaultdict(list)
    if not story_ids:
        return found
    statement = (
        select(EntryRow.story_id, EntryRow.id, EntryRow.feed_id, EntryRow.url)
        .where(EntryRow.story_id.in_(story_ids), in_feeds(EntryRow.feed_id, list(scope.titles)))
        .order_by(EntryRow.id)
    )
    for story_id, entry_id, feed_id, url in (await session.execute(statement)).tuples():
        found[story_id].append(SourceOfStory(entry_id, feed_id, scope.titles[feed_id], url))
    return found


async def _titles(session: AsyncSession, feed_ids: set[int]) -> dict[int, str]:
    """Of feeds that the person left but kept entries of."""
    if not feed_ids:
        return {}
    title = func.coalesce(func.nullif(FeedRow.title, ""), FeedRow.url)
    return dict((await session.execute(select(FeedRow.id, title).where(FeedRow.id.in_(feed_ids)))).tuples().all())
