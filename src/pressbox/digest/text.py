"""The words of a digest. It is for one person, so it is written in the language that they chose.

Who chose none gets English sentences, as other notices have them, and pages say them in the language of the browser.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from pressbox.core.digests import DigestLine, DigestSection
from pressbox.core.web.folders import CORE_PACKAGE
from pressbox.core.web.languages import DEFAULT_LANGUAGE, LANGUAGES, locale_of
from pressbox.core.web.sentences import sentences
from pressbox.core.web.times import in_zone, zone_of
from pressbox.digest.domain import Rhythm

TITLES = {
    Rhythm.DAILY: "Your daily digest is here.",
    Rhythm.WEEKLY: "Your weekly digest is here.",
    Rhythm.OFF: "Your digest is here.",
}


def write_title(rhythm: Rhythm) -> str:
    return TITLES[rhythm]


@dataclass(frozen=True)
class Words:
    """The language and the zone of one person; without a language of their own they read English."""

    language: str | None
    packages: tuple[str, ...]
    zone: str

    @property
    def code(self) -> str:
        return self.language if self.language in LANGUAGES and self.language else DEFAULT_LANGUAGE

    def say(self, text: str) -> str:
        return sentences(self.code, (CORE_PACKAGE, *self.packages)).translate(text)

    def say_when(self, moment: datetime) -> str:
        return in_zone(moment, locale_of(self.code), zone_of(self.zone))


def write_detail(sections: Sequence[DigestSection], words: Words) -> str:
    """One sentence for each section."""
    return " ".join(words.say(section.summary) for section in sections)


def write_body(sections: Sequence[DigestSection], words: Words, base: str) -> str:
    """The digest as plain text. `base` is where people reach this instance."""
    return "\n\n".join("\n".join(_section(section, words, base.rstrip("/"))) for section in sections)


def _section(section: DigestSection, words: Words, base: str) -> Iterator[str]:
    title = words.say(section.title)
    yield title
    yield "=" * len(title)
    if section.text:
        yield section.text
    for line in section.lines:
        yield ""
        yield from _line(line, words, base)


def _line(line: DigestLine, words: Words, base: str) -> Iterator[str]:
    yield words.say(line.title)
    when = words.say_when(line.at) if line.at else ""
    beside = [part for part in (when, words.say(line.detail), words.say(line.why)) if part]
    if beside:
        yield " · ".join(beside)
    yield f"{base}{line.path}"
    for link in line.more:
        yield f"{words.say(link.title)}: {base}{link.path}"
