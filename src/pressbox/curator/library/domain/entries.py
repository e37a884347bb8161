"""The states of an entry on its way from a feed to a distilled article, by which each step selects its work. Pure."""

import hashlib
from dataclasses import dataclass
from enum import StrEnum

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
