"""People, feeds and entries of the curator in a real database; Temporal, the web and the index are stand-ins."""

import secrets
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta

from argon2 import PasswordHasher
from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncSession

from pressbox.core.accounts.passwords import Passwords
from pressbox.core.accounts.rows import UserRow
from pressbox.core.app import Resources
from pressbox.core.errors import TransientError
from pressbox.curator.apps import wiring as own_apps
from pressbox.curator.feeds.domain import ParsedFeed
from pressbox.curator.feeds.ports import FoundFeed
from pressbox.curator.ingest.contracts import PreviewFetchOutput
from pressbox.curator.library.domain.entries import DistilState, FetchState
from pressbox.curator.library.domain.feeds import CrawlOutcome, ExtractionRule
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
from pressbox.curator.models.store import SqlCosts, SqlModelLedger
from pressbox.curator.operations.service import WorkService
from pressbox.curator.reading.label_store import SqlCategories, SqlLabels
from pressbox.curator.reading.service import ReadingService
from pressbox.curator.reading.state_store import SqlReadingStates
from pressbox.curator.reading.states import StateService
from pressbox.curator.reading.store import SqlReadingLists
from pressbox.curator.search.ports import Hit
from pressbox.curator.service import Curator
from pressbox.curator.sources.outlines import OutlineService
from pressbox.curator.sources.service import SourceService
from pressbox.curator.sources.subscription_store import SqlSubscriptions
from pressbox.curator.wiring import service

NOW = datetime(2027, 4, 1, 12, 0, tzinfo=UTC)
MODEL = "a model"


@dataclass
class Started:
    """What workflows were started; `away` as when Temporal is down."""

    calls: list[tuple[object, ...]] = field(default_factory=list)
    away: bool = False
    previewed: PreviewFetchOutput = field(default_factory=lambda: PreviewFetchOutput(ok=False, error="nothing there"))

    def _note(self, *call: object) -> str:
        if self.away:
            raise TransientError("Temporal does not answer.")
        self.calls.append(call)
        return "-".join(str(part) for part in call)

    async def ingest_feed(self, feed_id: int) -> str:
        return self._note("ingest-feed", feed_id)

    async def ingest_all(self, only_due: bool) -> str:
        return self._note("ingest-all", only_due)

    async def reprocess(self, entry_ids: Sequence[int], fetch: bool, distill: bool) -> str:
        return self._note("reprocess", tuple(entry_ids), fetch, distill)

    async def distil(self, entry_ids: Sequence[int]) -> str:
        return self._note("distil", tuple(entry_ids))

    async def reindex(self, batch_size: int, clean: bool) -> str:
        return self._note("reindex", batch_size, clean)

    async def prune(self, batch_size: int) -> str:
        return self._note("prune", batch_size)

    async def embed(self, batch_size: int) -> str:
        return self._note("embed", batch_size)

    async def clean_up(self, days: int, dry_run: bool) -> str:
        return self._note("clean-up", days, dry_run)

    async def preview(self, url: str, rules: Sequence[ExtractionRule]) -> PreviewFetchOutput:
        self._note("preview", url, tuple(rules))
        return self.previewed


@dataclass
class Web:
    """Which feeds an address leads to."""

    sites: dict[str, Sequence[FoundFeed]] = field(default_factory=dict)

    async def discover(self, url: str) -> Sequence[FoundFeed]:
        return self.sites.get(url, [FoundFeed(url, "A feed", ParsedFeed("A feed"))] if url.endswith(".xml") else [])


@dataclass
class Index:
    """Finds entries whose title was said to have the words; `asked` are the feeds it was asked to look in."""

    hits: list[int] = field(default_factory=list)
    asked: list[tuple[str, tuple[int, ...], bool]] = field(default_factory=list)

    async def search(
        self, query: str, feed_ids: Sequence[int] | None, limit: int, offset: int, newest_first: bool
    ) -> tuple[Sequence[Hit], int]:
        self.asked.append((query, tuple(feed_ids or ()), newest_first))
        found = [Hit(number, 1.0, f"<mark>{query}</mark>", "…") for number in self.hits]
        return found[offset : offset + limit], len(found)


@dataclass
class Library:
    """Writes rows as ingestion would, and gives the use cases."""

    resources: Resources
    workflows: Started = field(default_factory=Started)
    web: Web = field(default_factory=Web)
    index: Index = field(default_factory=Index)
    now: datetime = NOW

    def __post_init__(self) -> None:
        self.database = self.resources.database
        subscriptions, lists = SqlSubscriptions(self.database), SqlReadingLists(self.database)
        objects = self.resources.objects
        sources = SourceService(subscriptions, SqlCategories(self.database), self.web, self.workflows, lambda: self.now)
        states = StateService(SqlReadingStates(self.database), SqlLabels(self.database), lambda: self.now)
        reading = ReadingService(lists, self.index, MODEL)
        # What has no stand-in here is what wiring makes of it.
        self.service: Curator = replace(
            service(self.resources),
            sources=sources,
            outlines=OutlineService(subscriptions, objects, self.workflows, lambda: self.now),
            reading=reading,
            states=states,
            apps=own_apps.apps(self.resources, Passwords(PasswordHasher(1, 8, 1))),
            views=own_apps.views(self.resources, reading),
            streams=own_apps.streams(self.resources, sources, states, lambda: self.now),
            work=WorkService(
                self.workflows,
                subscriptions,
                lists,
                SqlCosts(self.database),
                SqlModelLedger(self.database),
                objects,
                1000,
                lambda: self.now,
            ),
        )

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
