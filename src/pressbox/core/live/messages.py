"""What a browser receives over its event stream, and the choice of what it wants to hear."""

import json
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from pressbox.core.audiences.contracts import Audience
from pressbox.core.errors import InvalidInputError

MAX_TOPICS = 20


class Change(NamedTuple):
    """That a thing looks different, and when in the order of all changes."""

    id: int
    kind: str
    key: str


@dataclass(frozen=True)
class Message:
    """One event, already in wire form: it is made once and shared by all who may hear it.

    `outline` is what administrators hear who do not belong to the `audience`; None: nothing.
    """

    id: int
    kind: str
    key: str
    wire: bytes
    audience: Audience | None
    outline: bytes | None = None


@dataclass(frozen=True)
class Wish:
    """Topics that one listener follows: whole kinds, or single things as `kind:key`."""

    kinds: frozenset[str]
    things: frozenset[tuple[str, str]]

    def matches(self, kind: str, key: str) -> bool:
        return kind in self.kinds or (kind, key) in self.things

    @property
    def all_kinds(self) -> frozenset[str]:
        return self.kinds | {kind for kind, _ in self.things}


def parse_topics(text: str, known: Collection[str], by_name: Collection[str] = ()) -> Wish:
    """Read `workflow,fixture:7`, or say which topic does not exist. Those `by_name` cannot be followed as a whole."""
    parts = [part.strip() for part in text.split(",") if part.strip()]
    if not 1 <= len(parts) <= MAX_TOPICS:
        raise InvalidInputError(f"Name between 1 and {MAX_TOPICS} topics, separated by commas.", field="topics")
    pairs = [part.partition(":") for part in parts]
    for kind, colon, _ in pairs:
        if kind in by_name and not colon:
            raise InvalidInputError(f"Of the topic {kind!r} name one thing, as {kind}:….", field="topics")
        if kind not in known:
            raise InvalidInputError(f"There is no topic {kind!r}. Known: {', '.join(sorted(known))}.", field="topics")
    return Wish(
        kinds=frozenset(kind for kind, colon, _ in pairs if not colon),
        things=frozenset((kind, key) for kind, colon, key in pairs if colon),
    )


def event(name: str, data: Mapping[str, Any], id: int | None = None) -> bytes:
    """One event as the server-sent events standard writes it."""
    head = f"id: {id}\n" if id is not None else ""
    return f"{head}event: {name}\ndata: {json.dumps(data, ensure_ascii=False, default=str)}\n\n".encode()


def change_event(change: Change, item: Mapping[str, Any] | None) -> bytes:
    return event("change", {"kind": change.kind, "key": change.key, "item": item}, change.id)


def newest_of_each(changes: Iterable[Change]) -> list[Change]:
    """Several changes of one thing are one: its state is loaded afterwards anyway."""
    latest = {(kind, key): id for id, kind, key in changes}
    return sorted(Change(id, kind, key) for (kind, key), id in latest.items())
