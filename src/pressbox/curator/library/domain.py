"""What the whole curator knows of feeds and entries: outcomes, states, limits, audiences and changes. Pure."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum
from typing import Annotated, Any

from pydantic import ConfigDict, Field

from pressbox.core.contracts import CamelContract


class CuratorPolicy(CamelContract):
    # Crawling
    page_size: int = 100
    # Fewer feeds than this are not worth a shard of their own.
    smallest_page: int = 20
    # Most of them wait for an answer, each of another host.
    probes_at_once: int = 64
    feeds_at_once: int = 10
    shortest_interval: timedelta = timedelta(minutes=15)
    longest_interval: timedelta = timedelta(hours=24)
    longest_backoff: timedelta = timedelta(days=2)
    entries_per_crawl: int = 200
    # Of a feed that is new to a person, so many entries are unread, and so many get their full text.
    unread_at_start: int = 10
    feed_bytes: int = 10_000_000
    # A server that says "not modified" for longer is asked for the whole once: some say it for ever.
    trust_in_validators: timedelta = timedelta(days=3)
    # Between two feeds of one host. Shorter than between pages, since most answers are "not modified".
    feed_delay: timedelta = timedelta(milliseconds=100)
    # A feed whose host has no turn within this goes back to the others that wait.
    feed_patience: timedelta = timedelta(seconds=10)
    # For so long a run of the schedule waits for feeds that have a later turn; it must be over before the next one.
    linger: timedelta = timedelta(minutes=4)

    # Fetching
    host_delay: timedelta = timedelta(seconds=2)
    # For how long all feeds or all pages of a host wait when it asks for it; what was asked for waits as long as asked.
    longest_feed_pause: timedelta = timedelta(hours=1)
    longest_page_pause: timedelta = timedelta(minutes=15)
    fetch_tries: int = 3
    page_bytes: int = 5_000_000
    # These and their titles are one message, which must stay below 10 kB.
    entries_per_fetch: int = 40
    # An activity that waits for turns tells its workflow this often how far it is.
    report_every: timedelta = timedelta(seconds=10)
    # What has its turn later than this is left to the next run.
    turn_patience: timedelta = timedelta(minutes=1)
    # How long a page of feeds waits for its slowest ones before the next page starts.
    page_patience: timedelta = timedelta(seconds=30)

    # Distilling
    distil_batch: int = 5
    distil_page: int = 50
    # A batch that is not full is started when the last one was started so long ago.
    distil_pause: timedelta = timedelta(seconds=10)
    # Until a model that does not answer is asked again.
    model_pause: timedelta = timedelta(minutes=2)
    summary_sentences: int = 4
    target_language: str = ""

    # Index and vectors
    index_batch: int = 500
    embedding_batch: int = 100

    # Cleanup
    keep_days: int = 7

    def at_speed(self, speed: float) -> "CuratorPolicy":
        """Return the same policy for a clock that runs `speed` times as fast."""
        names = (
            *("shortest_interval", "longest_interval", "longest_backoff", "host_delay", "feed_delay", "model_pause"),
            *("trust_in_validators", "longest_feed_pause", "longest_page_pause", "linger"),
        )
        return self.model_copy(update={name: getattr(self, name) / speed for name in names})


class CrawlOutcome(StrEnum):
    """What one crawl came to. Everything but NEW and UNCHANGED is a failure with a reason for people."""

    NEW = "new"  # read, with or without new entries
    UNCHANGED = "unchanged"  # 304, or the very same bytes
    GONE = "gone"  # 410: not crawled again until somebody asks for it
    RATE_LIMITED = "rate limited"
    REFUSED = "refused"  # 401, 403, a login page
    NOT_FOUND = "not found"
    SERVER_ERROR = "server error"
    NOT_A_FEED = "not a feed"
    TOO_LARGE = "too large"
    REFUSED_ADDRESS = "refused address"
    UNREACHABLE = "unreachable"

    @property
    def failed(self) -> bool:
        return self not in (CrawlOutcome.NEW, CrawlOutcome.UNCHANGED)


# The reason that a feed shows which its readers have left for its new address.
MOVED = "This feed has moved; you read it at its new address now. What you have not read or have kept stays here."


@dataclass(frozen=True)
class Enclosure:
    url: str
    type: str
    length: int | None


@dataclass(frozen=True)
class ExtractionRule:
    """How the article is found on a page of this feed; what the expression finds is kept or removed."""

    # The API documents that a rule has no other fields.
    __pydantic_config__ = ConfigDict(extra="forbid")

    kind: Annotated[str, Field(json_schema_extra={"enum": ["css", "xpath"]})]
    expression: str
    keep: bool


@dataclass(frozen=True)
class OutlineProblem:
    """An outline of an OPML file that could not be used: its line, its name, and why."""

    line: int
    title: str
    reason: str

    def __str__(self) -> str:
        name = f" ({self.title})" if self.title else ""
        return f"Line {self.line}{name}: {self.reason}"


def load_rules(stored: Sequence[Mapping[str, Any]]) -> tuple[ExtractionRule, ...]:
    """Read the rules of a feed as its row holds them."""
    return tuple(ExtractionRule(rule["kind"], rule["expression"], rule["keep"]) for rule in stored)


# The name of the distiller that chooses sentences of a text instead of writing a summary.
EXTRACTIVE = "extractive"
_SEPARATOR = "\x1f"


class FetchState(StrEnum):
    """Whether the full text is there."""

    WAITING = "waiting"
    FETCHED = "fetched"
    FROM_FEED = "from feed"  # the feed's own text is used
    SKIPPED = "skipped"  # YouTube, enclosures without a page
    FAILED = "failed"  # after all tries, with its reason


class DistilState(StrEnum):
    WAITING = "waiting"
    DISTILLED = "distilled"
    NOTHING = "nothing to distil"
    FAILED = "failed"


class EntryStatus(StrEnum):
    """The states of one entry inside a run, for progress."""

    PENDING = "pending"
    FETCHING = "fetching"
    FETCHED = "fetched"
    DISTILLING = "distilling"
    TRANSLATING = "translating"
    COMPLETED = "completed"
    ERROR = "error"


@dataclass(frozen=True)
class ToDistil:
    """What a distiller gets: the text in numbered lines is made of `text`."""

    entry_id: int
    title: str
    text: str
    language: str
    content_hash: str
    feed_id: int | None = None


@dataclass(frozen=True)
class Distilled:
    entry_id: int
    summary: str
    # Lines of the text that are the article itself, counted from 0, end included.
    main_content_start_line: int
    main_content_end_line: int
    language: str
    model: str
    prompt_version: str
    # Of the text that was distilled: a summary of an older one is not saved.
    content_hash: str = ""


def content_hash(text: str) -> str:
    """Hash the text that is to be read, line by line; empty without any. Answers that name lines are kept under it."""
    return hash_texts(text) if text.strip() else ""


def shown_hash(title: str, author: str, summary: str, filtered_content: str, feed_content: str) -> str:
    """Hash what is in the search index. The database computes the same for rows that it holds."""
    return hash_texts(title, author, summary, filtered_content, feed_content)


def hash_texts(*parts: str) -> str:
    # MD5 tells texts apart and protects nothing; PostgreSQL has it built in.
    joined = _SEPARATOR.join(parts).encode(errors="replace")
    return hashlib.md5(joined, usedforsecurity=False).hexdigest()


# Key: the feed's id. It was crawled, paused or changed, or its entries arrived, were fetched or distilled.
FEED_CHANGED = "curator.feed"
# Key: the entry's id. Its text, its summary or its state changed.
ENTRY_CHANGED = "curator.entry"
# Key: the user's id. Their sources, counts, labels or states changed, in this window or another.
PERSON_CHANGED = "curator.person"
# Key: the answer's id. A piece of its text was written, or it ended.
ANSWER_CHANGED = "curator.answer"
# Key: the research run's id. A step began or ended, or the run did.
RESEARCH_CHANGED = "curator.research"
# Key: the entry's id. Its translation, context, links or enrichments changed.
ENRICHMENT_CHANGED = "curator.enrichment"
# Key: always "graph". The graph has other nodes or edges than before.
GRAPH_CHANGED = "curator.graph"
