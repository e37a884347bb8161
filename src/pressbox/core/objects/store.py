"""The port of the object store: where clips, article bodies and everything else too large for a row lie."""

import re
from collections.abc import AsyncIterable, AsyncIterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Protocol

from pressbox.core.errors import InvalidInputError

# Below it lies what can be had again: a backup leaves it out.
CACHE_FOLDER = "cache"
MAX_KEY_BYTES = 1024
# A file name on the common file systems; a longer part could be kept by S3 only.
MAX_PART_BYTES = 240
# The local adapter writes to `name#1` first and renames: such a name would never be listed.
STAGING_NAME = re.compile(r"#\d+$")


@dataclass(frozen=True)
class ObjectInfo:
    """What is known of an object without reading it. `etag` changes whenever the content does."""

    key: str
    size: int
    modified_at: datetime
    etag: str | None = None


class ObjectStore(Protocol):
    """Bytes under keys, the same on a local folder and on S3.

    Keys are relative and `/`-separated; `check_key` says which are refused, with InvalidInputError and before
    anything is touched. Do not use a key as the folder of another: a local store says ConflictError, S3 nothing.

    A write is atomic: a reader sees the old object or the new one, never a part, and a write that fails or is
    cancelled leaves what was there before. Whoever writes last wins.

    A key without an object is a NotFoundError, a store that does not answer a TransientError, one that refuses our
    credentials or lacks the bucket a ConfigurationError. All methods are safe to call at the same time.
    """

    async def put(self, key: str, data: bytes | AsyncIterable[bytes] | Path) -> ObjectInfo:
        """Write an object, replacing what is there. An iterable and a file are not held in memory as a whole."""
        ...

    async def get(self, key: str) -> bytes:
        """The whole object. For what may be large, use `stream`."""
        ...

    def stream(self, key: str, start: int = 0, end: int | None = None) -> AsyncIterator[bytes]:
        """The bytes from `start` up to but without `end`, in pieces; an `end` beyond the object means its end.

        A `start` behind the last byte is an InvalidInputError; an HTTP range request answers it with 416.
        """
        ...

    async def info(self, key: str) -> ObjectInfo | None:
        """What is known of an object, or None when there is none."""
        ...

    async def delete(self, key: str) -> None:
        """Remove an object. To remove what is not there is fine."""
        ...

    def list(self, prefix: str = "") -> AsyncIterator[ObjectInfo]:
        """Every object below the folder `prefix`, in no particular order; an empty prefix means all of them."""
        ...

    async def link(self, key: str, expires: timedelta) -> str | None:
        """An address from which anybody can read the object for a while, or None where the store has no such thing."""
        ...

    async def remove_unfinished(self, before: datetime) -> int:
        """Remove what writers left that were killed before this time; how many there were.

        On S3 the parts of such a write are invisible to us: a lifecycle rule of the bucket removes them, so it is 0.
        """
        ...

    async def check(self) -> None:
        """Write and remove a small object, so that what is wrong with the store shows as an error that says so."""
        ...


def check_key(key: str) -> str:
    """The key itself, or an InvalidInputError that says what is wrong with it."""
    problem = _problem(key)
    if problem is not None:
        raise InvalidInputError(f"This object key {problem}.", field="key")
    return key


def check_prefix(prefix: str) -> str:
    """A folder to list: a key, with or without a `/` at its end, or nothing."""
    folder = prefix.removesuffix("/")
    return check_key(folder) if folder else _nothing(prefix)


def _nothing(prefix: str) -> str:
    if prefix:
        raise InvalidInputError("A prefix does not begin with a slash.", field="prefix")
    return ""


def _problem(key: str) -> str | None:
    if not key:
        return "is empty"
    if not key.isprintable():
        return "has a character that cannot be printed"
    if "\\" in key:
        return "has a backslash; separate its parts with /"
    if len(key.encode()) > MAX_KEY_BYTES:
        return f"is longer than {MAX_KEY_BYTES} bytes"
    return next(filter(None, map(_part_problem, key.split("/"))), None)


def _part_problem(part: str) -> str | None:
    if not part:
        return "has an empty part; it must not begin or end with / nor contain //"
    if part in (".", ".."):
        return "has a part that means a folder, . or .."
    if len(part.encode()) > MAX_PART_BYTES:
        return f"has a part longer than {MAX_PART_BYTES} bytes"
    if STAGING_NAME.search(part):
        return "has a part that ends with # and digits, which is kept for unfinished writes"
    return None
