"""An entry's way from a feed to a distilled article. Each step is chosen by state, never by what the last handed over.

Pure.
"""

from dataclasses import dataclass
from enum import StrEnum

# The name of the distiller that takes sentences out of a text, where others write.
EXTRACTIVE = "extractive"


class FetchState(StrEnum):
    """Whether the full text is there."""

    WAITING = "waiting"
    FETCHED = "fetched"
    FROM_FEED = "from feed"  # the feed's own text is used
    SKIPPED = "skipped"  # YouTube, enclosures without a page
    FAILED = "failed"  # after all tries; the reason is kept


class DistilState(StrEnum):
    WAITING = "waiting"
    DISTILLED = "distilled"
    NOTHING = "nothing to distil"
    FAILED = "failed"


class EntryStatus(StrEnum):
    """The document's states of one entry inside a run, for progress."""

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
    tokens_in: int = 0
    tokens_out: int = 0
    # Of the text that was distilled: a summary of an older one is not saved.
    content_hash: str = ""
    # False: it was paid for, and there is no summary in it.
    usable: bool = True
