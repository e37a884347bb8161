"""What applications put on the first page and offer to the search, in words that the core understands."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import TYPE_CHECKING

from pressbox.core.spoilers.choice import SEES_ALL, Sight

if TYPE_CHECKING:
    from pressbox.core.app import Resources
    from pressbox.core.audiences.members import Viewer
    from pressbox.core.db.database import UnitOfWork

# Key: the person's id. What their first page shows was changed by themselves, perhaps in another window.
TODAY_CHANGED = "today"


@dataclass(frozen=True)
class FoundThing:
    """Something of an application that a person may see, as a line with a link: an article, a match, an event.

    `lead` is a short word in front of it, such as the minute of a match; `note` is a sentence below it; `others` are
    as many more that tell the same. What is `ours` is written by us and translated. What was `withdrawn` is struck out.
    """

    title: str
    path: str
    detail: str = ""
    at: datetime | None = None
    withdrawn: bool = False
    lead: str = ""
    note: str = ""
    live: bool = False
    others: int = 0
    ours: bool = False


class LineKind(StrEnum):
    """How the lines of a section are set."""

    LINES = "lines"
    # With a column of times in front, as in a timetable.
    TIMETABLE = "timetable"
    # With headlines.
    STORIES = "stories"


@dataclass(frozen=True)
class SectionView:
    """What a section shows. Whoever has not `begun` is offered the first step, in the place of the lines or above.

    `waiting` is a sentence about lines that are still to come, while something works on them.
    """

    lines: Sequence[FoundThing] = ()
    begun: bool = True
    waiting: str = ""


@dataclass(frozen=True)
class PageReader:
    """Who looks at the first page, and what they may know of scores: found once for all sections."""

    viewer: Viewer
    sight: Sight = SEES_ALL

    @property
    def user_id(self) -> int:
        return self.viewer.user_id


# It only reads. One that fails leaves the others standing: they are loaded again without it.
LoadSection = Callable[["UnitOfWork", "Resources", PageReader, int], Awaitable[SectionView]]


@dataclass(frozen=True)
class TodaySection:
    """A section of the first page. `first_step` is a template with the one field by which somebody begins.

    A change of one of the `topics` makes open pages ask again; of the `own_topics` only with the person's id as key.
    """

    key: str
    title: str
    path: str
    load: LoadSection
    kind: LineKind = LineKind.LINES
    limit: int = 5
    first_step: str = ""
    # What it says when there is nothing; without it the section is left out then.
    nothing: str = ""
    topics: tuple[str, ...] = ()
    own_topics: tuple[str, ...] = ()


@dataclass(frozen=True)
class Attention:
    """Something that somebody should look at, in one English sentence, and where to."""

    text: str
    path: str


ListAttention = Callable[["UnitOfWork", "Resources", "Viewer"], Awaitable[Sequence[Attention]]]
# What a person may see and these words name, best first, and at most so many.
FindThings = Callable[["Resources", "Viewer", str, int], Awaitable[Sequence[FoundThing]]]


@dataclass(frozen=True)
class SearchGroup:
    """A kind of thing that the field in the top line finds."""

    key: str
    title: str
    find: FindThings


@dataclass(frozen=True)
class Place:
    """A page that is found by its name, or by words for what it is good for."""

    title: str
    path: str
    about: str
    for_administrators: bool = False
