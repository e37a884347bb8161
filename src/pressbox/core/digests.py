"""What applications tell in the digest of a person: each a section of lines, in finished English sentences.

Pages and messages say the sentences in the reader's language by the catalogues, as they do with notices.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime


@dataclass(frozen=True)
class DigestSpan:
    """What a digest is about: what happened after `since` until `until`, and what comes until `ahead`.

    With `may_pay` a language model may be asked; a preview asks none. `language` is the one that the person chose, if
    any.
    """

    since: datetime
    until: datetime
    ahead: datetime
    may_pay: bool = False
    language: str | None = None


@dataclass(frozen=True)
class DigestLink:
    title: str
    path: str


@dataclass(frozen=True)
class DigestLine:
    """One thing with a link. `why` says why it is here. `at` is shown as a time, where it matters."""

    title: str
    path: str
    detail: str = ""
    why: str = ""
    at: datetime | None = None
    picture: str = ""
    more: Sequence[DigestLink] = ()
    # A line that tells a score says since when it was known, of what, and how it reads to whoever may not know it yet.
    subject: str = ""
    known_at: datetime | None = None
    covered: str = ""


@dataclass(frozen=True)
class DigestSection:
    """The part of one application. `summary` is a sentence that stands for all of it, as in “3 results.”"""

    title: str
    summary: str
    lines: Sequence[DigestLine]
    # A paragraph above the lines.
    text: str = ""


# Up to which moment a person may know of a subject.
KnownUntil = Callable[[str], datetime]


def cover(section: DigestSection, known_until: KnownUntil) -> DigestSection:
    """The section as somebody may read it at this moment: what tells a score too early is covered."""
    return replace(section, lines=[_cover(line, known_until) for line in section.lines])


def _cover(line: DigestLine, known_until: KnownUntil) -> DigestLine:
    if line.known_at is None or known_until(line.subject) >= line.known_at:
        return line
    # A picture or the number of clips tells of goals too.
    return replace(line, title=line.covered, why="", picture="", more=())
