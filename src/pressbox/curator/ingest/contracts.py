"""From a feed to full articles: ids, counts and states; never a body."""

import re
from datetime import datetime, timedelta

from pydantic import Field

from pressbox.core.contracts import CamelContract, Contract
from pressbox.curator.library.contracts import CuratorProgress, EntryProgressState
from pressbox.curator.library.domain import CrawlOutcome, CuratorPolicy

INGEST_WORKFLOW = "curator-ingest"
FETCH_SHARD = "curator-fetch"
ALL_FEEDS_INGESTION = "AllFeedsIngestionWorkflow"
SCHEDULE_FETCH = "ScheduleFetchWorkflow"
SINGLE_FEED_INGESTION = "SingleFeedIngestionWorkflow"
REPROCESS_ENTRIES = "ReprocessEntriesWorkflow"
PREVIEW_FETCH = "PreviewFetchWorkflow"
ARTICLES_SIGNAL = "articles_arrived"


def feed_workflow_id(feed_id: int) -> str:
    return f"ingest-feed-{feed_id}"


def fetch_workflow_id(feed_id: int, number: int) -> str:
    return f"fetch-feed-{feed_id}-{number}"


def fetch_shard_id(shard: int) -> str:
    return f"{FETCH_SHARD}-{shard}"


def domain_workflow_id(parent_id: str, domain: str) -> str:
    return f"{parent_id}-{re.sub(r'[^a-z0-9.-]', '-', domain.lower())}"


def reprocess_workflow_id(key: str) -> str:
    return f"reprocess-{key}"


def preview_workflow_id(key: str) -> str:
    return f"preview-{key}"


def preview_key(key: str) -> str:
    return f"scratch/curator/preview-{key}.html"


class AllFeedsIngestionInput(CamelContract):
    """`only_due` False crawls every feed that is not paused. A `routine` run without news is not shown.

    `max_concurrent` is for this run alone; otherwise the policy says how many pages are worked on at a time.
    """

    enable_content_fetch: bool = True
    auto_distill: bool = True
    only_due: bool = True
    routine: bool = False
    max_concurrent: int | None = Field(None, ge=1)
    policy: CuratorPolicy = CuratorPolicy()
    state: "AllFeedsState" = Field(default_factory=lambda: AllFeedsState())

    @property
    def limits(self) -> CuratorPolicy:
        chosen = self.max_concurrent
        return self.policy if chosen is None else self.policy.model_copy(update={"feeds_at_once": chosen})


class AllFeedsState(CamelContract):
    """Carried over continue-as-new: one run per page of feeds."""

    after_feed_id: int = 0
    # Only feeds that were due when the whole ingestion began: nobody is crawled twice by one.
    began_at: datetime | None = None
    pages: int = 0
    feeds_total: int = 0
    feeds_completed: int = 0
    entries_created: int = 0
    contents_fetched: int = 0
    entries_distilled: int = 0
    feeds_failed: int = 0


class AllFeedsIngestionProgress(CuratorProgress):
    feeds_total: int = 0
    feeds_completed: int = 0
    feeds_failed: int = 0
    current_batch: int = 0
    total_batches: int = 0
    entries_created: int = 0
    contents_fetched: int = 0
    entries_distilled: int = 0


class AllFeedsIngestionOutput(CamelContract):
    feeds: int
    feeds_failed: int
    entries_created: int


class ListFeedsInput(Contract):
    after_feed_id: int = 0
    limit: int = 100
    due_at: datetime | None = None
    only_due: bool = True


class FeedPage(Contract):
    """`total` counts all that the ingestion will visit, as known on the first page."""

    feed_ids: tuple[int, ...]
    total: int = 0
    more: bool = False


class ProbeFeedsInput(Contract):
    feed_ids: tuple[int, ...]
    policy: CuratorPolicy = CuratorPolicy()


class ProbedFeed(Contract):
    feed_id: int
    outcome: CrawlOutcome
    created: int = 0
    updated: int = 0
    # Not even its failure could be kept.
    stored: bool = True


class ProbeFeedsResult(Contract):
    """Only feeds with work: new or changed entries, or older ones that a crash left half done."""

    with_work: tuple[int, ...] = ()
    unchanged: int = 0
    failed: int = 0
    created: int = 0


class CrawlsBegun(Contract):
    """How often a crawl of one feed was begun and never ended, this one included."""

    times: int = 0


class CrawlPageInput(Contract):
    """A page of feeds that are due, whichever they are. One that `lingers` waits for feeds that are due soon.

    Any waits for those that it gave a later turn, but not longer than `until`; the last one is at `turns_until`.
    """

    limit: int = 100
    shard: int = 0
    lingers: bool = True
    until: datetime | None = None
    turns_until: datetime | None = None
    policy: CuratorPolicy = CuratorPolicy()


class CrawledPage(Contract):
    """`waiting` feeds had no turn yet, or belong to the next page."""

    crawled: int = 0
    failed: int = 0
    created: int = 0
    updated: int = 0
    waiting: int = 0
    turns_until: datetime | None = None


class DueWorkInput(Contract):
    """Without `only_due` every feed is made due first."""

    only_due: bool = True
    policy: CuratorPolicy = CuratorPolicy()


class DueWork(Contract):
    """What waits now, of each kind; numbers are of rows that nobody works on."""

    feeds: int = 0
    to_fetch: int = 0
    to_distil: int = 0
    unindexed: bool = False
    unembedded: bool = False


class SingleFeedIngestionInput(CamelContract):
    """With `crawled` the parent's probe has just read the feed. `feed_name` is shown until it is known for sure."""

    feed_id: int
    feed_name: str = ""
    enable_content_fetch: bool = True
    auto_distill: bool = True
    crawled: bool = False
    parent_workflow_id: str = ""
    policy: CuratorPolicy = CuratorPolicy()


class SingleFeedIngestionProgress(CuratorProgress):
    feed_id: int = 0
    feed_name: str = ""
    total_entries: int = 0
    entries_created: int = 0
    contents_fetched: int = 0
    entries_distilled: int = 0
    skipped_count: int = 0


class SingleFeedIngestionOutput(CamelContract):
    feed_id: int
    entries_created: int = 0
    contents_fetched: int = 0
    entries_distilled: int = 0
    failed: int = 0


class CrawlFeedInput(Contract):
    feed_id: int
    policy: CuratorPolicy = CuratorPolicy()


class CrawlFeedResult(Contract):
    feed_id: int
    feed_name: str
    outcome: CrawlOutcome
    created: int = 0
    updated: int = 0
    reason: str = ""


class FeedReference(Contract):
    feed_id: int
    policy: CuratorPolicy = CuratorPolicy()


class Leftovers(Contract):
    """What a crash or a failure left half done, of feeds that are not due: found by state."""

    feed_ids: tuple[int, ...] = ()
    undistilled: bool = False
    unindexed: bool = False
    unembedded: bool = False


class LeftoversInput(Contract):
    limit: int = 100
    # Feeds that are worked on anyhow.
    without: tuple[int, ...] = ()
    policy: CuratorPolicy = CuratorPolicy()


class EntryToFetch(CamelContract):
    entry_id: int
    domain: str
    title: str = ""


class EntriesToFetch(Contract):
    """By state: every entry of the feed without full text whose next try is due."""

    feed_name: str = ""
    entries: tuple[EntryToFetch, ...] = ()
    skipped: int = 0
    more: bool = False


class PacedInput(CamelContract):
    """Base of what fetches pages. `delay_seconds` is for this run alone; otherwise the policy has the pace of hosts."""

    delay_seconds: float | None = Field(None, ge=0)
    policy: CuratorPolicy = CuratorPolicy()

    @property
    def limits(self) -> CuratorPolicy:
        if self.delay_seconds is None:
            return self.policy
        return self.policy.model_copy(update={"host_delay": timedelta(seconds=self.delay_seconds)})


class ScheduleFetchInput(PacedInput):
    """`feed_id` says whose work it is; histories from before it existed do not have it.

    With `shard` it takes pages of what waits in all feeds, and no entries are given.
    """

    entries: tuple[EntryToFetch, ...] = ()
    shard: int | None = None
    from_feed: bool = False
    state: "FetchTally" = Field(default_factory=lambda: FetchTally())
    feed_id: int | None = None
    feed_name: str = ""
    skipped: int = 0
    auto_distill: bool = True
    parent_workflow_id: str = ""


class FetchTally(CamelContract):
    """Carried over continue-as-new."""

    fetched: int = 0
    failed: int = 0


class ScheduleFetchProgress(CuratorProgress):
    total_entries: int = 0
    total_domains: int = 0
    domains_completed: int = 0
    skipped_count: int = 0
    entries_fetched: int = 0
    entries_distilled: int = 0
    entries_failed: int = 0


class ScheduleFetchOutput(CamelContract):
    """`distilled` so far: summaries outlive the fetching."""

    fetched: int
    failed: int
    distilled: int = 0


class DomainFetchInput(PacedInput):
    """With `auto_distill` the parent is told of every article as it arrives."""

    domain: str
    entries: tuple[EntryToFetch, ...]
    feed_id: int | None = None
    auto_distill: bool = False
    parent_workflow_id: str = ""


class ArrivedArticles(CamelContract):
    """A signal from a domain to its parent: these can be read, and summarised."""

    entry_ids: tuple[int, ...]


class DomainFetchProgress(CuratorProgress):
    """Summaries begin after a domain has handed its articles over: the parent counts them, here they stay 0."""

    domain: str = ""
    current_entry_index: int = 0
    current_entry_title: str = ""
    entries_fetched: int = 0
    entries_distilled: int = 0
    entries_failed: int = 0
    entry_progress: dict[str, EntryProgressState] = Field(default_factory=dict)


class DomainFetchOutput(CamelContract):
    fetched_ids: tuple[int, ...]
    failed: int


class RuleModel(CamelContract):
    kind: str
    expression: str
    keep: bool


class FetchContentInput(Contract):
    """One article. With `from_feed` the feed's own HTML is processed and no page is read.

    A preview names an address and rules instead of an entry, and where to put what they find.
    """

    entry_id: int = 0
    from_feed: bool = False
    url: str = ""
    rules: tuple[RuleModel, ...] = ()
    preview_key: str = ""
    # Who waits for the preview.
    person_id: int = 0
    policy: CuratorPolicy = CuratorPolicy()


class FetchContentResult(Contract):
    """A failure is a result with its reason: it is recorded on the entry and its next try is known."""

    entry_id: int
    fetched: bool
    changed: bool = False
    reason: str = ""
    title: str = ""
    words: int = 0


class PreviewFetchInput(CamelContract):
    """The preview is kept in the object store under `preview_key`: a page does not fit a payload."""

    url: str
    rules: tuple[RuleModel, ...] = ()
    preview_key: str = ""
    person_id: int = 0
    policy: CuratorPolicy = CuratorPolicy()


class FetchPageInput(Contract):
    """A page of articles that wait, of one feed or of all. One that `lingers` waits for hosts whose turn comes soon."""

    feed_id: int | None = None
    from_feed: bool = False
    limit: int = 40
    lingers: bool = True
    policy: CuratorPolicy = CuratorPolicy()


class FetchedPage(Contract):
    """How far the page is; `waiting` articles are for the next one."""

    fetched: int = 0
    failed: int = 0
    waiting: int = 0


class FetchContentsInput(Contract):
    """Several articles again, whatever their state; as many at once as hosts allow."""

    entry_ids: tuple[int, ...]
    policy: CuratorPolicy = CuratorPolicy()


class FetchContentsResult(Contract):
    results: tuple[FetchContentResult, ...] = ()


class FetchCursor(Contract):
    """Articles that are durable already."""

    results: tuple[FetchContentResult, ...] = ()


class PreviewFetchOutput(CamelContract):
    ok: bool
    preview_key: str = ""
    title: str = ""
    words: int = 0
    error: str = ""


class ReopenInput(Contract):
    """Entries that are done again."""

    entry_ids: tuple[int, ...]
    distill: bool = True


class ReprocessEntriesInput(CamelContract):
    entry_ids: tuple[int, ...]
    fetch: bool = True
    distill: bool = True
    parent_workflow_id: str = ""
    policy: CuratorPolicy = CuratorPolicy()


class ReprocessEntriesProgress(CuratorProgress):
    total_entries: int = 0
    entries_fetched: int = 0
    entries_distilled: int = 0
    entry_progress: dict[str, EntryProgressState] = Field(default_factory=dict)


class ReprocessEntriesOutput(CamelContract):
    fetched: int
    distilled: int
    failed: int
