"""What a name is a name of, where its form or its neighbours say so; None where they do not. Pure."""

import re

from pressbox.curator.context.domain.context import EntityKind
from pressbox.curator.context.domain.naming import (
    FIRST_WORDS,
    LAST_WORDS,
    NUMBERED_THINGS,
    PROGRAMS,
    SAYING,
    TITLES,
)

_SOFTWARE_SHAPE = re.compile(
    r"[\w-]{2,30}\.(?:js|py|rs|go|net|io)|(?:Post|My)\w*SQL|\w{2,20}SQL|lib[a-z]{2,20}", re.ASCII
)
_VERSION = re.compile(
    r" v?\d{1,3}\.\d{1,3}\b"
    r"(?! ?(?:%|percent|Prozent|million|Mill|billion|Mrd|[°€$£]|per\b|points|GHz|GB|TB|mm|cm|km|kg))"
)


def kind_of(words: tuple[str, ...], before: str, after: str, rest: str) -> EntityKind | None:
    """`rest` is what follows the name in its sentence, as it is written."""
    last, first = words[-1].lower().strip("."), words[0].lower().strip(".")
    for kind, known in LAST_WORDS.items():
        if len(words) > 1 and last in known:
            return kind
    for kind, known in FIRST_WORDS.items():
        if len(words) > 1 and first in known:
            return kind
    if _is_program(words, before, after, rest):
        return EntityKind.SOFTWARE
    told = before.lower() in SAYING and len(words) > 1
    people = told or before.lower().strip(".") in TITLES or after.lower() in SAYING
    return EntityKind.PERSON if people and all(_like_a_name(word) for word in words) else None


def begins_a_name(word: str) -> bool:
    return any(word.lower() in known for known in FIRST_WORDS.values())


def shaped_like_software(name: str) -> bool:
    return _SOFTWARE_SHAPE.fullmatch(name) is not None


def _is_program(words: tuple[str, ...], before: str, after: str, rest: str) -> bool:
    if words[0].lower() in NUMBERED_THINGS or len(words) > 3:
        return False
    if _VERSION.match(rest) or shaped_like_software(words[-1]):
        return True
    directly = bool(after) and rest.startswith(f" {after}")
    return len(words) == 1 and (before.lower() in PROGRAMS or (directly and after.lower() in PROGRAMS))


def _like_a_name(word: str) -> bool:
    return (
        word[:1].isupper() and not word.isupper() and word.replace("-", "").replace("'", "").replace(".", "").isalpha()
    )
