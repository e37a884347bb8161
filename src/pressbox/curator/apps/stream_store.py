"""Streams of the reader API in PostgreSQL: in the order of arrival, which is the order of the entries' ids."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import ColumnElement, Row, Select, and_, delete, exists, false, func, or_, select, true
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncSession

from pressbox.core.db.database import Database
from pressbox.core.errors import NotFoundError
from pressbox.core.quotas.store import demand
from pressbox.core.spoilers.store import load_guarded
from pressbox.core.spoilers.titles import GuardedMatch, find_told
from pressbox.curator.apps.domain import (
    Contents,
    ItemReference,
    References,
    Stream,
    StreamFeed,
    StreamItem,
    StreamKind,
    StreamQuery,
)
from pressbox.curator.library.domain import PERSON_CHANGED, Enclosure
from pressbox.curator.library.quotas import LABELS
from pressbox.curator.library.rows import (
    CategoryRow,
    EntryBodyRow,
    EntryLabelRow,
    EntryRow,
    EntryStateRow,
    FeedRow,
    LabelRow,
    SubscriptionRow,
)
from pressbox.curator.library.store import feed_name, visible_to
from pressbox.curator.library.store import in_feeds as among

_TITLE = feed_name(SubscriptionRow.title)
# An entry is dated when its crawl begins and is seen when that is committed: whoever asks for what came since the last
# time gets a little more, since apps know by the ids what they have, and cannot know what they never saw.
_COMMITTED_WITHIN = timedelta(minutes=2)


@dataclass(frozen=True)
class _Followed:
    """A feed of the person, as far as streams need it."""

    feed: StreamFeed
    url: str
    unread: int


class SqlStreams:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def references(self, user_id: int, query: StreamQuery) -> References:
        columns = (EntryRow.id, EntryRow.feed_id, EntryRow.first_seen_at)
        async with self._database.unit_of_work() as work:
            followed = await _followed(work.session, user_id)
            statement = await _listed(work.session, user_id, query, followed, select(*columns))
            # On the connection itself: there are no objects to keep track of, only many rows.
            rows = (await (await work.session.connection()).execute(statement)).all()
        found = [ItemReference._make(row) for row in rows[: query.limit]]
        return References(found, found[-1].entry_id if len(rows) > query.limit else None)

    async def contents(self, user_id: int, query: StreamQuery) -> Contents:
        async with self._database.unit_of_work() as work:
            followed = await _followed(work.session, user_id)
            statement = await _listed(work.session, user_id, query, followed, select(EntryRow.id))
            ids = list(await work.session.scalars(statement))
            items = await _items(work.session, user_id, ids[: query.limit], followed)
            title = _title_of(query.stream, followed)
        return Contents(items, items[-1].entry_id if items and len(ids) > query.limit else None, title)

    async def some(self, user_id: int, entry_ids: Sequence[int]) -> Contents:
        async with self._database.unit_of_work() as work:
            followed = await _followed(work.session, user_id)
            seen = set(await work.session.scalars(_visible(user_id, entry_ids)))
            wanted = [number for number in dict.fromkeys(entry_ids) if number in seen]
            return Contents(await _items(work.session, user_id, wanted, followed))

    async def star(self, user_id: int, entry_ids: Sequence[int], starred: bool, now: datetime) -> None:
        at = now if starred else None
        statement = insert(EntryStateRow).on_conflict_do_update(
            index_elements=["user_id", "entry_id"], set_={"starred_at": at}
        )
        async with self._database.unit_of_work() as work:
            mine = sorted(await work.session.scalars(_visible(user_id, entry_ids)))
            if mine:
                rows = [{"user_id": user_id, "entry_id": number, "starred_at": at} for number in mine]
                await work.session.execute(statement, rows)
                work.changed(PERSON_CHANGED, str(user_id))

    async def label(self, user_id: int, entry_ids: Sequence[int], name: str, *, add: bool) -> None:
        async with self._database.unit_of_work() as work:
            session = work.session
            mine = sorted(await session.scalars(_visible(user_id, entry_ids)))
            label_id = await _label_id(session, user_id, name, make=add and bool(mine))
            if label_id is None or not mine:
                return
            if add:
                rows = [{"label_id": label_id, "entry_id": number} for number in mine]
                await session.execute(insert(EntryLabelRow).on_conflict_do_nothing(), rows)
            else:
                gone = delete(EntryLabelRow).where(EntryLabelRow.label_id == label_id, EntryLabelRow.entry_id.in_(mine))
                await session.execute(gone)
            work.changed(PERSON_CHANGED, str(user_id))

    async def feed_id(self, user_id: int, stream: Stream) -> int:
        async with self._database.unit_of_work() as work:
            found = _feed_id(stream.name, await _followed(work.session, user_id))
        if found is None:
            raise NotFoundError("You are not subscribed to this feed.")
        return found


async def _followed(session: AsyncSession, user_id: int) -> dict[int, _Followed]:
    statement = (
        select(FeedRow.id, _TITLE, FeedRow.site_url, CategoryRow.name, FeedRow.url, SubscriptionRow.unread)
        .join(SubscriptionRow, SubscriptionRow.feed_id == FeedRow.id)
        .outerjoin(CategoryRow, CategoryRow.id == SubscriptionRow.category_id)
        .where(SubscriptionRow.user_id == user_id)
    )
    return {
        feed_id: _Followed(StreamFeed(feed_id, title, site, folder or ""), url, unread)
        for feed_id, title, site, folder, url, unread in (await session.execute(statement)).tuples()
    }


async def _listed(
    session: AsyncSession, user_id: int, query: StreamQuery, followed: Mapping[int, _Followed], base: Select[Any]
) -> Select[Any]:
    """One more than wanted, to know whether there is more."""
    tags = [one.name for one in (query.stream, *query.including, *query.excluding) if one.kind is StreamKind.TAG]
    labels = await _label_ids(session, user_id, tags)
    targets = _Targets(user_id, followed, labels)
    statement = base.where(targets.base(query), *map(targets.fits, query.including))
    statement = statement.where(*(~targets.fits(one) for one in query.excluding))
    if query.arrived_after is not None:
        statement = statement.where(EntryRow.first_seen_at >= query.arrived_after - _COMMITTED_WITHIN)
    if query.arrived_before is not None:
        statement = statement.where(EntryRow.first_seen_at <= query.arrived_before)
    if query.after is not None:
        beyond = EntryRow.id > query.after if query.oldest_first else EntryRow.id < query.after
        statement = statement.where(beyond)
    return statement.order_by(EntryRow.id if query.oldest_first else EntryRow.id.desc()).limit(query.limit + 1)


@dataclass(frozen=True)
class _Targets:
    """What streams mean as conditions on an entry."""

    user_id: int
    followed: Mapping[int, _Followed]
    labels: Mapping[str, int]

    def base(self, query: StreamQuery) -> ColumnElement[bool]:
        """Of the person's feeds; what was starred or labelled also when the feed was left since."""
        if query.stream.kind in (StreamKind.STARRED, StreamKind.TAG, StreamKind.FEED, StreamKind.NOTHING):
            return self.fits(query.stream)
        unread = Stream(StreamKind.READ) in query.excluding or query.stream.kind is StreamKind.UNREAD
        # Feeds without anything unread are not looked through for it.
        feeds = [feed_id for feed_id, feed in self.followed.items() if not unread or feed.unread > 0]
        return and_(among(EntryRow.feed_id, feeds), self.fits(query.stream))

    def fits(self, stream: Stream) -> ColumnElement[bool]:
        match stream.kind:
            case StreamKind.ALL:
                return true()
            case StreamKind.READ:
                return self._state(EntryStateRow.read_at.is_not(None))
            case StreamKind.UNREAD:
                return ~self._state(EntryStateRow.read_at.is_not(None))
            case StreamKind.STARRED:
                return self._state(EntryStateRow.starred_at.is_not(None))
            case StreamKind.FEED:
                feed_id = _feed_id(stream.name, self.followed)
                return false() if feed_id is None else EntryRow.feed_id == feed_id
            case StreamKind.TAG:
                return self._tag(stream.name)
            case StreamKind.NOTHING:
                return false()

    def _state(self, condition: ColumnElement[bool]) -> ColumnElement[bool]:
        return exists().where(EntryStateRow.entry_id == EntryRow.id, EntryStateRow.user_id == self.user_id, condition)

    def _tag(self, name: str) -> ColumnElement[bool]:
        ways: list[ColumnElement[bool]] = []
        feeds = [feed_id for feed_id, one in self.followed.items() if one.feed.folder == name]
        if feeds:
            ways.append(among(EntryRow.feed_id, feeds))
        if name in self.labels:
            labelled = select(EntryLabelRow.entry_id).where(EntryLabelRow.label_id == self.labels[name])
            ways.append(EntryRow.id.in_(labelled))
        return or_(*ways) if ways else false()


async def _items(
    session: AsyncSession, user_id: int, entry_ids: Sequence[int], followed: Mapping[int, _Followed]
) -> list[StreamItem]:
    if not entry_ids:
        return []
    body = func.coalesce(func.nullif(EntryBodyRow.full_content, ""), EntryBodyRow.feed_content, "")
    statement = (
        select(
            EntryRow.id,
            EntryRow.feed_id,
            EntryRow.title,
            EntryRow.url,
            EntryRow.canonical_url,
            EntryRow.author,
            EntryRow.published_at,
            EntryRow.first_seen_at,
            EntryRow.updated_at,
            EntryRow.summary,
            EntryRow.enclosures,
            body.label("html"),
            EntryStateRow.read_at,
            EntryStateRow.starred_at,
        )
        .outerjoin(EntryBodyRow, EntryBodyRow.entry_id == EntryRow.id)
        .outerjoin(EntryStateRow, and_(EntryStateRow.entry_id == EntryRow.id, EntryStateRow.user_id == user_id))
        .where(among(EntryRow.id, entry_ids))
    )
    rows = {row.id: row for row in await session.execute(statement)}
    labels = await _labels(session, user_id, entry_ids)
    feeds = {feed_id: one.feed for feed_id, one in followed.items()}
    feeds |= await _left(session, {row.feed_id for row in rows.values()} - feeds.keys())
    guarded = await load_guarded(session, user_id)
    return [
        _cover(_item(row, feeds[row.feed_id], labels.get(entry_id, ())), guarded)
        for entry_id in entry_ids
        if (row := rows.get(entry_id)) is not None
    ]


def _cover(item: StreamItem, guarded: Sequence[GuardedMatch]) -> StreamItem:
    """What tells a score that the person hides is only the name of the match; an app shows texts beside titles."""
    match = find_told(f"{item.title}\n{item.summary}", guarded) if guarded else None
    if match is None:
        return item
    page = item.feed.site_url
    return replace(item, title=match.heading, url=page, canonical_url=page, summary="", html="", enclosures=())


def _item(row: Row[Any], feed: StreamFeed, labels: Sequence[str]) -> StreamItem:
    return StreamItem(
        entry_id=row.id,
        feed=feed,
        title=row.title,
        url=row.url,
        canonical_url=row.canonical_url,
        author=row.author,
        published_at=row.published_at,
        arrived_at=row.first_seen_at,
        updated_at=row.updated_at,
        summary=row.summary,
        html=row.html,
        read=row.read_at is not None,
        starred=row.starred_at is not None,
        enclosures=tuple(Enclosure(**stored) for stored in row.enclosures),
        labels=tuple(labels),
    )


async def _labels(session: AsyncSession, user_id: int, entry_ids: Sequence[int]) -> Mapping[int, Sequence[str]]:
    statement = (
        select(EntryLabelRow.entry_id, LabelRow.name)
        .join(LabelRow, LabelRow.id == EntryLabelRow.label_id)
        .where(LabelRow.user_id == user_id, among(EntryLabelRow.entry_id, entry_ids))
        .order_by(func.lower(LabelRow.name))
    )
    found: dict[int, list[str]] = defaultdict(list)
    for entry_id, name in (await session.execute(statement)).tuples():
        found[entry_id].append(name)
    return found


async def _left(session: AsyncSession, feed_ids: set[int]) -> dict[int, StreamFeed]:
    """Feeds that the person left but kept entries of."""
    if not feed_ids:
        return {}
    statement = select(FeedRow.id, feed_name(), FeedRow.site_url).where(FeedRow.id.in_(feed_ids))
    rows = (await session.execute(statement)).tuples()
    return {feed_id: StreamFeed(feed_id, name, site, "") for feed_id, name, site in rows}


async def _label_ids(session: AsyncSession, user_id: int, names: Sequence[str]) -> dict[str, int]:
    if not names:
        return {}
    statement = select(LabelRow.name, LabelRow.id).where(LabelRow.user_id == user_id, LabelRow.name.in_(names))
    return dict((await session.execute(statement)).tuples().all())


async def _label_id(session: AsyncSession, user_id: int, name: str, *, make: bool) -> int | None:
    if make:
        statement = insert(LabelRow).values(user_id=user_id, name=name)
        statement = statement.on_conflict_do_update(index_elements=["user_id", "name"], set_={"name": name})
        label_id = await session.scalar(statement.returning(LabelRow.id))
        await demand(session, LABELS, user_id)
        return label_id
    return (await _label_ids(session, user_id, [name])).get(name)


def _visible(user_id: int, entry_ids: Sequence[int]) -> Select[tuple[int]]:
    return select(EntryRow.id).where(among(EntryRow.id, entry_ids), visible_to(user_id))


def _feed_id(name: str, followed: Mapping[int, _Followed]) -> int | None:
    """By our number, or by the feed's address, which is how apps name one that they just added."""
    if name.isascii() and name.isdigit() and len(name) < 19:
        return int(name) if int(name) in followed else None
    return next((feed_id for feed_id, one in followed.items() if one.url == name), None)


def _title_of(stream: Stream, followed: Mapping[int, _Followed]) -> str:
    if stream.kind is StreamKind.FEED:
        feed_id = _feed_id(stream.name, followed)
        return followed[feed_id].feed.title if feed_id is not None else ""
    return stream.name
