"""Lists and articles as one person sees them, in PostgreSQL."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from datetime import UTC
from typing import Any

from sqlalchemy import Row, ScalarSelect, Select, and_, func, select
from sqlalchemy.dialects.postgresql import aggregate_order_by
from sqlalchemy.ext.asyncio import AsyncSession
from sqlalchemy.orm import aliased

from pressbox.core.db.database import Database
from pressbox.core.errors import NotFoundError
from pressbox.core.spoilers.store import load_guarded
from pressbox.curator.library.domain import DistilState, Enclosure, FetchState
from pressbox.curator.library.rows import EntryBodyRow, EntryLabelRow, EntryRow, EntryStateRow, FeedRow, LabelRow
from pressbox.curator.library.store import demand_visible, feed_name, in_feeds, visible_to
from pressbox.curator.reading.domain import (
    ArticleView,
    EntryItem,
    EntryPage,
    Label,
    ListNote,
    Preference,
    Selection,
    Sort,
    SourceOfStory,
    cover_titles,
    fold_copies,
)
from pressbox.curator.reading.selection import (
    Followed,
    Position,
    RankedPlace,
    Scope,
    load_followed,
    load_scope,
    order_from,
    read_place,
    read_position,
    select_listed,
)
from pressbox.curator.search.ports import SearchScope
from pressbox.curator.search.similarity import find_related, load_taste, order_by_taste

# Recommendations are made among this many of the newest entries of a list.
RECOMMENDED_AMONG = 2000

# The fields of the views that are called like a column of the entry.
_ITEM_COLUMNS = tuple(field.name for field in fields(EntryItem) if hasattr(EntryRow, field.name))
_ARTICLE_COLUMNS = tuple(
    field.name for field in fields(ArticleView) if hasattr(EntryRow, field.name) and field.name not in _ITEM_COLUMNS
)

# Not the table itself: what a person kept is looked up in that. Made once, because an alias copies every column.
_STATE = aliased(EntryStateRow)

# Shorter ones come back, such as "Letters" or "Football results".
TELLING_TITLE = 25
# Of a list that feeds do not make, such as a label, the newest so many are searched.
MOST_SEARCHED = 20_000


class SqlReadingLists:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def load_entries(
        self, user_id: int, selection: Selection, after: str | None, limit: int, followed: Followed | None = None
    ) -> EntryPage:
        begin = read_position(after) if after else None
        async with self._database.unit_of_work() as work:
            scope = await load_scope(work.session, user_id, selection, followed)
            wanted = order_from(select_listed(user_id, selection, scope), selection.sort, begin).limit(limit + 1)
            chosen = wanted.subquery()
            lines = order_from(_select_lines(user_id), selection.sort, None).join(chosen, chosen.c.id == EntryRow.id)
            rows = (await work.session.execute(lines)).all()
            items = await _make_items(work.session, user_id, rows[:limit], scope)
        following = str(Position(items[-1].published_at, items[-1].id)) if len(rows) > limit and items else None
        return EntryPage(tuple(items), following, selection.sort, ListNote.NONE, None)

    async def load_recommended(
        self,
        user_id: int,
        selection: Selection,
        model: str,
        after: str | None,
        limit: int,
        followed: Followed | None = None,
    ) -> EntryPage:
        place = read_place(after)
        async with self._database.unit_of_work() as work:
            taste, marked = await load_taste(work.session, user_id, model)
        if taste is None or isinstance(place, Position):
            # A list that began without a taste goes on as it began.
            page = await self.load_entries(user_id, replace(selection, sort=Sort.NEWEST), after, limit, followed)
            return replace(page, note=ListNote.NO_VECTORS if marked else ListNote.NOTHING_MARKED_UP)
        async with self._database.unit_of_work() as work:
            session = work.session
            scope = await load_scope(session, user_id, selection, followed)
            whole = select_listed(user_id, selection, scope)
            top = place.top if place else await _top(session, whole)
            newest = order_from(whole, Sort.NEWEST, top).limit(RECOMMENDED_AMONG)
            offset = place.offset if place else 0
            wanted = order_by_taste(user_id, newest, model, taste).offset(offset).limit(limit + 1)
            ids = list(await session.scalars(wanted))
            items = await load_items(session, user_id, ids[:limit], scope)
        following = str(RankedPlace(offset + limit, top)) if len(ids) > limit and top else None
        return EntryPage(tuple(items), following, Sort.RECOMMENDED, ListNote.NONE, None)

    async def load_listed(self, user_id: int, entry_ids: Sequence[int], selection: Selection) -> Sequence[EntryItem]:
        async with self._database.unit_of_work() as work:
            scope = await load_scope(work.session, user_id, selection)
            wanted = select_listed(user_id, selection, scope, every_copy=True).where(EntryRow.id.in_(entry_ids))
            seen = set(await work.session.scalars(wanted))
            return await load_items(work.session, user_id, [number for number in entry_ids if number in seen], scope)

    async def load_visible(self, user_id: int, entry_ids: Sequence[int]) -> Sequence[EntryItem]:
        visible = select(EntryRow.id).where(EntryRow.id.in_(entry_ids), visible_to(user_id))
        async with self._database.unit_of_work() as work:
            scope = await load_scope(work.session, user_id, Selection())
            seen = set(await work.session.scalars(visible))
            return await load_items(work.session, user_id, [number for number in entry_ids if number in seen], scope)

    async def find_copies(self, entry_ids: Sequence[int]) -> Mapping[int, int]:
        """Find among ranked entries those that tell the story of an earlier one, and which one that is.

        Copies have the same address without what only tracks people, the same title above the same text, or the same
        long title on the same day: agencies send to many papers, and each cuts the text as it likes.
        """
        known = select(
            EntryRow.id, EntryRow.story_id, EntryRow.content_hash, func.lower(EntryRow.title), EntryRow.published_at
        )
        async with self._database.unit_of_work() as work:
            rows = (await work.session.execute(known.where(EntryRow.id.in_(entry_ids)))).tuples().all()
        facts = {
            entry_id: (
                story_id,
                content and (content, title),
                len(title) >= TELLING_TITLE and (title, at.astimezone(UTC).date()),
            )
            for entry_id, story_id, content, title, at in rows
        }
        return fold_copies(entry_ids, facts)

    async def load_search_scope(self, user_id: int, selection: Selection) -> SearchScope:
        """Return the feeds that a search of this list covers, or its newest entries when feeds do not make the list."""
        newest_first = selection.sort is not Sort.RELEVANCE
        async with self._database.unit_of_work() as work:
            scope = await load_scope(work.session, user_id, selection)
            if selection.is_made_of_feeds:
                return SearchScope(selection.query, feed_ids=scope.feed_ids, newest_first=newest_first)
            listed = select_listed(user_id, selection, scope, every_copy=True).order_by(EntryRow.id.desc())
            entry_ids = (await work.session.scalars(listed.limit(MOST_SEARCHED))).all()
        return SearchScope(selection.query, entry_ids=entry_ids, newest_first=newest_first)

    async def load_article(self, user_id: int, entry_id: int, selection: Selection | None = None) -> ArticleView:
        article, _ = await self.open_article(user_id, entry_id, selection, None, 0)
        return article

    async def open_article(
        self,
        user_id: int,
        entry_id: int,
        selection: Selection | None,
        model: str | None,
        limit: int,
        followed: Followed | None = None,
    ) -> tuple[ArticleView, Sequence[EntryItem]]:
        """In one transaction, so that what the person follows is read once."""
        async with self._database.unit_of_work() as work:
            session = work.session
            found = (await session.execute(_one(user_id, entry_id))).tuples().one_or_none()
            if found is None:
                raise NotFoundError("There is no such entry, or it is in none of your feeds.", entry_id=entry_id)
            entry, body, site_url, note = found
            followed = await load_followed(session, user_id) if followed is None else followed
            scope = await load_scope(session, user_id, Selection(), followed)
            before, after = None, None
            if selection is not None:
                here = Position(entry.published_at, entry_id)
                chosen = await load_scope(session, user_id, selection, followed)
                before, after = await _neighbours(session, user_id, selection, chosen, here)
            near = await find_related(session, entry_id, model, list(scope.titles), limit) if model is not None else []
            item, *related = await load_items(session, user_id, [entry_id, *near], scope, opened=entry_id)
        article = _article(item, entry, body, site_url, note or "")
        return replace(article, previous_id=before, next_id=after), related

    async def load_related(self, user_id: int, entry_id: int, model: str, limit: int) -> Sequence[EntryItem]:
        async with self._database.unit_of_work() as work:
            await demand_visible(work.session, user_id, entry_id)
            scope = await load_scope(work.session, user_id, Selection())
            ids = await find_related(work.session, entry_id, model, list(scope.titles), limit)
            return await load_items(work.session, user_id, ids, scope)


def _one(user_id: int, entry_id: int) -> Select[Any]:
    return (
        select(EntryRow, EntryBodyRow, FeedRow.site_url, _STATE.note)
        .join(FeedRow, FeedRow.id == EntryRow.feed_id)
        .outerjoin(EntryBodyRow, EntryBodyRow.entry_id == EntryRow.id)
        .outerjoin(_STATE, and_(_STATE.entry_id == EntryRow.id, _STATE.user_id == user_id))
        .where(EntryRow.id == entry_id, visible_to(user_id))
    )


async def _neighbours(
    session: AsyncSession, user_id: int, selection: Selection, scope: Scope, here: Position
) -> tuple[int | None, int | None]:
    whole = select_listed(user_id, selection, scope)
    before = order_from(whole, selection.sort, here, backwards=True).limit(1).scalar_subquery()
    after = order_from(whole, selection.sort, here).limit(1).scalar_subquery()
    previous, following = (await session.execute(select(before, after))).tuples().one()
    return previous, following


async def _top(session: AsyncSession, whole: Select[tuple[int]]) -> Position | None:
    """Just above the newest entry of a list, so that what arrives later does not move its pages."""
    newest = order_from(whole, Sort.NEWEST, None).add_columns(EntryRow.published_at).limit(1)
    found = (await session.execute(newest)).one_or_none()
    return None if found is None else Position(found.published_at, found.id + 1)


def _article(item: EntryItem, entry: EntryRow, body: EntryBodyRow | None, site_url: str, note: str) -> ArticleView:
    full, fed = (body.full_content, body.feed_content) if body else ("", "")
    own = {name: getattr(entry, name) for name in _ARTICLE_COLUMNS}
    return ArticleView(
        **vars(item),
        **own | {"enclosures": tuple(Enclosure(**stored) for stored in entry.enclosures)},
        body_html=full or fed,
        from_feed=not full or item.fetch_state is not FetchState.FETCHED,
        site_url=site_url,
        note=note,
    )


async def load_items(
    session: AsyncSession, user_id: int, entry_ids: Sequence[int], scope: Scope, *, opened: int | None = None
) -> list[EntryItem]:
    """These entries in this order; what is gone is left out. Whether the person may see them was decided before.

    Titles that tell a score which the person hides are covered, but for the article that they `opened`.
    """
    if not entry_ids:
        return []
    rows = {row.id: row for row in await session.execute(_select_lines(user_id).where(EntryRow.id.in_(entry_ids)))}
    found = [row for entry_id in entry_ids if (row := rows.get(entry_id)) is not None]
    return await _make_items(session, user_id, found, scope, opened=opened)


async def _make_items(
    session: AsyncSession, user_id: int, rows: Sequence[Row[Any]], scope: Scope, *, opened: int | None = None
) -> list[EntryItem]:
    if not rows:
        return []
    others = await _copies(session, {row.story_id for row in rows if row.story_id is not None}, scope)
    titles = scope.titles
    if left := {row.feed_id for row in rows} - titles.keys():
        titles = {**titles, **await _titles(session, left)}
    items = [_item(row, titles, [copy for copy in others[row.story_id] if copy.entry_id != row.id]) for row in rows]
    guarded = await load_guarded(session, user_id)
    return [
        item if item.id == opened else shown for item, shown in zip(items, cover_titles(items, guarded), strict=True)
    ]


def _select_lines(user_id: int) -> Select[Any]:
    """Select what a line of a list shows, of all entries."""
    return (
        select(
            EntryRow.story_id,
            *(getattr(EntryRow, name) for name in _ITEM_COLUMNS),
            EntryStateRow.read_at,
            EntryStateRow.starred_at,
            EntryStateRow.preference,
            (func.coalesce(EntryStateRow.note, "") != "").label("has_note"),
            _labels(user_id).label("labels"),
        )
        .select_from(EntryRow)
        .outerjoin(EntryStateRow, and_(EntryStateRow.entry_id == EntryRow.id, EntryStateRow.user_id == user_id))
    )


def _item(row: Row[Any], titles: Mapping[int, str], others: Sequence[SourceOfStory]) -> EntryItem:
    own = {name: getattr(row, name) for name in _ITEM_COLUMNS}
    states = {"fetch_state": FetchState(row.fetch_state), "distil_state": DistilState(row.distil_state)}
    return EntryItem(
        **own | states,
        feed_title=titles.get(row.feed_id, ""),
        read=row.read_at is not None,
        starred=row.starred_at is not None,
        preference=Preference(row.preference or 0),
        has_note=row.has_note,
        labels=tuple(Label(*label) for label in row.labels or ()),
        others=tuple(others),
        title_html="",
        snippet_html="",
    )


def _labels(user_id: int) -> ScalarSelect[Any]:
    """Select the person's labels of an entry by name, as pairs: with the line itself, because most have none."""
    pair = func.json_build_array(LabelRow.id, LabelRow.name)
    return (
        select(func.array_agg(aggregate_order_by(pair, func.lower(LabelRow.name))))
        .join(EntryLabelRow, EntryLabelRow.label_id == LabelRow.id)
        .where(LabelRow.user_id == user_id, EntryLabelRow.entry_id == EntryRow.id)
        .scalar_subquery()
    )


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
    return dict((await session.execute(select(FeedRow.id, feed_name()).where(FeedRow.id.in_(feed_ids)))).tuples().all())
