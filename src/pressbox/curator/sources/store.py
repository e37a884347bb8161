"""Who reads which feed, in PostgreSQL."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Delete, case, delete, exists, func, or_, select, update
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.exc import IntegrityError
from sqlalchemy.ext.asyncio import AsyncSession

from pressbox.core.db.database import Database, UnitOfWork
from pressbox.core.errors import ConflictError, NotFoundError
from pressbox.core.notices.follows import end_follow, name_subject
from pressbox.core.notices.outgoing import drop_subject
from pressbox.core.quotas.store import demand
from pressbox.core.spoilers.store import load_guarded
from pressbox.core.spoilers.titles import cover_title
from pressbox.curator.feeds.opml import OutlineFeed
from pressbox.curator.library.domain import (
    FEED_CHANGED,
    PERSON_CHANGED,
    CrawlOutcome,
    CuratorPolicy,
    DistilState,
    FetchState,
)
from pressbox.curator.library.quotas import CATEGORIES, FEEDS, FEEDS_ADDED
from pressbox.curator.library.rows import (
    CategoryRow,
    EntryRow,
    EntryStateRow,
    FeedErrorRow,
    FeedRow,
    FeedStateRow,
    SubscriptionRow,
)
from pressbox.curator.library.store import abandon_feed, inherit_read_state, kept_by, mark_backlog_read
from pressbox.curator.library.subjects import FollowedKind
from pressbox.curator.reading.domain import CategoryView, SourcesView
from pressbox.curator.reading.sidebar import group_feeds
from pressbox.curator.sources.domain import EntryFailure, FeedDetail, FeedErrorView, FeedSettings, FeedView
from pressbox.curator.sources.feed_views import all_feeds, feed_views

UNREAD_AT_START = CuratorPolicy().unread_at_start
_FAILURES_SHOWN = 20
_RETRIED_AT_ONCE = 500
_NO_CATEGORY = "There is no such category."
_NOT_SUBSCRIBED = "You are not subscribed to this feed."


@dataclass(frozen=True)
class Following:
    """What became of a subscription: its feed, and whether it is new to the person."""

    feed_id: int
    new: bool


@dataclass(frozen=True)
class Followed:
    """What became of many subscriptions; `stamp` finds the new ones again."""

    stamp: datetime
    added: tuple[int, ...]
    known: int


class SqlSubscriptions:
    def __init__(self, database: Database, unread_at_start: int = UNREAD_AT_START) -> None:
        self._database = database
        self.unread_at_start = unread_at_start

    async def subscribe(
        self, user_id: int, feed: OutlineFeed, category_id: int | None, now: datetime, called: str = ""
    ) -> Following:
        """Subscribe to one feed; `called` is its title until it is read for the first time."""
        async with self._database.unit_of_work() as work:
            await _demand_category(work.session, user_id, category_id)
            feed_ids = await _feeds(work.session, [feed], now, called)
            values = [_subscription(user_id, feed_ids[feed.url], category_id, feed.title, now)]
            added = await _subscribe(work, user_id, values, self.unread_at_start)
            return Following(feed_ids[feed.url], bool(added))

    async def subscribe_many(self, user_id: int, feeds: Sequence[OutlineFeed], now: datetime) -> Followed:
        # A person has a feed once: where a file lists it in several categories, the first one counts.
        wanted: dict[str, OutlineFeed] = {}
        for feed in feeds:
            wanted.setdefault(feed.url, feed)
        if not wanted:
            return Followed(now, (), 0)
        async with self._database.unit_of_work() as work:
            categories = await _categories(work.session, user_id, [feed.category for feed in wanted.values()])
            feed_ids = await _feeds(work.session, list(wanted.values()), now)
            values = [
                _subscription(user_id, feed_ids[url], categories.get(feed.category), feed.title, now)
                for url, feed in wanted.items()
            ]
            added = await _subscribe(work, user_id, values, self.unread_at_start)
        return Followed(now, tuple(added), len(wanted) - len(added))

    async def unsubscribe(self, user_id: int, feed_id: int, now: datetime) -> bool:
        async with self._database.unit_of_work() as work:
            session = work.session
            # Whoever subscribes meanwhile waits for this row, and then finds the feed, or none.
            await session.get(FeedRow, feed_id, with_for_update=True)
            mine = delete(SubscriptionRow).where(SubscriptionRow.user_id == user_id, SubscriptionRow.feed_id == feed_id)
            if not (await session.execute(mine.returning(SubscriptionRow.id))).all():
                raise NotFoundError(_NOT_SUBSCRIBED)
            await session.execute(_forget_states(user_id, feed_id))
            await end_follow(work, user_id, FollowedKind.FEED.subject(feed_id))
            await drop_subject(session, user_id, FollowedKind.FEED.subject(feed_id))
            work.changed(PERSON_CHANGED, str(user_id))
            work.changed(FEED_CHANGED, str(feed_id))
            if await session.scalar(select(exists().where(SubscriptionRow.feed_id == feed_id))):
                return False
            return await abandon_feed(session, feed_id, now)

    async def sources(self, user_id: int) -> SourcesView[FeedView]:
        async with self._database.unit_of_work() as work:
            feeds = await feed_views(work.session, SubscriptionRow.user_id == user_id)
            return await group_feeds(work.session, user_id, feeds)

    async def feed(self, user_id: int, feed_id: int) -> FeedView:
        async with self._database.unit_of_work() as work:
            return await _feed(work.session, user_id, feed_id)

    async def detail(self, user_id: int, feed_id: int, errors: int) -> FeedDetail:
        latest = select(FeedErrorRow).where(FeedErrorRow.feed_id == feed_id).order_by(FeedErrorRow.at.desc())
        counted = select(
            func.count(),
            func.count().filter(EntryRow.fetch_state == FetchState.WAITING),
            func.count().filter(EntryRow.distil_state == DistilState.WAITING),
        ).where(EntryRow.feed_id == feed_id)
        unfetched = (
            select(EntryRow.id, EntryRow.title, EntryRow.fetch_reason, EntryRow.next_fetch_at)
            .where(EntryRow.feed_id == feed_id, EntryRow.fetch_reason != "")
            .order_by(EntryRow.published_at.desc(), EntryRow.id.desc())
            .limit(_FAILURES_SHOWN)
        )
        async with self._database.unit_of_work() as work:
            feed = await _feed(work.session, user_id, feed_id)
            failures = list(await work.session.scalars(latest.limit(errors)))
            entries, to_fetch, to_distil = (await work.session.execute(counted)).tuples().one()
            failed = (await work.session.execute(unfetched)).tuples().all()
            guarded = await load_guarded(work.session, user_id)
        return FeedDetail(
            feed=feed,
            errors=tuple(FeedErrorView(row.at, CrawlOutcome(row.outcome), row.status, row.reason) for row in failures),
            entries=entries,
            to_fetch=to_fetch,
            to_distil=to_distil,
            fetch_failures=tuple(
                EntryFailure(number, cover_title(title, guarded), reason, next_try_at)
                for number, title, reason, next_try_at in failed
            ),
        )

    async def subscribed_since(self, user_id: int, stamp: datetime) -> Sequence[FeedView]:
        async with self._database.unit_of_work() as work:
            return await feed_views(
                work.session, SubscriptionRow.user_id == user_id, SubscriptionRow.created_at == stamp
            )

    async def subscribed_urls(self, user_id: int, urls: Sequence[str]) -> frozenset[str]:
        statement = (
            select(FeedRow.url)
            .join(SubscriptionRow, SubscriptionRow.feed_id == FeedRow.id)
            .where(SubscriptionRow.user_id == user_id, FeedRow.url.in_(urls))
        )
        async with self._database.unit_of_work() as work:
            return frozenset(await work.session.scalars(statement))

    async def everything(self) -> Sequence[FeedView]:
        async with self._database.unit_of_work() as work:
            return await all_feeds(work.session)

    async def place(self, user_id: int, feed_id: int, title: str, category_id: int | None) -> None:
        changed = (
            update(SubscriptionRow)
            .where(SubscriptionRow.user_id == user_id, SubscriptionRow.feed_id == feed_id)
            .values(title=title, category_id=category_id)
        )
        async with self._database.unit_of_work() as work:
            await _demand_category(work.session, user_id, category_id)
            if not (await work.session.execute(changed.returning(SubscriptionRow.id))).all():
                raise NotFoundError(_NOT_SUBSCRIBED)
            work.changed(PERSON_CHANGED, str(user_id))

    async def change(self, user_id: int, feed_id: int, settings: FeedSettings, now: datetime) -> None:
        seconds = None if settings.interval is None else int(settings.interval.total_seconds())
        values = {
            "full_text": settings.full_text,
            "extraction_rules": [
                {"kind": rule.kind, "expression": rule.expression, "keep": rule.keep} for rule in settings.rules
            ],
            "interval_seconds": seconds,
            "entry_limit": settings.entry_limit,
        }
        async with self._database.unit_of_work() as work:
            await _demand_subscribed(work.session, user_id, feed_id)
            await work.session.execute(update(FeedRow).where(FeedRow.id == feed_id).values(values))
            if settings.interval is not None:
                # A shorter interval counts from now on, not only after the next crawl.
                await work.session.execute(
                    update(FeedStateRow)
                    .where(FeedStateRow.feed_id == feed_id, FeedStateRow.next_crawl_at > now + settings.interval)
                    .values(next_crawl_at=now + settings.interval)
                )
            work.changed(FEED_CHANGED, str(feed_id))

    async def pause(self, user_id: int, feed_id: int, paused: bool, now: datetime) -> None:
        async with self._database.unit_of_work() as work:
            await _demand_subscribed(work.session, user_id, feed_id)
            await work.session.execute(
                update(FeedRow).where(FeedRow.id == feed_id).values(paused_at=now if paused else None, moved_to_id=None)
            )
            if not paused:
                await _make_due(work.session, feed_id, now)
            work.changed(FEED_CHANGED, str(feed_id))

    async def make_due(self, user_id: int, feed_id: int, now: datetime) -> None:
        async with self._database.unit_of_work() as work:
            await _demand_subscribed(work.session, user_id, feed_id)
            await _make_due(work.session, feed_id, now)
            # Somebody doubts what we have, so the whole feed is asked for, whatever the server remembers of us.
            await work.session.execute(
                update(FeedStateRow)
                .where(FeedStateRow.feed_id == feed_id)
                .values(etag="", last_modified="", content_hash="")
            )

    async def retry_entries(self, user_id: int, feed_id: int) -> Sequence[int]:
        failed = or_(EntryRow.fetch_state == FetchState.FAILED, EntryRow.distil_state == DistilState.FAILED)
        newest = select(EntryRow.id).where(EntryRow.feed_id == feed_id, failed).order_by(EntryRow.id.desc())
        async with self._database.unit_of_work() as work:
            await _demand_subscribed(work.session, user_id, feed_id)
            return list(await work.session.scalars(newest.limit(_RETRIED_AT_ONCE)))


class SqlCategories:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def create(self, user_id: int, name: str) -> CategoryView[FeedView]:
        last = select(func.coalesce(func.max(CategoryRow.position), -1) + 1).where(CategoryRow.user_id == user_id)
        statement = insert(CategoryRow).values(user_id=user_id, name=name, position=last.scalar_subquery())
        statement = statement.on_conflict_do_update(index_elements=["user_id", "name"], set_={"name": name})
        async with self._database.unit_of_work() as work:
            category_id = await work.session.scalar(statement.returning(CategoryRow.id))
            assert category_id is not None
            await demand(work.session, CATEGORIES, user_id)
            work.changed(PERSON_CHANGED, str(user_id))
        return CategoryView(category_id, name, 0, ())

    async def rename(self, user_id: int, category_id: int, name: str) -> None:
        renamed = update(CategoryRow).where(CategoryRow.id == category_id, CategoryRow.user_id == user_id)
        try:
            async with self._database.unit_of_work() as work:
                if not (await work.session.scalars(renamed.values(name=name).returning(CategoryRow.id))).all():
                    raise NotFoundError(_NO_CATEGORY)
                await name_subject(work.session, user_id, FollowedKind.CATEGORY.subject(category_id), name)
                work.changed(PERSON_CHANGED, str(user_id))
        except IntegrityError as error:
            raise ConflictError("Another category has this name already.") from error

    async def delete(self, user_id: int, category_id: int) -> None:
        gone = delete(CategoryRow).where(CategoryRow.id == category_id, CategoryRow.user_id == user_id)
        async with self._database.unit_of_work() as work:
            if not (await work.session.scalars(gone.returning(CategoryRow.id))).all():
                raise NotFoundError(_NO_CATEGORY)
            await end_follow(work, user_id, FollowedKind.CATEGORY.subject(category_id))
            work.changed(PERSON_CHANGED, str(user_id))

    async def arrange(self, user_id: int, category_ids: Sequence[int]) -> None:
        places = {category_id: place for place, category_id in enumerate(category_ids)}
        position = case(places, value=CategoryRow.id, else_=len(places) + CategoryRow.position)
        async with self._database.unit_of_work() as work:
            if places:
                await work.session.execute(
                    update(CategoryRow).where(CategoryRow.user_id == user_id).values(position=position)
                )
            work.changed(PERSON_CHANGED, str(user_id))


async def _feeds(
    session: AsyncSession, feeds: Sequence[OutlineFeed], now: datetime, called: str = ""
) -> dict[str, int]:
    """The ids of feeds by address; new ones are made, and due. Sorted, so that two imports never wait crosswise."""
    ordered = sorted(feeds, key=lambda feed: feed.url)
    values = [{"url": feed.url, "site_url": feed.site_url, "title": called} for feed in ordered]
    statement = insert(FeedRow)
    # An update that changes nothing locks the row: nobody removes the feed before we are subscribed.
    statement = statement.on_conflict_do_update(index_elements=["url"], set_={"url": FeedRow.url})
    rows = await session.execute(statement.returning(FeedRow.id, FeedRow.url, FeedRow.paused_at), values)
    found = rows.tuples().all()
    ids = {url: feed_id for feed_id, url, _ in found}
    due = insert(FeedStateRow).on_conflict_do_nothing(index_elements=["feed_id"])
    await session.execute(due, [{"feed_id": feed_id, "next_crawl_at": now} for feed_id in sorted(ids.values())])
    asleep = [feed_id for feed_id, _, paused_at in found if paused_at is not None]
    await _revive(session, asleep, now)
    return ids


async def _revive(session: AsyncSession, feed_ids: Sequence[int], now: datetime) -> None:
    """A feed that was kept paused because nobody read it, or because it moved, is crawled again.

    One that people paused stays so.
    """
    if not feed_ids:
        return
    abandoned = or_(FeedRow.moved_to_id.is_not(None), ~exists().where(SubscriptionRow.feed_id == FeedRow.id))
    statement = update(FeedRow).where(FeedRow.id.in_(feed_ids), abandoned).values(paused_at=None, moved_to_id=None)
    for feed_id in list(await session.scalars(statement.returning(FeedRow.id))):
        await _make_due(session, feed_id, now)


async def _subscribe(
    work: UnitOfWork, user_id: int, values: Sequence[dict[str, object]], unread_at_start: int
) -> list[int]:
    if not values:
        return []
    statement = insert(SubscriptionRow).on_conflict_do_nothing(index_elements=["user_id", "feed_id"])
    ordered = sorted(values, key=lambda value: str(value["feed_id"]))
    added = list(await work.session.scalars(statement.returning(SubscriptionRow.feed_id), ordered))
    if added:
        await demand(work.session, FEEDS, user_id)
        await demand(work.session, FEEDS_ADDED, user_id, len(added))
        await inherit_read_state(work.session, EntryRow.feed_id.in_(added), user_id)
        await mark_backlog_read(work.session, added, unread_at_start, user_id)
        work.changed(PERSON_CHANGED, str(user_id))
    return added


def _subscription(user_id: int, feed_id: int, category_id: int | None, title: str, now: datetime) -> dict[str, object]:
    return {"user_id": user_id, "feed_id": feed_id, "category_id": category_id, "title": title, "created_at": now}


async def _categories(session: AsyncSession, user_id: int, names: Sequence[str]) -> dict[str, int]:
    wanted = list(dict.fromkeys(name for name in names if name))
    if not wanted:
        return {}
    last = await session.scalar(select(func.max(CategoryRow.position)).where(CategoryRow.user_id == user_id))
    first = 0 if last is None else last + 1
    statement = insert(CategoryRow)
    statement = statement.on_conflict_do_update(index_elements=["user_id", "name"], set_={"name": CategoryRow.name})
    values = [{"user_id": user_id, "name": name, "position": first + place} for place, name in enumerate(wanted)]
    rows = await session.execute(statement.returning(CategoryRow.name, CategoryRow.id), values)
    found = dict(rows.tuples().all())
    await demand(session, CATEGORIES, user_id)
    return found


def _forget_states(user_id: int, feed_id: int) -> Delete:
    """What is only "read" goes with the subscription; what was kept stays the person's."""
    of_feed = select(EntryRow.id).where(EntryRow.feed_id == feed_id, ~kept_by(user_id))
    return delete(EntryStateRow).where(EntryStateRow.user_id == user_id, EntryStateRow.entry_id.in_(of_feed))


async def _feed(session: AsyncSession, user_id: int, feed_id: int) -> FeedView:
    found = await feed_views(session, SubscriptionRow.user_id == user_id, SubscriptionRow.feed_id == feed_id)
    if not found:
        raise NotFoundError(_NOT_SUBSCRIBED)
    return found[0]


async def _make_due(session: AsyncSession, feed_id: int, now: datetime) -> None:
    statement = insert(FeedStateRow).values(feed_id=feed_id, next_crawl_at=now)
    await session.execute(
        statement.on_conflict_do_update(
            index_elements=["feed_id"], set_={"next_crawl_at": statement.excluded.next_crawl_at}
        )
    )


async def _demand_subscribed(session: AsyncSession, user_id: int, feed_id: int) -> None:
    mine = exists().where(SubscriptionRow.user_id == user_id, SubscriptionRow.feed_id == feed_id)
    if not await session.scalar(select(mine)):
        raise NotFoundError(_NOT_SUBSCRIBED)


async def _demand_category(session: AsyncSession, user_id: int, category_id: int | None) -> None:
    if category_id is None:
        return
    if not await session.scalar(select(exists().where(CategoryRow.id == category_id, CategoryRow.user_id == user_id))):
        raise NotFoundError(_NO_CATEGORY)
