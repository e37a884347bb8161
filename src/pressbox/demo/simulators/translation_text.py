"""How simulated translators translate: the same words with accents, so that nobody takes it for a translation."""

import re
from enum import StrEnum

_PLAIN = "AaCcDdEeGgHhIiKkLlNnOoRrSsTtUuYyZz"
_ACCENTED = "ÁáČčĎďÉéĞğĤĥÍíĶķĽľŇňÓóŘřŠšŤťŮůÝýŽž"
_ACCENTS = str.maketrans(_PLAIN, _ACCENTED)
_KEPT = re.compile(r'<span[^<>]{0,200}translate="no"[^<>]{0,200}>[^<>]*+</span>|<[^<>]*+>|&[#\w]{1,20};')


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
    if mood is Mood.LOSES_MARKUP:
        return re.sub(r"<[^<>]*+>", "", text).translate(_ACCENTS)
    parts, done = [f"[{language.lower()}] "], 0
    for kept in _KEPT.finditer(text):
        parts += [text[done : kept.start()].translate(_ACCENTS), kept.group()]
        done = kept.end()
    return "".join(parts) + text[done:].translate(_ACCENTS)
