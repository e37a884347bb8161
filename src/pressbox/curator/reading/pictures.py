"""Pictures of publishers under addresses of ours: fetched by us and kept for a while, so they do not see who reads."""

import asyncio
import hashlib
import hmac
import re
from base64 import urlsafe_b64decode, urlsafe_b64encode
from binascii import Error as DecodingError
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta
from functools import cache
from html import escape, unescape
from time import monotonic

from pressbox.core.app import Resources
from pressbox.core.clock import Clock, utc_now
from pressbox.core.config import Settings
from pressbox.core.errors import NotFoundError, PressboxError
from pressbox.core.http.client import GuardedClient
from pressbox.core.logs import get_logger
from pressbox.core.objects.store import CACHE_FOLDER, ObjectInfo, ObjectStore
from pressbox.curator.names import PATH as READER_PATH
from pressbox.curator.settings import CuratorSettings

LONGEST_ADDRESS = 4_000
_MAC_BYTES = 18
_SOURCE = re.compile(r'(?P<tag><img\b[^<>]*?\ssrc=")(?P<address>https?://[^"<>]+)(?=")', re.IGNORECASE)
_ISO_BRANDS = frozenset({b"avif", b"avis", b"heic", b"heix", b"mif1", b"msf1"})
# How files begin. SVG is not among them on purpose: it is a document with scripts and links of its own.
_BEGINNINGS = (
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"GIF87a", "image/gif"),
    (b"GIF89a", "image/gif"),
    (b"BM", "image/bmp"),
    (b"\x00\x00\x01\x00", "image/x-icon"),
)
NO_PICTURE = "There is no such picture."


@dataclass(frozen=True)
class Picture:
    """A picture as it is sent on; its type is what its bytes say, not what the publisher says."""

    content_type: str
    body: bytes


class PictureAddresses:
    """Makes and reads addresses of pictures. Only what we made is fetched: this is no open proxy.

    The first key signs; what older ones signed is still read.
    """

    def __init__(self, path: str, keys: Sequence[str]) -> None:
        self._path = path
        self._keys = [hashlib.sha256(b"pressbox curator pictures\0" + key.encode()).digest() for key in keys]

    def make(self, address: str) -> str:
        encoded = urlsafe_b64encode(address.encode()).decode().rstrip("=")
        return f"{self._path}/{_sign(self._keys[0], address)}/{encoded}"

    def read(self, signature: str, encoded: str) -> str:
        """Return the publisher's address; one that we did not sign is a NotFoundError."""
        try:
            address = urlsafe_b64decode(encoded + "=" * (-len(encoded) % 4)).decode()
        except (DecodingError, UnicodeDecodeError, ValueError) as error:
            raise NotFoundError(NO_PICTURE) from error
        if not any(hmac.compare_digest(_sign(key, address).encode(), signature.encode()) for key in self._keys):
            raise NotFoundError(NO_PICTURE)
        return address

    def rewrite(self, html: str) -> str:
        """Let the pictures of a page lead to us; an address of excessive length shows no picture."""

        def replace(found: re.Match[str]) -> str:
            address = unescape(found["address"])
            return found["tag"] + (escape(self.make(address)) if len(address) <= LONGEST_ADDRESS else "")

        return _SOURCE.sub(replace, html)


def find_type(body: bytes) -> str | None:
    """Return the type of a picture by how it begins; None for everything else, HTML and SVG included."""
    if body[:4] == b"RIFF" and body[8:12] == b"WEBP":
        return "image/webp"
    if body[4:8] == b"ftyp" and body[8:12] in _ISO_BRANDS:
        return "image/avif" if body[8:11] == b"avi" else "image/heic"
    return next((kind for beginning, kind in _BEGINNINGS if body.startswith(beginning)), None)


def storage_key(prefix: str, address: str) -> str:
    digest = hashlib.sha256(address.encode()).hexdigest()
    return f"{prefix}/{digest[:2]}/{digest}"


def _sign(key: bytes, address: str) -> str:
    return urlsafe_b64encode(hmac.digest(key, address.encode(), "sha256")[:_MAC_BYTES]).decode()


log = get_logger(__name__)

FOLDER = f"{CACHE_FOLDER}/pictures"
LARGEST_PICTURE = 10_000_000
PATIENCE = timedelta(seconds=20)
FETCHES_AT_ONCE = 8
KEEP = timedelta(days=30)
# What failed is not asked for again by every page that shows it.
FAILURE_SECONDS = 600.0
MOST_FAILURES = 1_000
# Of the limit: how much is written before the next look at the whole, and how much is left after one.
_LOOK_AFTER = 0.05
_KEPT = 0.8
_ACCEPT = "image/avif,image/webp,image/png,image/jpeg,image/gif,*/*;q=0.1"


class PictureService:
    """Loads a picture by its publisher's address. One per process: the same picture is fetched once at a time."""

    def __init__(
        self,
        http: GuardedClient,
        objects: ObjectStore,
        most_bytes: int,
        *,
        clock: Clock = utc_now,
        now: Callable[[], float] = monotonic,
    ) -> None:
        self._http = http
        self._objects = objects
        self._most_bytes = most_bytes
        self._clock = clock
        self._now = now
        self._fetching = asyncio.Semaphore(FETCHES_AT_ONCE)
        self._running: dict[str, asyncio.Task[Picture]] = {}
        self._failed: dict[str, float] = {}
        self._written = 0
        self._cleaning = asyncio.Lock()

    async def load(self, address: str) -> Picture:
        """Return the picture; a NotFoundError when there is none at this address, or it is none."""
        if self._failed.get(address, 0.0) > self._now():
            raise NotFoundError(NO_PICTURE)
        task = self._running.get(address)
        if task is None:
            task = asyncio.create_task(self._load(address))
            self._running[address] = task
            task.add_done_callback(lambda ended: self._forget(address, ended))
        # A reader who leaves does not take the picture away from another one.
        return await asyncio.shield(task)

    def _forget(self, address: str, ended: asyncio.Task[Picture]) -> None:
        del self._running[address]
        if not ended.cancelled():
            # Looked at, or asyncio complains when every reader has left meanwhile.
            ended.exception()

    async def _load(self, address: str) -> Picture:
        key = storage_key(FOLDER, address)
        with suppress(NotFoundError):
            body = await self._objects.get(key)
            return Picture(find_type(body) or "application/octet-stream", body)
        try:
            async with self._fetching:
                picture = await self._fetch(address)
        except PressboxError as error:
            if len(self._failed) >= MOST_FAILURES:
                self._failed.clear()
            self._failed[address] = self._now() + FAILURE_SECONDS
            raise NotFoundError(NO_PICTURE) from error
        if len(picture.body) <= self._most_bytes:
            await self._objects.put(key, picture.body)
            self._written += len(picture.body)
            if self._written > self._most_bytes * _LOOK_AFTER:
                await self.clean()
        return picture

    async def _fetch(self, address: str) -> Picture:
        # The client sends no referrer and no cookie.
        answer = await self._http.get(address, headers={"Accept": _ACCEPT}, max_bytes=LARGEST_PICTURE, timeout=PATIENCE)
        content_type = find_type(answer.body) if answer.status == 200 else None
        if content_type is None:
            raise NotFoundError(NO_PICTURE)
        return Picture(content_type, answer.body)

    async def clean(self) -> int:
        """Remove the oldest pictures until there is room again, and all that are older than a month."""
        if self._cleaning.locked():
            return 0
        async with self._cleaning:
            self._written = 0
            kept = sorted([info async for info in self._objects.list(FOLDER)], key=lambda info: info.modified_at)
            removed = self._choose_oldest(kept)
            for info in removed:
                await self._objects.delete(info.key)
        if removed:
            log.info("pictures_removed", msg="Old pictures were removed", count=len(removed))
        return len(removed)

    def _choose_oldest(self, kept: list[ObjectInfo]) -> list[ObjectInfo]:
        total, room = sum(info.size for info in kept), self._most_bytes
        over = total - room * _KEPT if total > room else 0.0
        too_old = self._clock() - KEEP
        removed: list[ObjectInfo] = []
        for info in kept:
            if over <= 0 and info.modified_at >= too_old:
                break
            removed.append(info)
            over -= info.size
        return removed


PICTURES_PATH = f"{READER_PATH}/pictures"
_MEGABYTE = 1_000_000


def picture_addresses(settings: Settings) -> PictureAddresses:
    return _addresses(settings.secret_keys)


@cache
def _addresses(keys: tuple[str, ...]) -> PictureAddresses:
    return PictureAddresses(PICTURES_PATH, keys)


def picture_service(resources: Resources) -> PictureService:
    most = resources.settings.group(CuratorSettings).picture_cache_megabytes * _MEGABYTE
    return PictureService(resources.http, resources.objects, most)
