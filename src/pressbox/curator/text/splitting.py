"""Lines into sentences, offline, in the languages whose rules are known; by their marks in the others."""

import re
from collections.abc import Iterator
from functools import cache
from typing import Any

from pressbox.curator.text.sentences import Sentence

# The splitter's time grows with the square of what it gets at once.
_AT_ONCE = 1_500
_ENDS = re.compile("(?<=[.!?。！？…])(?:\\s+|(?<=[。！？]))")


# An abbreviation, an initial, a number, a quotation or an ellipsis at what looks like an end: then rules are needed.
_UNCLEAR = re.compile(
    r"(?:\b[^\W\d_]{1,2}|\b[A-ZÀ-Þ][^\W\d_]{1,4}|\d|\b[^\Waeiouyäöüéèàáíóú\d_]{2,5}|\w\.\w+)\.(?=\s)"
    r"|[.!?…][\"'”’»)\]]|\.\.|…|\"|[.!?]\s+[^\WA-ZÀ-Þ\d_]"
)


def sentences_of(lines: list[str], first: int, last: int, language: str) -> list[Sentence]:
    return [
        Sentence(sentence, number)
        for number in range(first, last + 1)
        for piece in _pieces(lines[number])
        for sentence in _split(piece, language)
    ]


def rough_sentences_of(lines: list[str], first: int, last: int) -> list[Sentence]:
    """By their marks alone: for what is too much to be split by rules."""
    return [
        Sentence(stripped, number)
        for number in range(first, last + 1)
        for piece in _pieces(lines[number])
        for part in _ENDS.split(piece)
        if (stripped := part.strip())
    ]


def _split(text: str, language: str) -> list[str]:
    # Four lines of five are clear, and the splitter with rules takes a hundred times as long.
    segmenter = _segmenter(language) if _UNCLEAR.search(text) else None
    parts = _ENDS.split(text) if segmenter is None else segmenter.segment(text)
    return [stripped for part in parts if (stripped := str(part).strip())]


def _pieces(line: str) -> Iterator[str]:
    """Of a very long line, pieces that end where a sentence seems to end."""
    if len(line) <= _AT_ONCE:
        yield line
        return
    piece = ""
    for part in _ENDS.split(line):
        if piece and len(piece) + len(part) > _AT_ONCE:
            yield piece
            piece = ""
        # Nobody writes a sentence of that length; its end is not needed.
        piece = f"{piece} {part}".strip()[: 2 * _AT_ONCE]
    yield piece


@cache
def _segmenter(language: str) -> Any | None:
    import pysbd  # type: ignore[import-untyped]

    return pysbd.Segmenter(language=language, clean=False) if language in _languages() else None


@cache
def _languages() -> frozenset[str]:
    from pysbd.languages import LANGUAGE_CODES  # type: ignore[import-untyped]

    return frozenset(LANGUAGE_CODES)
