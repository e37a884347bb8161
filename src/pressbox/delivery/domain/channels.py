"""Channels: what their owner states, what their owner sees, and which of them a message takes. Pure."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from datetime import datetime

from pressbox.core.errors import InvalidInputError
from pressbox.core.texts import MAX_NAME_LENGTH, require_displayable

MAX_CHANNELS = 50
MAX_TAGS = 20
MAX_TAG_LENGTH = 40
MAX_URL_LENGTH = 2_000


@dataclass(frozen=True)
class ChannelInput:
    """A channel as its owner states it. On a change, `url` None keeps the present address."""

    name: str
    url: str | None = field(default=None, repr=False)
    tags: tuple[str, ...] = ()
    is_active: bool = True

    def validate(self) -> "ChannelInput":
        name = " ".join(require_displayable(self.name, "name").split())
        if not name:
            raise InvalidInputError("Give the channel a name.", field="name")
        if len(name) > MAX_NAME_LENGTH:
            raise InvalidInputError(f"A name has at most {MAX_NAME_LENGTH} characters.", field="name")
        url = clean_url(self.url) if self.url is not None else None
        return ChannelInput(name, url, clean_tags(self.tags), self.is_active)


@dataclass(frozen=True)
class ChannelView:
    """A channel as its owner sees it: never its address. `kind` is the name of the service."""

    id: int
    name: str
    kind: str
    tags: tuple[str, ...]
    is_active: bool
    failures: int
    broken_at: datetime | None
    last_error: str
    created_at: datetime


@dataclass(frozen=True)
class Channel:
    """A channel as routing sees it. `target` is equal for two channels that lead to the same place."""

    channel_id: int
    tags: frozenset[str]
    target: bytes
    is_active: bool
    broken: bool


@dataclass(frozen=True)
class Selector:
    """What a subscriber chose: one channel, or all channels with a tag."""

    channel_id: int | None = None
    tag: str | None = None


def choose_channels(selectors: Iterable[Selector], own: Collection[Channel]) -> tuple[Channel, ...]:
    """The subscriber's own active channels that the selectors name; each target once, in the order of ids.

    A broken channel is chosen too: it is recorded as skipped, so that its owner can see why nothing came.
    """
    wanted_ids = {selector.channel_id for selector in selectors if selector.channel_id is not None}
    wanted_tags = {selector.tag for selector in selectors if selector.tag is not None}
    matching = sorted(
        (c for c in own if c.is_active and (c.channel_id in wanted_ids or c.tags & wanted_tags)),
        key=lambda channel: channel.channel_id,
    )
    first_of_target = {channel.target: channel for channel in reversed(matching)}
    return tuple(sorted(first_of_target.values(), key=lambda channel: channel.channel_id))


def clean_tags(tags: tuple[str, ...]) -> tuple[str, ...]:
    cleaned = sorted({" ".join(require_displayable(tag, "tags").split()).lower() for tag in tags} - {""})
    if len(cleaned) > MAX_TAGS:
        raise InvalidInputError(f"At most {MAX_TAGS} tags.", field="tags")
    if any(len(tag) > MAX_TAG_LENGTH for tag in cleaned):
        raise InvalidInputError(f"A tag has at most {MAX_TAG_LENGTH} characters.", field="tags")
    return tuple(cleaned)


def clean_url(url: str) -> str:
    cleaned = require_displayable(url, "url").strip()
    if not cleaned or len(cleaned) > MAX_URL_LENGTH or "\n" in cleaned:
        raise InvalidInputError("This is not an Apprise address. One looks like ntfy://ntfy.sh/topic.", field="url")
    return cleaned
