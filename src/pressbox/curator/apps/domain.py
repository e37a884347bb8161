"""Passwords of reader apps, views that are feeds, and streams, tags and ids of the Google Reader API. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from typing import Any, NamedTuple

from pressbox.curator.library.domain import Enclosure
from pressbox.curator.reading.domain import ListKind, Selection, Sort


@dataclass(frozen=True)
class AppPasswordView:
    """A password as its owner sees it: enough to recognise it, not enough to use it."""

    id: int
    name: str
    hint: str
    created_at: datetime
    last_used_at: datetime | None


@dataclass(frozen=True)
class NewAppPassword:
    """A password at its making, the only moment at which `secret` can be shown."""

    secret: str
    view: AppPasswordView


@dataclass(frozen=True)
class StoredPassword:
    id: int
    user_id: int
    password_hash: str


@dataclass(frozen=True)
class AppPerson:
    """Whoever an app acts for."""

    user_id: int
    email: str
    name: str
    since: datetime


@dataclass(frozen=True)
class StoredView:
    id: int
    user_id: int
    token: str
    view: Mapping[str, Any]
    created_at: datetime
    last_used_at: datetime | None


@dataclass(frozen=True)
class ViewFeed:
    """A list of a person as a feed, with summaries or with whole articles."""

    id: int
    user_id: int
    token: str
    selection: Selection
    full_text: bool
    created_at: datetime
    last_used_at: datetime | None
    # What the list is called; empty when its source, category or label is gone.
    name: str = ""


def stored_view(selection: Selection, *, full_text: bool) -> dict[str, Any]:
    return {
        "kind": selection.kind.value,
        "id": selection.id,
        "unread_only": selection.unread_only,
        "sort": selection.sort.value,
        "query": selection.query,
        "full_text": full_text,
    }


def view_feed(stored: StoredView) -> ViewFeed:
    view = stored.view
    selection = Selection(
        kind=ListKind(view["kind"]),
        id=view["id"],
        unread_only=bool(view["unread_only"]),
        sort=Sort(view["sort"]),
        query=str(view["query"]),
    )
    return ViewFeed(
        id=stored.id,
        user_id=stored.user_id,
        token=stored.token,
        selection=selection,
        full_text=bool(view["full_text"]),
        created_at=stored.created_at,
        last_used_at=stored.last_used_at,
    )


STATE = "user/-/state/com.google/"
LABEL = "user/-/label/"
FEED = "feed/"
ITEM = "tag:google.com,2005:reader/item/"

READING_LIST = f"{STATE}reading-list"
READ = f"{STATE}read"
STARRED = f"{STATE}starred"

# Added to our ids, so that an app's number is read rightly in every form that apps send: decimal, hexadecimal with
# zeros before it or without, with the long prefix or without. No number of this size means an item in two of them, and
# all fit into the 53 bits of a floating-point number, which is what some apps compute with.
OFFSET = 1 << 50
LARGEST_ENTRY = 1 << 49
LONGEST_ID = 20

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_LAST_SECOND = 253_402_300_799


class StreamKind(StrEnum):
    """`TAG` is a folder of feeds, a label of entries, or both: apps know one kind of name for them."""

    ALL = "all"
    READ = "read"
    UNREAD = "unread"
    STARRED = "starred"
    FEED = "feed"
    TAG = "tag"
    # Known to apps and not to us, such as what was shared with friends.
    NOTHING = "nothing"


@dataclass(frozen=True)
class Stream:
    """`name` is a feed's id or address, or the name of a tag."""

    kind: StreamKind
    name: str = ""


@dataclass(frozen=True)
class StreamQuery:
    """Which items, in the order in which they arrived here; `after` is the entry at which the last page ended."""

    stream: Stream = Stream(StreamKind.ALL)
    including: tuple[Stream, ...] = ()
    excluding: tuple[Stream, ...] = ()
    arrived_after: datetime | None = None
    arrived_before: datetime | None = None
    oldest_first: bool = False
    after: int | None = None
    limit: int = 20


class ItemReference(NamedTuple):
    """An item by its id alone; an app may ask for ten thousand."""

    entry_id: int
    feed_id: int
    arrived_at: datetime


@dataclass(frozen=True)
class StreamFeed:
    id: int
    title: str
    site_url: str
    folder: str


@dataclass(frozen=True)
class StreamItem:
    """An entry as an app gets it; `html` is sanitised."""

    entry_id: int
    feed: StreamFeed
    title: str
    url: str
    canonical_url: str
    author: str
    published_at: datetime
    arrived_at: datetime
    updated_at: datetime
    summary: str
    html: str
    read: bool
    starred: bool
    enclosures: tuple[Enclosure, ...] = ()
    labels: tuple[str, ...] = ()


@dataclass(frozen=True)
class References:
    items: Sequence[ItemReference]
    after: int | None = None


@dataclass(frozen=True)
class Contents:
    items: Sequence[StreamItem]
    after: int | None = None
    title: str = ""


@dataclass(frozen=True)
class TagChange:
    """What is to be done with some items, gathered from the tags that are added and removed."""

    read: bool | None = None
    starred: bool | None = None
    labels_added: tuple[str, ...] = field(default=())
    labels_removed: tuple[str, ...] = field(default=())


def read_stream(text: str) -> Stream | None:
    """None when it is not the name of a stream at all."""
    if text.startswith(FEED) and len(text) > len(FEED):
        return Stream(StreamKind.FEED, text.removeprefix(FEED))
    who, _, rest = text.partition("/")
    if who != "user":
        return None
    # Some apps put the number of the user where others put a dash; it can only be whoever asks.
    _, _, named = rest.partition("/")
    if named.startswith("label/") and len(named) > len("label/"):
        return Stream(StreamKind.TAG, named.removeprefix("label/"))
    if not named.startswith("state/com.google/"):
        return None
    return Stream(_STATES.get(named.removeprefix("state/com.google/"), StreamKind.NOTHING))


_STATES = {
    "reading-list": StreamKind.ALL,
    "read": StreamKind.READ,
    "unread": StreamKind.UNREAD,
    "kept-unread": StreamKind.UNREAD,
    "fresh": StreamKind.UNREAD,
    "starred": StreamKind.STARRED,
}


def short_id(entry_id: int) -> str:
    return str(OFFSET + entry_id)


def long_id(entry_id: int) -> str:
    return f"{ITEM}{OFFSET + entry_id:016x}"


def read_item_id(text: str) -> int | None:
    """The entry that an app names in any of the forms; None when it cannot be one of ours."""
    named = text.strip().removeprefix(ITEM)
    if not named.isascii() or not named.isalnum() or len(named) > LONGEST_ID:
        return None
    bases = (16,) if text.strip().startswith(ITEM) else (10, 16)
    for base in bases:
        entry_id = _number(named, base) - OFFSET
        if 0 < entry_id < LARGEST_ENTRY:
            return entry_id
    return None


def tag_change(added: Sequence[Stream], removed: Sequence[Stream]) -> TagChange:
    """`kept-unread` is the opposite of read. What we do not know is left alone, as apps expect."""
    kinds_added, kinds_removed = {one.kind for one in added}, {one.kind for one in removed}
    read: bool | None = None
    if StreamKind.READ in kinds_added:
        read = True
    elif StreamKind.READ in kinds_removed or StreamKind.UNREAD in kinds_added:
        read = False
    starred: bool | None = None
    if StreamKind.STARRED in kinds_added or StreamKind.STARRED in kinds_removed:
        starred = StreamKind.STARRED in kinds_added
    return TagChange(read, starred, _tags(added), _tags(removed))


def read_seconds(text: str) -> datetime | None:
    """A moment in seconds; some apps send a fraction with it."""
    try:
        seconds = float(text)
    except ValueError:
        return None
    return _EPOCH + timedelta(seconds=seconds) if 0 < seconds <= _LAST_SECOND else None


def read_moment(text: str) -> datetime | None:
    """A moment of unsaid unit: it should be microseconds, but apps send whatever their clocks count in."""
    if not text.isascii() or not text.isdigit() or len(text) > LONGEST_ID:
        return None
    value = int(text)
    for digits, unit in ((11, 1), (14, 1_000), (17, 1_000_000)):
        if value < 10**digits:
            return _EPOCH + timedelta(microseconds=value * 1_000_000 // unit) if value else None
    return read_seconds(str(value / 1_000_000_000))


def microseconds(value: datetime) -> int:
    return (value - _EPOCH) // timedelta(microseconds=1)


def _number(text: str, base: int) -> int:
    try:
        return int(text, base)
    except ValueError:
        return 0


def _tags(streams: Sequence[Stream]) -> tuple[str, ...]:
    return tuple(one.name for one in streams if one.kind is StreamKind.TAG)
