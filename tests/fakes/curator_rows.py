"""Feeds, people and crawls for the tests of the curator's stores, on a real database."""

import secrets
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from sqlalchemy import func, select
from sqlalchemy.dialects.postgresql import insert

from pressbox.core.accounts.rows import UserRow
from pressbox.core.db.database import Database
from pressbox.curator.articles.domain import FetchedArticle
from pressbox.curator.cleanup.store import SqlCleanupStore
from pressbox.curator.distil.store import SqlDistilStore
from pressbox.curator.feeds.domain import Crawl, FeedEntry, FeedToCrawl, ParsedFeed, Validators
from pressbox.curator.ingest.contracts import ProbedFeed
from pressbox.curator.ingest.edits import Change, Edit, compare_all
from pressbox.curator.ingest.feed_store import SqlFeeds
from pressbox.curator.ingest.fetch_store import SqlFetchStore
from pressbox.curator.library.domain import CrawlOutcome, CuratorPolicy
from pressbox.curator.library.rows import (
    EntryBodyRow,
    EntryRow,
    EntryStateRow,
    FeedRow,
    FeedStateRow,
    LabelRow,
    SubscriptionRow,
)
from pressbox.curator.search.store import SqlEmbeddingStore, SqlIndexStore

NOW = datetime(2026, 5, 4, 12, 0, tzinfo=UTC)
POLICY = CuratorPolicy()


def entry(number: int, **changes: Any) -> FeedEntry:
    values: dict[str, Any] = {
        "guid": f"guid-{number}",
        "url": f"https://news.example.org/article/{number}",
        "title": f"Article {number}",
        "published_at": NOW - timedelta(hours=number),
        "content": f"<p>What the feed says of the article with the name {'abcdefghij'[number % 10]}{number}.</p>",
    }
    return FeedEntry(**(values | changes))


def read(*entries: FeedEntry, etag: str = "first", title: str = "The News", **changes: Any) -> Crawl:
    """A crawl that found these."""
    parsed = ParsedFeed(title=title, site_url="https://news.example.org/", entries=entries)
    validators = Validators(etag=etag, last_modified="then", content_hash=f"hash of {etag}")
    return Crawl(CrawlOutcome.NEW, parsed=parsed, validators=validators, status=200, **changes)


class ComparerHere:
    """Compares in this process: what these tests write is short and harmless."""

    async def compare(self, changes: tuple[Change, ...]) -> Sequence[Edit]:
        return compare_all(changes)


class Rows:
    """Shorthand for what happens before and after what is tested."""

    def __init__(self, database: Database) -> None:
        self.database = database
        self.feeds = SqlFeeds(database, ComparerHere())
        self.fetches = SqlFetchStore(database)
        self.summaries = SqlDistilStore(database)
        self.documents = SqlIndexStore(database)
        self.embeddings = SqlEmbeddingStore(database)
        self.cleanup = SqlCleanupStore(database)

    async def add(self, row: Any) -> Any:
        async with self.database.unit_of_work() as work:
            work.session.add(row)
            await work.session.flush()
        return row

    async def user(self) -> int:
        email = f"{secrets.token_hex(4)}@example.org"
        return int((await self.add(UserRow(email=email, name="", password_hash="unusable", role="member"))).id)

    async def feed(self, *readers: int, **values: Any) -> int:
        url = values.pop("url", f"https://{secrets.token_hex(4)}.example.org/feed")
        feed = await self.add(FeedRow(url=url, **values))
        for reader in readers:
            await self.subscribe(reader, feed.id)
        return int(feed.id)

    async def subscribe(self, user_id: int, feed_id: int) -> None:
        await self.add(SubscriptionRow(user_id=user_id, feed_id=feed_id))

    async def to_crawl(self, feed_id: int) -> FeedToCrawl:
        (feed,) = await self.feeds.load_to_crawl([feed_id])
        return feed

    async def crawl(
        self, feed_id: int, crawl: Crawl, now: datetime = NOW, policy: CuratorPolicy = POLICY
    ) -> ProbedFeed:
        return await self.feeds.store_crawl(await self.to_crawl(feed_id), crawl, policy, now)

    async def all(self, statement: Any) -> list[Any]:
        async with self.database.unit_of_work() as work:
            return list(await work.session.scalars(statement))

    async def one(self, kind: type[Any], key: Any) -> Any:
        async with self.database.unit_of_work() as work:
            return await work.session.get(kind, key)

    async def of_feed(self, feed_id: int) -> list[EntryRow]:
        return await self.all(select(EntryRow).where(EntryRow.feed_id == feed_id).order_by(EntryRow.guid))

    async def ids(self, feed_id: int) -> list[int]:
        return [row.id for row in await self.of_feed(feed_id)]

    async def body(self, entry_id: int) -> EntryBodyRow:
        row: EntryBodyRow = await self.one(EntryBodyRow, entry_id)
        return row

    async def state(self, feed_id: int) -> FeedStateRow:
        row: FeedStateRow = await self.one(FeedStateRow, feed_id)
        return row

    async def do(self, user_id: int, entry_ids: Sequence[int], **state: Any) -> None:
        """What a person did with entries."""
        values = [{"user_id": user_id, "entry_id": entry_id} | state for entry_id in sorted(entry_ids)]
        statement = insert(EntryStateRow).values(values)
        statement = statement.on_conflict_do_update(index_elements=["user_id", "entry_id"], set_=state)
        async with self.database.unit_of_work() as work:
            await work.session.execute(statement)

    async def label(self, user_id: int) -> int:
        return int((await self.add(LabelRow(user_id=user_id, name=secrets.token_hex(4)))).id)

    async def unread(self, user_id: int, feed_id: int) -> int:
        statement = select(SubscriptionRow.unread).where(SubscriptionRow.user_id == user_id)
        (number,) = await self.all(statement.where(SubscriptionRow.feed_id == feed_id))
        return int(number)

    async def really_unread(self, user_id: int, feed_id: int) -> int:
        done = select(EntryStateRow.entry_id).where(
            EntryStateRow.entry_id == EntryRow.id, EntryStateRow.user_id == user_id, EntryStateRow.read_at.is_not(None)
        )
        (number,) = await self.all(
            select(func.count()).select_from(EntryRow).where(EntryRow.feed_id == feed_id, ~done.exists())
        )
        return int(number)

    async def fetched(self, entry_id: int, text: str, now: datetime = NOW) -> bool:
        return await self.fetches.save_article(entry_id, FetchedArticle(html=f"<p>{text}</p>", text=text), now)
