"""The file that a download writes: counted, hashed, limited, and deleted unless it is a video."""

import hashlib
import re
import shutil
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path

import anyio

from pressbox.core.errors import TransientError
from pressbox.footy.domain.errors import NotAVideoError, TooLargeError
from pressbox.footy.ports.outside import DownloadedFile, DownloadLimits

HEAD_BYTES = 4096
# An address with such an ending is a file, not a page.
VIDEO_FILE = re.compile(r"\.(mp4|m4v|mov|webm|mkv|ts)$", re.IGNORECASE)
_READ_BYTES = 1024 * 1024
# Left for the rest of the machine.
_SPACE_LEFT_FREE = 256 * 1024 * 1024
_TRANSPORT_PACKET = 188
_TRANSPORT_SYNC = 0x47
_BOX_TYPES = frozenset({b"ftyp", b"moov", b"mdat", b"free", b"skip", b"wide", b"styp", b"moof", b"pnot"})
_MAGIC = (b"\x1a\x45\xdf\xa3", b"FLV\x01", b"OggS", b"\x00\x00\x01\xba", b"\x00\x00\x01\xb3")


class Receiver:
    """Receives pieces of a file, up to the limit, whatever size the server announced."""

    def __init__(self, file: anyio.AsyncFile[bytes], limits: DownloadLimits) -> None:
        self._file = file
        self._limits = limits
        self._md5 = hashlib.md5(usedforsecurity=False)
        self._size = 0

    async def take(self, piece: bytes) -> None:
        if self._size == 0:
            check_head(piece)
        self._size += len(piece)
        if self._size > self._limits.largest_bytes:
            raise too_large_error(self._limits)
        self._md5.update(piece)
        await self._file.write(piece)

    def finish(self) -> DownloadedFile:
        if self._size == 0:
            raise NotAVideoError("The file is empty.")
        return DownloadedFile(self._size, self._md5.hexdigest())


@asynccontextmanager
async def open_receiver(target: Path, limits: DownloadLimits) -> AsyncIterator[Receiver]:
    """Write to `target`, which is deleted after any failure."""
    check_space(target.parent, limits)
    with remove_on_failure(target):
        async with await anyio.open_file(target, "wb") as file:
            yield Receiver(file, limits)


@contextmanager
def remove_on_failure(target: Path) -> Iterator[None]:
    try:
        yield
    # Cancellation included: half a file must not stay.
    except BaseException:
        target.unlink(missing_ok=True)
        raise


def check_space(folder: Path, limits: DownloadLimits) -> None:
    if shutil.disk_usage(folder).free < limits.largest_bytes + _SPACE_LEFT_FREE:
        raise TransientError("There is not enough disk space for another clip.")


def check_head(head: bytes) -> None:
    """Tell a page named .mp4 from a video by the first bytes; the content is checked later."""
    if not looks_like_video(head):
        kind = "a web page" if head.lstrip()[:1] == b"<" else "something else"
        raise NotAVideoError(f"The address leads to {kind}, not a video.")


def looks_like_video(head: bytes) -> bool:
    if head[4:8] in _BOX_TYPES or head.startswith(_MAGIC):
        return True
    if head[:4] == b"RIFF" and head[8:11] == b"AVI":
        return True
    return head[:1] == bytes([_TRANSPORT_SYNC]) and head[_TRANSPORT_PACKET : _TRANSPORT_PACKET + 1] in (
        b"",
        bytes([_TRANSPORT_SYNC]),
    )


def measure(path: Path, limits: DownloadLimits) -> DownloadedFile:
    """Return size and hash of a file that another program wrote. Blocking."""
    size = path.stat().st_size
    if size > limits.largest_bytes:
        raise too_large_error(limits)
    if size == 0:
        raise NotAVideoError("The file is empty.")
    md5 = hashlib.md5(usedforsecurity=False)
    with path.open("rb") as file:
        check_head(file.read(HEAD_BYTES))
        file.seek(0)
        while piece := file.read(_READ_BYTES):
            md5.update(piece)
    return DownloadedFile(size, md5.hexdigest())


def too_large_error(limits: DownloadLimits) -> TooLargeError:
    return TooLargeError(f"The clip is larger than {limits.largest_bytes // 1_000_000} MB.")
