"""People, feeds and entries of the curator in a real database; Temporal, the web and the index are stand-ins."""

import secrets
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from argon2 import PasswordHasher
from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncSession

from pressbox.core.accounts.audit import AuditLog
from pressbox.core.accounts.passwords import Passwords
from pressbox.core.accounts.rows import UserRow
from pressbox.core.app import Resources
from pressbox.core.quotas.store import QuotaUses
from pressbox.core.spending.domain import Budget
from pressbox.core.spending.ledger import SqlLedger
from pressbox.core.spending.status import BudgetStatus
from pressbox.curator.apps.service import AppService, StreamService, ViewService
from pressbox.curator.apps.store import SqlViewFeeds
from pressbox.curator.apps.stream_store import SqlStreams
from pressbox.curator.apps.wiring import app_service, stream_service, view_service
from pressbox.curator.articles.wiring import parser_pool
from pressbox.curator.feeds.domain import FoundFeed, ParsedFeed
from pressbox.curator.ingest.starter import IngestStarter
from pressbox.curator.library.contracts import QUEUE
from pressbox.curator.library.domain import CrawlOutcome, CuratorPolicy, DistilState, FetchState
from pressbox.curator.library.rows import (
    EntryBodyRow,
    EntryEmbeddingRow,
    EntryRow,
    FeedErrorRow,
    FeedRow,
    FeedStateRow,
    StoryRow,
    SubscriptionRow,
)
from pressbox.curator.models.store import CostService, SqlCosts
from pressbox.curator.models.wiring import cost_service
from pressbox.curator.reading.service import ReadingService, StateService
from pressbox.curator.reading.sidebar import SqlSidebar
from pressbox.curator.reading.state_store import SqlLabels, SqlReadingStates
from pressbox.curator.reading.store import SqlReadingLists
from pressbox.curator.reading.wiring import reading_service, state_service
from pressbox.curator.search.ports import Hit, Ranking, SearchScope
from pressbox.curator.sources.service import OutlineService, SourceService
from pressbox.curator.sources.store import SqlCategories, SqlSubscriptions
from pressbox.curator.sources.wiring import outline_service, source_service
from tests.fakes.temporal import RecordedTemporal

NOW = datetime(2027, 4, 1, 12, 0, tzinfo=UTC)
MODEL = "a model"


@dataclass(frozen=True)
class Services:
    """The use cases that have stand-ins here."""

    sources: SourceService
    outlines: OutlineService
    reading: ReadingService
    states: StateService
    costs: CostService
    apps: AppService
    views: ViewService
    streams: StreamService


@dataclass
class Web:
    """Which feeds an address leads to; `asked` are the addresses as they came."""

    sites: dict[str, Sequence[FoundFeed]] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)

    async def discover(self, url: str, owner: str = "") -> Sequence[FoundFeed]:
        self.asked.append(url)
        url = url if "://" in url else f"https://{url}"
        return self.sites.get(url, [FoundFeed(url, "A feed", ParsedFeed("A feed"))] if url.endswith(".xml") else [])


@dataclass
class Index:
    """Finds entries whose title was said to have the words; `asked` are the feeds it was asked to look in."""

    hits: list[int] = field(default_factory=list)
    asked: list[tuple[str, tuple[int, ...], bool]] = field(default_factory=list)

    async def rank(self, scope: SearchScope, limit: int) -> Ranking:
        self.asked.append((scope.query, tuple(scope.feed_ids or ()), scope.newest_first))
        hits = [number for number in self.hits if scope.entry_ids is None or number in scope.entry_ids]
        return Ranking(scope, hits[:limit], len(hits))

    async def show(self, ranking: Ranking, entry_ids: Sequence[int]) -> Sequence[Hit]:
        return [Hit(number, 1.0, f"<mark>{ranking.scope.query}</mark>", "…") for number in entry_ids]

    async def search(self, scope: SearchScope, limit: int, offset: int = 0) -> tuple[Sequence[Hit], int]:
        ranking = await self.rank(scope, limit + offset)
        return await self.show(ranking, ranking.entry_ids[offset:]), ranking.total


@dataclass
class Library:
    """Writes rows as ingestion would, and gives the use cases."""

    resources: Resources
    temporal: RecordedTemporal = field(default_factory=RecordedTemporal)
    web: Web = field(default_factory=Web)
    index: Index = field(default_factory=Index)
    now: datetime = NOW

    def __post_init__(self) -> None:
        self.database = self.resources.database
        objects, ingest = self.resources.objects, IngestStarter(self.temporal.client, QUEUE, CuratorPolicy())
        subscriptions, streams = SqlSubscriptions(self.database), SqlStreams(self.database)
        categories, labels = SqlCategories(self.database), SqlLabels(self.database)
        sources = SourceService(
            subscriptions, categories, self.web, ingest, objects, self.clock, quotas=QuotaUses(self.database)
        )
        states = StateService(SqlReadingStates(self.database), labels, self.clock)
        reading = ReadingService(SqlReadingLists(self.database), self.index, MODEL, ingest)
        self.service = Services(
            sources=sources,
            outlines=OutlineService(subscriptions, objects, ingest, parser_pool(self.resources), self.clock),
            reading=reading,
            states=states,
            costs=CostService(
                SqlCosts(self.database), BudgetStatus(SqlLedger(self.database), Budget(1000), self.clock), self.clock
            ),
            apps=app_service(self.resources, Passwords(PasswordHasher(1, 8, 1))),
            views=ViewService(
                SqlViewFeeds(self.database), SqlSidebar(self.database), reading, streams, AuditLog(self.database)
            ),
            streams=StreamService(streams, SqlSidebar(self.database), sources, states, self.clock),
        )

    def clock(self) -> datetime:
        return self.now

    def overrides(self) -> dict[Callable[..., Any], Callable[..., Any]]:
        """For `serving`: pages and API use the stand-ins."""
        return {
            make: lambda name=name: getattr(self.service, name)
            for name, make in (
                ("sources", source_service),
                ("outlines", outline_service),
                ("reading", reading_service),
                ("states", state_service),
                ("costs", cost_service),
                ("apps", app_service),
                ("views", view_service),
                ("streams", stream_service),
            )
        }

    async def person(self) -> int:
        async with self.database.unit_of_work() as work:
            row = UserRow(email=f"{secrets.token_hex(4)}@example.org", name="", password_hash="unusable", role="member")
            work.session.add(row)
            await work.session.flush()
            return row.id

    async def feed(self, *user_ids: int, title: str = "", url: str = "", category_id: int | None = None) -> int:
        """A feed that these people read."""
        async with self.database.unit_of_work() as work:
            row = FeedRow(url=url or f"https://{secrets.token_hex(4)}.example.org/feed.xml", title=title or "A feed")
            work.session.add(row)
            await work.session.flush()
            work.session.add(FeedStateRow(feed_id=row.id, next_crawl_at=NOW + timedelta(hours=1)))
            for user_id in user_ids:
                work.session.add(SubscriptionRow(user_id=user_id, feed_id=row.id, category_id=category_id))
            return row.id

    async def entry(
        self,
        feed_id: int,
        title: str = "An entry",
        *,
        at: datetime | None = None,
        seen: datetime | None = None,
        story: str = "",
        vector: Sequence[float] | None = None,
        model: str = MODEL,
        body: str = "<p>Body.</p>",
        fetch: FetchState = FetchState.FETCHED,
        distil: DistilState = DistilState.DISTILLED,
        summary: str = "A summary.",
    ) -> int:
        key = secrets.token_hex(6)
        async with self.database.unit_of_work() as work:
            row = EntryRow(
                feed_id=feed_id,
                guid=key,
                url=f"https://example.org/{key}",
                canonical_url=f"https://example.org/{story or key}",
                title=title,
                published_at=at or NOW,
                first_seen_at=seen or NOW,
                updated_at=NOW,
                summary=summary,
                fetch_state=fetch,
                distil_state=distil,
                distil_model="extractive",
            )
            if story:
                row.story_id = await _story(work.session, story)
            work.session.add(row)
            await work.session.flush()
            work.session.add(EntryBodyRow(entry_id=row.id, feed_content="<p>Fed.</p>", full_content=body))
            if vector is not None:
                work.session.add(EntryEmbeddingRow(entry_id=row.id, model=model, embedding=list(vector), shown_hash=""))
            return row.id

    async def crawled(self, feed_id: int, outcome: CrawlOutcome, reason: str = "", status: int | None = None) -> None:
        """As the last crawl of a feed left it."""
        async with self.database.unit_of_work() as work:
            state = await work.session.get(FeedStateRow, feed_id)
            assert state is not None
            state.outcome, state.reason, state.status, state.last_crawl_at = outcome, reason, status, self.now
            if outcome.failed:
                state.failures += 1
                work.session.add(
                    FeedErrorRow(feed_id=feed_id, at=self.now, outcome=outcome, status=status, reason=reason)
                )
            else:
                state.failures, state.last_success_at = 0, self.now


async def _story(session: AsyncSession, name: str) -> int:
    row = await session.scalar(select(StoryRow).where(StoryRow.canonical_url == f"https://example.org/{name}"))
    if row is None:
        row = StoryRow(canonical_url=f"https://example.org/{name}")
        session.add(row)
        await session.flush()
    return row.id
