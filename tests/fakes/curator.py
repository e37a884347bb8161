"""Hand-written doubles of the curator's ports: one small world of feeds, pages and a model, in memory."""

import asyncio
import hashlib
import json
import re
import secrets
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from itertools import count
from typing import Any

from pressbox.core.errors import AnswerLostError, PressboxError
from pressbox.core.models.client import ModelClient, OnText, Question
from pressbox.core.models.completions import Said
from pressbox.core.spending.domain import Budget
from pressbox.core.spending.till import UnbilledError
from pressbox.curator.articles.domain import FetchedArticle, Page
from pressbox.curator.cleanup.activities import CleanupActivities
from pressbox.curator.cleanup.contracts import CleanupResult
from pressbox.curator.distil.activities import DistilActivities, DistilPages, SettingsActivities
from pressbox.curator.distil.contracts import AppSettings, DistilSelection
from pressbox.curator.distil.model import PaidDistiller
from pressbox.curator.feeds.domain import Crawl, FeedToCrawl, Validators
from pressbox.curator.ingest.activities import CrawlActivities, FetchActivities, LeftoverActivities, WorkQueues
from pressbox.curator.ingest.contracts import EntriesToFetch, EntryToFetch, FeedPage, ProbedFeed
from pressbox.curator.ingest.fetcher import ArticleFetcher, FeedProber, HostRateLimiter
from pressbox.curator.ingest.page_activities import CrawlPages, FetchPages
from pressbox.curator.ingest.ports import EntrySource
from pressbox.curator.library.contracts import EntryProgressState
from pressbox.curator.library.domain import (
    CrawlOutcome,
    CuratorPolicy,
    Distilled,
    DistilState,
    ExtractionRule,
    FetchState,
    ToDistil,
)
from pressbox.curator.library.leases import Lease
from pressbox.curator.library.urls import host_of
from pressbox.curator.search.activities import EmbeddingActivities, IndexActivities, IndexSelection
from pressbox.curator.search.contracts import EmbeddingSelection
from pressbox.curator.search.ports import DamagedIndexError, FoundIndex, IndexDocument, KnownIndex
from tests.fakes.curator_queues import FakeCrawlQueue, FakeDistilQueue, FakeFetchQueue
from tests.fakes.footy import FakeObjects
from tests.fakes.spending import FakeClaims, FakeLedger, pay_once_of

MODEL = "fake-vectors"
TOKENS_PER_DAY = 200_000

# Ids are parts of workflow ids, and all tests share one server.
_numbers = count(secrets.randbelow(10**6) * 1000)


def now() -> datetime:
    return datetime.now(UTC)


@dataclass
class FakeFeed:
    feed_id: int
    name: str
    due: bool = True
    # Entries that its next crawl brings: addresses of their pages.
    news: list[str] = field(default_factory=list)
    outcome: CrawlOutcome = CrawlOutcome.NEW
    full_text: bool = True
    crawls: int = 0

    @property
    def url(self) -> str:
        return f"https://feeds.example.org/{self.feed_id}"


@dataclass
class FakeEntry:
    entry_id: int
    feed_id: int
    url: str
    title: str
    fetch_state: FetchState = FetchState.WAITING
    distil_state: DistilState = DistilState.WAITING
    text: str = ""
    summary: str = ""
    reason: str = ""
    tries: int = 0
    next_fetch_at: datetime | None = None
    indexed_hash: str = ""
    embedded: bool = False

    @property
    def content_hash(self) -> str:
        return hashlib.sha256(self.text.encode()).hexdigest()[:16]

    @property
    def shown_hash(self) -> str:
        return f"{self.content_hash}-{self.summary}"


class FakeFeeds:
    def __init__(self, world: "FakeWorld") -> None:
        self._world = world

    async def list_due(self, after_feed_id: int, limit: int, due_at: datetime, only_due: bool) -> FeedPage:
        wanted = sorted(feed.feed_id for feed in self._world.feeds.values() if feed.due or not only_due)
        page = [feed_id for feed_id in wanted if feed_id > after_feed_id]
        return FeedPage(feed_ids=tuple(page[:limit]), total=len(wanted), more=len(page) > limit)

    async def load_to_crawl(self, feed_ids: Sequence[int]) -> Sequence[FeedToCrawl]:
        feeds = [self._world.feeds[feed_id] for feed_id in feed_ids if feed_id in self._world.feeds]
        return [FeedToCrawl(feed.feed_id, feed.url, Validators()) for feed in feeds]

    async def store_crawl(
        self, feed: FeedToCrawl, crawl: Crawl, policy: CuratorPolicy, now: datetime, lease: Lease | None = None
    ) -> ProbedFeed:
        known = self._world.feeds[feed.feed_id]
        known.due = False
        created = 0
        if crawl.outcome is CrawlOutcome.NEW:
            created = len(known.news)
            for url in known.news:
                self._world.enter(known, url)
            known.news = []
        return ProbedFeed(feed_id=feed.feed_id, outcome=crawl.outcome, created=created)

    async def store_unchanged(
        self,
        crawls: Sequence[tuple[FeedToCrawl, Crawl]],
        policy: CuratorPolicy,
        now: datetime,
        lease: Lease | None = None,
    ) -> None:
        for feed, _ in crawls:
            self._world.feeds[feed.feed_id].due = False

    async def find_with_work(self, feed_ids: Sequence[int], now: datetime, *, distil: bool = True) -> Sequence[int]:
        return [feed_id for feed_id in feed_ids if self._world.waiting(feed_id)]

    async def find_leftovers(self, without: Sequence[int], limit: int, now: datetime) -> Sequence[int]:
        return [key for key in sorted(self._world.feeds) if key not in without and self._world.waiting(key)][:limit]

    async def load_name(self, feed_id: int) -> str:
        return self._world.feeds[feed_id].name


class FakeEntries:
    """Selects by state, as the real one does."""

    def __init__(self, world: "FakeWorld") -> None:
        self._world = world
        self.distilled: list[int] = []
        self.old: list[int] = []
        self.unread_age: timedelta | None = None
        self.gone: list[int] = []
        self.index: KnownIndex | None = KnownIndex("0", 0, writing=False, complete=True)

    @property
    def all(self) -> dict[int, FakeEntry]:
        return self._world.entries

    async def select_to_fetch(self, feed_id: int, policy: CuratorPolicy, now: datetime) -> EntriesToFetch:
        waiting = self._world.waiting(feed_id)
        page = waiting[: policy.entries_per_fetch]
        return EntriesToFetch(
            feed_name=self._world.feeds[feed_id].name,
            entries=tuple(
                EntryToFetch(entry_id=entry.entry_id, domain=host_of(entry.url), title=entry.title) for entry in page
            ),
            skipped=sum(
                entry.feed_id == feed_id and entry.fetch_state is FetchState.SKIPPED for entry in self.all.values()
            ),
            more=len(waiting) > len(page),
        )

    async def load_source(self, entry_id: int) -> EntrySource | None:
        entry = self.all.get(entry_id)
        if entry is None:
            return None
        full_text = self._world.feeds[entry.feed_id].full_text
        return EntrySource(entry_id, entry.feed_id, entry.url, "", (), full_text, entry.title, entry.tries)

    async def save_article(
        self, entry_id: int, article: FetchedArticle, now: datetime, *, from_feed: bool = False
    ) -> bool:
        entry = self.all[entry_id]
        changed = entry.text != article.text
        entry.fetch_state = FetchState.FROM_FEED if from_feed else FetchState.FETCHED
        if changed:
            entry.text, entry.distil_state = article.text, DistilState.WAITING
        return changed

    async def record_failure(self, entry_id: int, reason: str, next_try: datetime | None, now: datetime) -> None:
        entry = self.all[entry_id]
        entry.tries += 1
        entry.reason, entry.next_fetch_at = reason, next_try
        if next_try is None:
            entry.fetch_state, entry.distil_state = FetchState.FAILED, DistilState.NOTHING

    async def select_for_distillation(
        self, entry_ids: Sequence[int], after_entry_id: int, limit: int, *, feed_id: int | None = None
    ) -> DistilSelection:
        found = [
            entry
            for entry in self.all.values()
            if _to_distil(entry)
            and entry.entry_id > after_entry_id
            and (not entry_ids or entry.entry_id in entry_ids)
            and feed_id in (None, entry.feed_id)
        ]
        page = tuple(EntryProgressState(entry_id=entry.entry_id, title=entry.title) for entry in found[:limit])
        return DistilSelection(entries=page, more=len(found) > limit)

    async def to_distil(self, entry_ids: Sequence[int]) -> Sequence[ToDistil]:
        entries = [self.all[entry_id] for entry_id in entry_ids if _to_distil(self.all[entry_id])]
        return [ToDistil(entry.entry_id, entry.title, entry.text, "en", entry.content_hash) for entry in entries]

    async def save_distilled(self, distilled: Sequence[Distilled], now: datetime) -> Sequence[int]:
        saved = [answer for answer in distilled if answer.content_hash == self.all[answer.entry_id].content_hash]
        for answer in saved:
            entry = self.all[answer.entry_id]
            entry.summary, entry.distil_state = answer.summary, DistilState.DISTILLED
            self.distilled.append(answer.entry_id)
        return [answer.entry_id for answer in saved]

    async def distil_again(self, entry_ids: Sequence[int]) -> None:
        for entry_id in entry_ids:
            if entry_id in self.all and self.all[entry_id].text:
                self.all[entry_id].distil_state = DistilState.WAITING

    async def note_distil_failure(self, entry_id: int, reason: str, now: datetime) -> None:
        self.all[entry_id].distil_state, self.all[entry_id].reason = DistilState.FAILED, reason

    async def load_documents(self, entry_ids: Sequence[int]) -> Sequence[IndexDocument]:
        return [_document(self.all[entry_id]) for entry_id in entry_ids if entry_id in self.all]

    async def ids_after(self, after_entry_id: int, limit: int) -> Sequence[int]:
        return [entry_id for entry_id in sorted(self.all) if entry_id > after_entry_id][:limit]

    async def unindexed_ids(self, limit: int) -> Sequence[int]:
        return [key for key, entry in self.all.items() if entry.indexed_hash != entry.shown_hash][:limit]

    async def mark_indexed(self, hashes: Mapping[int, str]) -> None:
        for entry_id, shown in hashes.items():
            self.all[entry_id].indexed_hash = shown

    async def known_index(self) -> KnownIndex | None:
        return self.index

    async def begin_index_write(self) -> None:
        if self.index is not None:
            self.index = replace(self.index, writing=True)

    async def record_index(self, found: FoundIndex | None, *, complete: bool | None = None) -> None:
        if found is not None:
            was = True if self.index is None else self.index.complete
            self.index = KnownIndex(found.generation, found.commit_number, False, was if complete is None else complete)

    async def index_check_is_due(self) -> bool:
        return False

    async def removed_ids(self, limit: int) -> Sequence[int]:
        return self.gone[:limit]

    async def forget_removed(self, entry_ids: Sequence[int]) -> None:
        self.gone = [entry_id for entry_id in self.gone if entry_id not in entry_ids]

    async def existing_ids(self, entry_ids: Sequence[int]) -> frozenset[int]:
        return frozenset(entry_ids) & self.all.keys()

    async def lacks_vectors(self, model: str) -> bool:
        return bool((await self.select_for_embedding(model, 0, 1)).entry_ids)

    async def select_for_embedding(self, model: str, after_entry_id: int, limit: int) -> EmbeddingSelection:
        missing = [
            key
            for key, entry in sorted(self.all.items())
            if not entry.embedded and entry.fetch_state is not FetchState.WAITING and key > after_entry_id
        ]
        page = tuple(missing[:limit])
        return EmbeddingSelection(entry_ids=page, last_entry_id=page[-1] if page else None, remaining=len(missing))

    async def load_texts(self, entry_ids: Sequence[int]) -> Mapping[int, str]:
        return {key: self.all[key].text or self.all[key].title for key in entry_ids if key in self.all}

    async def save_embeddings(self, model: str, vectors: Mapping[int, Sequence[float]]) -> int:
        for entry_id in vectors:
            self.all[entry_id].embedded = True
        return len(vectors)

    async def clean_up(
        self, before: datetime, dry_run: bool, limit: int, *, unread_before: datetime | None = None
    ) -> CleanupResult:
        self.unread_age = None if unread_before is None else before - unread_before
        if dry_run:
            return CleanupResult(deleted=len(self.old))
        gone, self.old = self.old[:limit], self.old[limit:]
        self.gone += gone
        return CleanupResult(deleted=len(gone), more=bool(self.old))


def _to_distil(entry: FakeEntry) -> bool:
    return entry.distil_state is DistilState.WAITING and entry.fetch_state is not FetchState.WAITING


def _document(entry: FakeEntry) -> IndexDocument:
    return IndexDocument(
        entry.entry_id, entry.feed_id, entry.title, entry.summary, entry.text, "", "", now(), entry.shown_hash
    )


class FakeIndex:
    def __init__(self) -> None:
        self.generations: dict[str, set[int]] = {"0": set()}
        self.current = "0"
        self.down: PressboxError | None = None
        self.batches: list[int] = []
        self.damaged = False
        self.rebuilds = 0
        # What was searched while documents were added, and how many it held.
        self.searched: list[tuple[str, int]] = []

    @property
    def documents(self) -> set[int]:
        return self.generations[self.current]

    async def add(self, documents: Iterable[IndexDocument], generation: str = "") -> None:
        if self.down:
            raise self.down
        added = {document.entry_id for document in documents}
        self.batches.append(len(added))
        self.searched.append((self.current, len(self.documents)))
        self.generations[generation or self.current] |= added

    async def remove(self, entry_ids: Iterable[int]) -> None:
        self.generations[self.current] -= set(entry_ids)

    async def begin_generation(self) -> str:
        name = str(len(self.generations))
        self.generations[name] = set()
        return name

    async def swap(self, generation: str) -> None:
        self.current = generation
        self.damaged = False

    async def find(self) -> FoundIndex | None:
        if self.damaged:
            raise DamagedIndexError("The search index cannot be read.")
        return FoundIndex(self.current, 0)

    async def start(self) -> None:
        self.rebuilds += 1

    async def document_ids(self, after: int, limit: int) -> Sequence[int]:
        return [number for number in sorted(self.documents) if number > after][:limit]


class FakeCrawler:
    """`slow` is how long every feed takes; feeds without news answer "not modified"."""

    def __init__(self, world: "FakeWorld") -> None:
        self._world = world
        self.slow = 0.0
        self.crawled: list[int] = []

    async def crawl(self, feed: FeedToCrawl) -> Crawl:
        await asyncio.sleep(self.slow)
        known = self._world.feeds[feed.feed_id]
        known.crawls += 1
        self.crawled.append(feed.feed_id)
        if known.outcome.failed:
            return Crawl(known.outcome, reason="It does not answer.")
        return Crawl(CrawlOutcome.NEW if known.news else CrawlOutcome.UNCHANGED)


class FakePages:
    """`broken` are addresses with what they answer; `hold` keeps everybody waiting."""

    def __init__(self) -> None:
        self.broken: dict[str, PressboxError] = {}
        self.read_urls: list[str] = []
        self.hold: asyncio.Event | None = None
        self.at_once: dict[str, int] = {}
        self.most_at_once = 0

    async def read(self, url: str, limit: int) -> Page:
        host = host_of(url)
        self.at_once[host] = self.at_once.get(host, 0) + 1
        self.most_at_once = max(self.most_at_once, self.at_once[host])
        try:
            await asyncio.sleep(0.005)
            if self.hold is not None:
                await self.hold.wait()
            self.read_urls.append(url)
            if url in self.broken:
                raise self.broken[url]
            return Page(url, f"<p>The text of {url}</p>", "text/html")
        finally:
            self.at_once[host] -= 1

    async def extract(self, page: Page, rules: Sequence[ExtractionRule], owner: str = "") -> FetchedArticle:
        text = page.html + "".join(rule.expression for rule in rules)
        return FetchedArticle(html=text, text=text, title=f"Title of {page.url}")

    async def from_feed(self, html: str, base_url: str) -> FetchedArticle:
        return FetchedArticle(html=html, text=html or f"What the feed holds of {base_url}")


class FakeRateLimits:
    def __init__(self) -> None:
        self.reserved: list[str] = []
        self.paused: dict[str, datetime] = {}

    async def reserve(self, host: str, delay: timedelta, now: datetime, longest: timedelta) -> datetime:
        self.reserved.append(host)
        return max(self.paused.get(host, now), now)

    async def pause(self, host: str, until: datetime) -> None:
        self.paused[host] = until


class FakeDistiller:
    """`down` answers everything with that error, `breaks` some; `unusable` are entries that it has no answer for, and
    `useless` those whose answer is paid for in vain. As a language model it is paid for.
    """

    name = model = "fake-model"
    prompt_version = "1"

    def __init__(self) -> None:
        self.down: PressboxError | None = None
        self.unusable: set[int] = set()
        self.useless: set[int] = set()
        self.breaks: dict[int, PressboxError] = {}
        self.batches: list[tuple[int, ...]] = []
        self.hold: asyncio.Event | None = None
        self.asked = 0
        self.languages: set[str] = set()

    async def distil(self, entries: Sequence[ToDistil], language: str, sentences: int) -> Sequence[Distilled]:
        if self.hold is not None:
            await self.hold.wait()
        if self.down:
            raise self.down
        for entry in entries:
            if entry.entry_id in self.breaks:
                raise self.breaks[entry.entry_id]
        self.batches.append(tuple(entry.entry_id for entry in entries))
        self.languages.add(language)
        return [
            Distilled(entry.entry_id, f"Gist of {entry.title}", 0, 0, "en", self.name, self.prompt_version)
            for entry in entries
            if entry.entry_id not in self.unusable
        ]

    async def converse(self, question: Question, on_text: OnText | None = None) -> Said:
        self.asked += 1
        if self.hold is not None:
            await self.hold.wait()
        if self.down:
            raise self.down if isinstance(self.down, AnswerLostError) else UnbilledError(self.down)
        found = re.search(r"^0: Text (\d+)$", question.material, re.M)
        entry_id = int(found[1]) if found else 0
        self.batches.append((entry_id,))
        if entry_id in self.breaks:
            raise self.breaks[entry_id]
        self.languages.update(re.findall("with the code “(.*)”", question.instructions))
        if entry_id in self.useless | self.unusable:
            return Said("", 100, 10, "The model refuses: no.")
        answer = {"article": 1, "main_content_start_line": 0, "main_content_end_line": 0, "summary": "Gist of it all"}
        return Said(json.dumps({"articles": [answer]}), 100, 10)


class FakeEmbedder:
    model = MODEL

    async def embed(self, texts: Sequence[str]) -> Sequence[Sequence[float]]:
        return [(float(len(text)), 1.0) for text in texts]


class FakeWorld:
    """`paid` gives the distiller a ledger; `judged` has its summaries judged."""

    def __init__(self, *, paid: bool = False) -> None:
        self.feeds: dict[int, FakeFeed] = {}
        self.entries: dict[int, FakeEntry] = {}
        self.claims = FakeClaims()
        self.ledger = FakeLedger()
        self.index = FakeIndex()
        self.pages = FakePages()
        self.rate_limits = FakeRateLimits()
        self.distiller = FakeDistiller()
        self.fallback: FakeDistiller | None = None
        self.objects = FakeObjects()
        self.crawler = FakeCrawler(self)
        self.entry_store = FakeEntries(self)
        self.distil_queue = FakeDistilQueue(self)
        self.queues = WorkQueues(FakeCrawlQueue(self), FakeFetchQueue(self), self.distil_queue)
        self.paid = paid
        self.judged = False

    def feed(self, *hosts: str, name: str = "", full_text: bool = True) -> FakeFeed:
        """A feed with one new entry for each host."""
        feed_id = next(_numbers)
        news = [f"https://{host}/{number}" for number, host in enumerate(hosts)]
        feed = FakeFeed(feed_id, name or f"Feed {feed_id}", news=news, full_text=full_text)
        self.feeds[feed_id] = feed
        return feed

    def enter(self, feed: FakeFeed, url: str) -> FakeEntry:
        entry = FakeEntry(next(_numbers), feed.feed_id, url, f"News at {url}")
        if not feed.full_text:
            entry.fetch_state, entry.text = FetchState.FROM_FEED, f"What the feed holds of {url}"
        self.entries[entry.entry_id] = entry
        return entry

    def fetched(self, feed: FakeFeed, number: int) -> list[FakeEntry]:
        """Entries with a text that wait for a summary."""
        entries = [self.enter(feed, f"https://example.org/{each}") for each in range(number)]
        for entry in entries:
            entry.text, entry.fetch_state = f"Text {entry.entry_id}", FetchState.FETCHED
        return entries

    def waiting(self, feed_id: int) -> list[FakeEntry]:
        return [
            entry
            for entry in self.entries.values()
            if entry.feed_id == feed_id
            and entry.fetch_state is FetchState.WAITING
            and (entry.next_fetch_at is None or entry.next_fetch_at <= now())
        ]

    def everything_is_done(self) -> bool:
        return all(
            entry.distil_state is DistilState.DISTILLED and entry.indexed_hash == entry.shown_hash and entry.embedded
            for entry in self.entries.values()
        )

    def plain_activities(self) -> list[Callable[..., Any]]:
        settings = AppSettings(
            target_language="de", distiller=self.distiller.name, embedding_model=MODEL, evaluation=self.judged
        )
        crawl = CrawlActivities(FakeFeeds(self), self.entry_store, self.crawler, HostRateLimiter(self.rate_limits, now))
        store = self.entry_store
        leftovers = LeftoverActivities(FakeFeeds(self), store, store, store, MODEL, self.queues)
        prober = FeedProber(FakeFeeds(self), self.crawler, HostRateLimiter(self.rate_limits, now))
        return [
            SettingsActivities(settings).get_app_settings,
            crawl.list_feeds,
            crawl.probe_feeds,
            crawl.crawl_single_feed,
            crawl.get_entries_to_fetch,
            CrawlPages(self.queues.crawl, prober).crawl_due_feeds,
            leftovers.get_leftovers,
            leftovers.find_due_work,
            self._fetching().get_entries,
            self._fetching().fetch_single_content,
            self._distilling().get_entries_for_distillation,
            self._distilling().save_distilled_entries,
            IndexSelection(self.entry_store).get_entry_ids_for_indexing,
            EmbeddingActivities(self.entry_store, FakeEmbedder()).get_entries_for_embedding,
            CleanupActivities(self.entry_store).cleanup_old_entries,
        ]

    def heavy_activities(self) -> list[Callable[..., Any]]:
        fetch = self._fetching()
        return [
            fetch.fetch_single_content,
            fetch.fetch_contents,
            FetchPages(self.queues.fetch, self._fetcher()).fetch_due_contents,
            self._distilling().distill_entry_content,
            DistilPages(self.queues.distil, self._distilling()).distill_due_entries,
            EmbeddingActivities(self.entry_store, FakeEmbedder()).compute_embeddings,
        ]

    def index_activities(self) -> list[Callable[..., Any]]:
        index = IndexActivities(self.entry_store, self.index, self.index)
        return [
            index.init_search_index,
            index.clear_search_index,
            index.swap_search_index,
            index.index_entries_batch,
            index.get_orphaned_document_ids,
            index.remove_documents_from_index,
        ]

    def _fetching(self) -> FetchActivities:
        return FetchActivities(self.entry_store, self.entry_store, self._fetcher(), self.objects)

    def _fetcher(self) -> ArticleFetcher:
        return ArticleFetcher(self.pages, self.pages, HostRateLimiter(self.rate_limits, now))

    def _distilling(self) -> DistilActivities:
        if not self.paid:
            return DistilActivities(self.entry_store, self.claims, offline=self.distiller)
        client = ModelClient(self.distiller, pay_once_of(self.ledger, self.claims, Budget(TOKENS_PER_DAY)))
        paid = PaidDistiller(client)
        return DistilActivities(self.entry_store, self.claims, paid=paid, offline=self.fallback)
