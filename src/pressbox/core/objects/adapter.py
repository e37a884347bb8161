"""The object store over obstore: one adapter for a local folder and for S3."""

import asyncio
import os
from collections.abc import AsyncIterable, AsyncIterator, Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING
from uuid import uuid4

import obstore
from obstore.exceptions import BaseError, PermissionDeniedError, UnauthenticatedError
from obstore.store import LocalStore, S3Store

from pressbox.core.errors import (
    ConfigurationError,
    ConflictError,
    InvalidInputError,
    NotFoundError,
    PressboxError,
    TransientError,
)
from pressbox.core.objects.store import STAGING_NAME, ObjectInfo, check_key, check_prefix

if TYPE_CHECKING:
    from obstore import GetOptions, ObjectMeta

# A part of an upload, and how many of them are in memory at once: 20 MB for any size of object.
PART_BYTES = 5 * 1024 * 1024
PARTS_AT_ONCE = 4
PIECE_BYTES = 256 * 1024
LONGEST_LINK = timedelta(days=7)

# obstore has one class for most errors, so the texts of the operating system and of S3 must tell them apart.
_REFUSED = ("401 Unauthorized", "403 Forbidden", "Permission denied (os error", "Read-only file system")
_NO_BUCKET = ("NoSuchBucket", "The specified bucket does not exist")
_IN_THE_WAY = ("Not a directory (os error", "Is a directory (os error", "Directory not empty (os error")


class ObstoreObjects:
    """Implements the port. `place` is how errors call the store: a folder or a bucket, never a credential."""

    def __init__(
        self, store: LocalStore | S3Store, *, place: str, advice: str, local_folder: Path | None = None
    ) -> None:
        self._store = store
        self._local_folder = local_folder
        self._place = place
        self._advice = advice

    async def put(self, key: str, data: bytes | AsyncIterable[bytes] | Path) -> ObjectInfo:
        check_key(key)
        if isinstance(data, Path) and not await asyncio.to_thread(data.is_file):
            raise NotFoundError(f"There is no file {data.name} to store as {key}.", key=key)
        with self._translate_errors(key, writing=True):
            await obstore.put_async(self._store, key, data, chunk_size=PART_BYTES, max_concurrency=PARTS_AT_ONCE)
        info = await self.info(key)
        if info is None:
            raise TransientError(f"The object {key} was removed while it was written.", key=key)
        return info

    async def get(self, key: str) -> bytes:
        check_key(key)
        with self._translate_errors(key):
            result = await obstore.get_async(self._store, key)
            return bytes(await result.bytes_async())

    def stream(self, key: str, start: int = 0, end: int | None = None) -> AsyncIterator[bytes]:
        check_key(key)
        if start < 0 or (end is not None and end <= start):
            raise InvalidInputError(f"There are no bytes from {start} to {end}.", field="range", key=key)
        return self._stream(key, start, end)

    async def _stream(self, key: str, start: int, end: int | None) -> AsyncIterator[bytes]:
        options: GetOptions = {}
        if (start, end) != (0, None):
            size = (await self._require_info(key)).size
            if start >= size:
                raise InvalidInputError(f"The object {key} has {size} bytes, none from {start}.", field="range")
            options["range"] = (start, size if end is None else min(end, size))
        with self._translate_errors(key):
            result = await obstore.get_async(self._store, key, options=options)
        pieces = aiter(result.stream(min_chunk_size=PIECE_BYTES))
        while True:
            # Only the reading: what the caller does with a piece raises errors of its own.
            with self._translate_errors(key):
                piece = await anext(pieces, None)
            if piece is None:
                return
            yield bytes(piece)

    async def info(self, key: str) -> ObjectInfo | None:
        try:
            return await self._require_info(key)
        except NotFoundError:
            return None

    async def delete(self, key: str) -> None:
        check_key(key)
        try:
            with self._translate_errors(key):
                await obstore.delete_async(self._store, key)
        except NotFoundError:
            return

    def list(self, prefix: str = "") -> AsyncIterator[ObjectInfo]:
        return self._list(check_prefix(prefix))

    async def _list(self, folder: str) -> AsyncIterator[ObjectInfo]:
        chunks = aiter(obstore.list(self._store, folder or None, chunk_size=500))
        while True:
            with self._translate_errors(folder):
                chunk = await anext(chunks, None)
            if chunk is None:
                return
            for meta in chunk:
                yield _info(meta)

    async def link(self, key: str, expires: timedelta) -> str | None:
        check_key(key)
        if not timedelta(0) < expires <= LONGEST_LINK:
            raise InvalidInputError(f"A link lasts at most {LONGEST_LINK.days} days.", field="expires")
        if isinstance(self._store, LocalStore):
            return None
        with self._translate_errors(key):
            return await obstore.sign_async(self._store, "GET", key, expires)

    async def remove_unfinished(self, before: datetime) -> int:
        if self._local_folder is None:
            return 0
        return await asyncio.to_thread(_remove_staged, self._local_folder, before.timestamp())

    async def check(self) -> None:
        key = f"scratch/check-{uuid4()}"
        try:
            await self.put(key, b"pressbox")
        except ConflictError as error:
            raise ConfigurationError(f"{self._place} has a file where a folder should be. {self._advice}") from error
        await self.delete(key)

    async def _require_info(self, key: str) -> ObjectInfo:
        check_key(key)
        with self._translate_errors(key):
            return _info(await obstore.head_async(self._store, key))

    @contextmanager
    def _translate_errors(self, key: str, *, writing: bool = False) -> Iterator[None]:
        """Errors of obstore become ours. Theirs quote whole answers of the server, which stay here."""
        try:
            yield
        except FileNotFoundError as error:
            raise self._missing_error(key, str(error)) from None
        except (BaseError, PermissionError) as error:
            raise self._failure_error(key, error, writing) from None

    def _missing_error(self, key: str, text: str) -> PressboxError:
        if any(sign in text for sign in _NO_BUCKET):
            return ConfigurationError(f"{self._place} does not exist. {self._advice}")
        return NotFoundError(f"There is no object {key}.", key=key)

    def _conflict_error(self, key: str) -> PressboxError:
        return ConflictError(f"The key {key} is the folder of another object, or below one.", key=key)

    def _failure_error(self, key: str, error: Exception, writing: bool) -> PressboxError:
        text = str(error)
        refused = isinstance(error, PermissionDeniedError | UnauthenticatedError | PermissionError)
        if refused or any(sign in text for sign in _REFUSED):
            return ConfigurationError(f"{self._place} does not let us in. {self._advice}")
        if any(sign in text for sign in _NO_BUCKET):
            return ConfigurationError(f"{self._place} does not exist. {self._advice}")
        if any(sign in text for sign in _IN_THE_WAY):
            # Whoever reads or removes a folder, or below a file, just finds no object there.
            return self._conflict_error(key) if writing else self._missing_error(key, "")
        return TransientError(f"{self._place} does not answer as it should. {self._advice}", key=key)


def _remove_staged(folder: Path, before: float) -> int:
    removed = 0
    for root, _, names in os.walk(folder):
        for path in (Path(root, name) for name in names if STAGING_NAME.search(name)):
            try:
                if path.stat().st_mtime < before:
                    path.unlink()
                    removed += 1
            except FileNotFoundError:
                # Its writer was alive after all, and has just finished.
                continue
    return removed


def _info(meta: "ObjectMeta") -> ObjectInfo:
    return ObjectInfo(
        key=meta["path"], size=meta["size"], modified_at=meta["last_modified"], etag=meta["e_tag"] or None
    )
