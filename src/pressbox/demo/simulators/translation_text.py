"""How simulated translators translate: our own articles as we translated them, anything else as the same words with
accents, so that nobody takes it for a translation.
"""

import re
from collections.abc import Mapping
from enum import StrEnum

from pressbox.demo.news.library import known_translations

_PLAIN = "AaCcDdEeGgHhIiKkLlNnOoRrSsTtUuYyZz"
_ACCENTED = "ÁáČčĎďÉéĞğĤĥÍíĶķĽľŇňÓóŘřŠšŤťŮůÝýŽž"
_ACCENTS = str.maketrans(_PLAIN, _ACCENTED)
_KEPT = re.compile(r'<span[^<>]{0,200}translate="no"[^<>]{0,200}>[^<>]*+</span>|<[^<>]*+>|&[#\w]{1,20};')
_SENTENCE = re.compile(r".+?(?:[.!?](?=\s|$)|。|$)", re.DOTALL)


class Mood(StrEnum):
    """How a translator behaves."""

    GOOD = "good"
    LOSES_MARKUP = "loses markup"
    UNCHANGED = "unchanged"
    EMPTY = "empty"
    TOO_FEW = "too few"
    NO_JSON = "no json"


def translate_text(text: str, language: str, mood: Mood = Mood.GOOD) -> str:
    """Tags, entities and parts with translate="no" stay as they are."""
    if mood is Mood.UNCHANGED:
        return text
    if mood is Mood.EMPTY:
        return ""
    known = _from_our_own(text, language.lower()) if mood is Mood.GOOD else None
    if known is not None:
        return known
    if mood is Mood.LOSES_MARKUP:
        return re.sub(r"<[^<>]*+>", "", text).translate(_ACCENTS)
    parts, done = [f"[{language.lower()}] "], 0
    for kept in _KEPT.finditer(text):
        parts += [text[done : kept.start()].translate(_ACCENTS), kept.group()]
        done = kept.end()
    return "".join(parts) + text[done:].translate(_ACCENTS)


def _from_our_own(text: str, language: str) -> str | None:
    """The translation of an article of the demo, or of sentences of it; None when anything in it is unknown."""
    known = known_translations(language)
    parts, done, found = [], 0, False
    for kept in (*_KEPT.finditer(text), None):
        piece = text[done : kept.start() if kept else len(text)]
        translated = _translate_piece(piece, known)
        if translated is None:
            return None
        found = found or translated != piece
        parts += [translated, kept.group() if kept else ""]
        done = kept.end() if kept else done
    return "".join(parts) if found else None


def _translate_piece(piece: str, known: Mapping[str, str]) -> str | None:
    words = piece.strip()
    if not any(letter.isalpha() for letter in words):
        return piece
    if words in known:
        return piece.replace(words, known[words])
    sentences = [sentence.strip() for sentence in _SENTENCE.findall(words) if sentence.strip()]
    if not sentences or any(sentence not in known for sentence in sentences):
        return None
    return " ".join(known[sentence] for sentence in sentences)
