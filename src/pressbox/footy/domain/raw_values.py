"""Reads single values of API-Football's answers, which may be absent, null or of another type. Pure."""

from collections.abc import Mapping
from typing import Any

NO_NAMES = frozenset({"", "unknown", "tbd", "null", "none", "n/a"})


def object_in(raw: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    value = raw.get(name)
    return value if isinstance(value, Mapping) else {}


def word_in(event: Mapping[str, Any], name: str) -> str:
    return read_text(event.get(name)).lower()


def read_text(value: object) -> str:
    return value.strip() if isinstance(value, str) else ""


def read_name(value: object) -> str | None:
    name = read_text(value)
    return None if name.lower() in NO_NAMES else name


def read_id(value: object) -> int | None:
    """An id: a whole number above zero."""
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else None


def read_count(value: object) -> int | None:
    """A minute or a score: a whole number from zero on."""
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None
