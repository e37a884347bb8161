"""What a report says against what it stands on: citations are checked; without a writer the notes are the report."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from pressbox.curator.research.domain.research import Note, Source

LONGEST_REPORT = 20_000
# [1], and [1, 3] or [1][3]; more than three digits are a year or a page.
_CITATION = re.compile(r"[ \t]?\[(\d{1,3}(?:\s*[,;]\s*\d{1,3})*)\]")
_TITLE_BREAKS = re.compile(r"[\r\n\t]+")


@dataclass(frozen=True)
class CheckedReport:
    """`cited` are the numbers that stand in the text, `dropped` how many stood there that no source has."""

    text: str
    cited: frozenset[int]
    dropped: int


def check_citations(text: str, sources: Sequence[Source]) -> CheckedReport:
    """The same text without citations of what is not there."""
    known = {source.number for source in sources}
    cited: set[int] = set()
    dropped = 0

    def keep_known(found: re.Match[str]) -> str:
        nonlocal dropped
        numbers = [int(number) for number in re.findall(r"\d+", found[1])]
        good = [number for number in numbers if number in known]
        cited.update(good)
        dropped += len(numbers) - len(good)
        lead = " " if found[0][0] in " \t" and good else ""
        return lead + "".join(f"[{number}]" for number in good)

    kept = "".join(one for one in text.strip()[:LONGEST_REPORT] if one.isprintable() or one in "\n\t")
    return CheckedReport(_CITATION.sub(keep_known, kept), frozenset(cited), dropped)


def write_from_notes(noted: Sequence[tuple[Source, tuple[Note, ...]]]) -> str:
    """The quotes themselves, source by source: nothing in it is anybody's but the articles'."""
    parts = []
    for source, notes in noted:
        quotes = "\n".join(f"- “{one_line(note.quote)}” [{source.number}]" for note in notes)
        parts.append(f"### {one_line(source.material.title)}\n\n{quotes}")
    return "\n\n".join(parts)


def one_line(text: str) -> str:
    return " ".join(_TITLE_BREAKS.sub(" ", text).split())
