"""What ingestion needs from storage. Every trouble with a part of ours is a TransientError."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from pressbox.curator.distil.contracts import DistilSelection
from pressbox.curator.ingest.contracts import EntriesToFetch, FeedPage, ProbedFeed
from pressbox.curator.library.domain.entries import Distilled, FetchedArticle, ToDistil
from pressbox.curator.library.domain.feeds import Crawl, ExtractionRule, FeedToCrawl
from pressbox.curator.library.domain.policy import CuratorPolicy
from pressbox.curator.search.contracts import CleanupResult, EmbeddingSelection


class Feeds(Protocol):
    """Feeds as ingestion sees them."""

    async def due(self, after_feed_id: int, limit: int, due_at: datetime, only_due: bool) -> FeedPage:
        """Only feeds that somebody subscribes to; never paused ones, and those that are gone only when made due."""
        ...

    async def to_crawl(self, feed_ids: Sequence[int]) -> Sequence[FeedToCrawl]: ...

    async def store_crawl(self, feed: FeedToCrawl, crawl: Crawl, policy: CuratorPolicy, now: datetime) -> ProbedFeed:
        """Entries, validators, health and the next time in one transaction. A failure keeps what was known before.

        The feed of the result is another one when this one moved to an address that is already there.
        """
        ...

    async def store_unchanged(
        self, crawls: Sequence[tuple[FeedToCrawl, Crawl]], policy: CuratorPolicy, now: datetime
    ) -> None:
        """What `store_crawl` does for UNCHANGED, for a whole page of feeds at the price of one."""
        ...

    async def with_work(self, feed_ids: Sequence[int], now: datetime, *, distil: bool = True) -> Sequence[int]:
        """Those with entries that wait for a fetch which is due, or for a distillation unless nobody asks for these.

        What only waits for the index is none of it: that is looked for in all feeds together.
        """
        ...

    async def leftovers(self, without: Sequence[int], limit: int, now: datetime) -> Sequence[int]:
        """Other feeds with entries that wait for a fetch which is due, whether or not the feed itself is."""
        ...

    async def name(self, feed_id: int) -> str: ...

    async def rules(self, feed_id: int) -> Sequence[ExtractionRule]: ...


@dataclass(frozen=True)
class EntrySource:
    """What a fetch needs to know of an entry."""

    entry_id: int
    feed_id: int
    url: str
    feed_html: str
    rules: tuple[ExtractionRule, ...]
    full_text: bool
    title: str = ""
    tries: int = 0


@dataclass(frozen=True)
class IndexDocument:
    entry_id: int
    feed_id: int
    title: str
    summary: str
    filtered_content: str
    feed_content: str
    author: str
    published_at: datetime
    # What `note_indexed` is told: an entry that changed meanwhile stays to be indexed.
    shown_hash: str = ""


class Entries(Protocol):
    """Entries on their way. Selection is by state; each write is one transaction."""

    async def to_fetch(self, feed_id: int, policy: CuratorPolicy, now: datetime) -> EntriesToFetch: ...

    async def source(self, entry_id: int) -> EntrySource | None: ...

    async def save_article(
        self, entry_id: int, article: FetchedArticle, now: datetime, *, from_feed: bool = False
    ) -> bool:
        """True when the content is another one than before: then it is distilled and indexed again."""
        ...

    async def note_fetch_failure(self, entry_id: int, reason: str, next_try: datetime | None, now: datetime) -> None:
        """None: no more tries; the entry keeps what the feed gave."""
        ...

    async def select_for_distillation(
        self, entry_ids: Sequence[int], after_entry_id: int, limit: int, *, feed_id: int | None = None
    ) -> DistilSelection:
        """Those of these that wait for it and have a text; without ids all of a feed, or of all feeds."""
        ...

    async def to_distil(self, entry_ids: Sequence[int]) -> Sequence[ToDistil]: ...

    async def save_distilled(self, distilled: Sequence[Distilled], now: datetime) -> Sequence[int]:
        """Only where the content is still the one that was distilled; the ids that were saved."""
        ...

    async def distil_again(self, entry_ids: Sequence[int]) -> None:
        """Let those with a text wait for a distillation again, whatever came of the last."""
        ...

    async def note_distil_failure(self, entry_id: int, reason: str, now: datetime) -> None: ...

    async def documents(self, entry_ids: Sequence[int]) -> Sequence[IndexDocument]: ...

    async def documents_after(self, after_entry_id: int, limit: int) -> Sequence[IndexDocument]: ...

    async def ids_after(self, after_entry_id: int, limit: int) -> Sequence[int]:
        """All entries, in ascending order."""
        ...

    async def unindexed(self, limit: int) -> Sequence[int]: ...

    async def note_indexed(self, hashes: Mapping[int, str]) -> None:
        """By entry, the `shown_hash` of the document that is in the index now."""
        ...

    async def removed(self, limit: int) -> Sequence[int]:
        """Entries that are gone and whose documents may still be in the index."""
        ...

    async def note_removed(self, entry_ids: Sequence[int]) -> None:
        """Their documents are gone too."""
        ...

    async def existing(self, entry_ids: Sequence[int]) -> frozenset[int]: ...

    async def select_for_embedding(self, model: str, after_entry_id: int, limit: int) -> EmbeddingSelection: ...

    async def texts_to_embed(self, entry_ids: Sequence[int]) -> Mapping[int, str]: ...

    async def save_embeddings(self, model: str, vectors: Mapping[int, Sequence[float]]) -> int: ...

    async def clean_up(self, before: datetime, dry_run: bool, limit: int) -> CleanupResult:
        """What everybody has read and nobody kept. The index learns of it by `removed`. A dry run counts all."""
        ...


class Claims(Protocol):
    """Who does a piece of work right now, so that two runs do not do the same. A claim lapses by itself."""

    async def take(self, keys: Sequence[str], owner: str, until: datetime, now: datetime) -> frozenset[str]:
        """Those that are the owner's now: nobody had them, their time was over, or they were his before."""
        ...

    async def release(self, keys: Sequence[str], owner: str) -> None: ...


class SearchIndex(Protocol):
    """The full-text index. Only the index queue writes, from one process."""

    async def add(self, documents: Iterable[IndexDocument], generation: str = "") -> None: ...

    async def remove(self, entry_ids: Iterable[int]) -> None: ...

    async def begin_generation(self) -> str: ...

    async def swap(self, generation: str) -> None: ...

    async def document_ids(self, after: int, limit: int) -> Sequence[int]: ...


@dataclass(frozen=True)
class Hit:
    entry_id: int
    score: float
    title_html: str
    snippet_html: str


class SearchReader(Protocol):
    async def search(
        self, query: str, feed_ids: Sequence[int] | None, limit: int, offset: int, newest_first: bool
    ) -> tuple[Sequence[Hit], int]: ...


@dataclass(frozen=True)
class PaidCall:
    """One paid piece of work, keyed so that it is never paid twice."""

    content_hash: str
    prompt_version: str
    model: str
    feature: str
    entry_id: int | None
    feed_id: int | None


@dataclass(frozen=True)
class Expected:
    """What a call will take at most. `cost` is that of its tokens in: so much is lost when nobody hears the answer."""

    call: PaidCall
    tokens_in: int
    tokens_out: int
    cost: float = 0.0


@dataclass(frozen=True)
class Reserved:
    """A number for each call; none when there is no room. `spoken_for`: calls that run now have what is left."""

    ids: tuple[int, ...] = ()
    spoken_for: bool = False


class ModelLedger(Protocol):
    async def known(self, call: PaidCall) -> str | None:
        """The answer that was paid for, or None."""
        ...

    async def useless(self, call: PaidCall, since: datetime) -> int:
        """How often the same was paid since, for an answer that could not be used."""
        ...

    async def reserve(self, wanted: Sequence[Expected], per_day: int, until: datetime, now: datetime) -> Reserved:
        """All of them or none, one caller after the other. Room is there while one token of the day is left.

        What was reserved for the same work before, or until a time that is past, belonged to a worker that died: it
        becomes a line of the ledger, since the question may have been paid.
        """
        ...

    async def free(self, reserved: Sequence[int], *, paid: bool = False) -> None:
        """Nothing was heard. `paid`: the question went out all the same, and is counted."""
        ...

    async def record(
        self,
        call: PaidCall,
        answer: str,
        tokens_in: int,
        tokens_out: int,
        cost: float,
        now: datetime,
        *,
        usable: bool = True,
        reserved: int | None = None,
    ) -> None:
        """What was of no use is counted, and never given out. It takes the place of what was `reserved` for it."""
        ...

    async def tokens_today(self, now: datetime) -> int: ...
