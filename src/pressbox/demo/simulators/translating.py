"""What simulated translators say: the same words with accents, so that everybody sees that nobody translated them."""

import re
from enum import StrEnum

_PLAIN = "AaCcDdEeGgHhIiKkLlNnOoRrSsTtUuYyZz"
_ACCENTED = "ÁáČčĎďÉéĞğĤĥÍíĶķĽľŇňÓóŘřŠšŤťŮůÝýŽž"
_ACCENTS = str.maketrans(_PLAIN, _ACCENTED)
_KEPT = re.compile(r'<span[^<>]{0,200}translate="no"[^<>]{0,200}>[^<>]*+</span>|<[^<>]*+>|&[#\w]{1,20};')


class Mood(StrEnum):
    """How a translator answers what it understood."""

    GOOD = "good"
    LOSES_MARKUP = "loses markup"
    UNCHANGED = "unchanged"
    EMPTY = "empty"
    TOO_FEW = "too few"
    NO_JSON = "no json"


def translated(text: str, language: str, mood: Mood = Mood.GOOD) -> str:
    """Tags, entities and what is not to be translated stay."""
    if mood is Mood.UNCHANGED:
        return text
    if mood is Mood.EMPTY:
        return ""
    if mood is Mood.LOSES_MARKUP:
        return re.sub(r"<[^<>]*+>", "", text).translate(_ACCENTS)
    said, done = [f"[{language.lower()}] "], 0
    for kept in _KEPT.finditer(text):
        said += [text[done : kept.start()].translate(_ACCENTS), kept.group()]
        done = kept.end()
    return "".join(said) + text[done:].translate(_ACCENTS)
