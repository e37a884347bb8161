"""Fetches a media file by its own address, through the guarded client or from the archive folder."""

import shutil
from pathlib import Path
from urllib.parse import unquote, urlsplit

import httpx

from pressbox.core.errors import RateLimitedError, RefusedAddressError, TransientError
from pressbox.core.http.client import GuardedClient, StreamedResponse
from pressbox.core.http.decoding import AnswerTooLargeError
from pressbox.footy.adapters.downloads.files import (
    Receiver,
    check_space,
    measure,
    open_receiver,
    remove_on_failure,
    too_large_error,
)
from pressbox.footy.domain.errors import ClipGoneError, NotAVideoError
from pressbox.footy.ports.outside import DownloadedFile, DownloadLimits

_PLAYLIST_TYPES = ("application/vnd.apple.mpegurl", "application/x-mpegurl", "audio/mpegurl", "application/dash+xml")
_PLAYLIST_START = b"#EXTM3U"
_NOT_FOR_US = frozenset({401, 403, 404, 410, 451})
_PIECE = 256 * 1024


class PlaylistError(Exception):
    """The address leads to a playlist instead of a file: download it from the page."""


async def fetch_file(http: GuardedClient, url: str, target: Path, limits: DownloadLimits) -> DownloadedFile:
    """The time limit holds for the whole exchange, so that a slow server cannot hold us."""
    try:
        async with http.stream(
            url, max_bytes=limits.largest_bytes, timeout=limits.time, headers={"Accept": "video/*, */*;q=0.5"}
        ) as answer:
            _check_answer(answer)
            async with open_receiver(target, limits) as receiver:
                await _receive(answer, receiver)
                return receiver.finish()
    except AnswerTooLargeError as error:
        raise too_large_error(limits) from error


def copy_file(url: str, root: Path | None, target: Path, limits: DownloadLimits) -> DownloadedFile:
    """Copy a file of the archive folder. Nothing outside of it is read, whatever the address says. Blocking."""
    path = Path(unquote(urlsplit(url).path)).resolve()
    if root is None or not path.is_relative_to(root.resolve()):
        raise RefusedAddressError("Only files inside the archive folder are read.")
    check_space(target.parent, limits)
    with remove_on_failure(target):
        try:
            if path.stat().st_size > limits.largest_bytes:
                raise too_large_error(limits)
            shutil.copyfile(path, target)
            return measure(target, limits)
        except FileNotFoundError as error:
            raise ClipGoneError("The file is no longer in the archive folder.") from error
        except OSError as error:
            raise TransientError(f"The file cannot be read ({error.strerror}).") from error


async def _receive(answer: StreamedResponse, receiver: Receiver) -> None:
    """Write in larger pieces than they arrive in: each write is a hop to a thread."""
    waiting = bytearray()
    begun = False
    async for piece in answer.chunks():
        waiting += piece
        if not begun and len(waiting) >= len(_PLAYLIST_START) and waiting.startswith(_PLAYLIST_START):
            raise PlaylistError
        if len(waiting) >= _PIECE:
            begun = True
            await receiver.take(bytes(waiting))
            waiting.clear()
    if waiting:
        await receiver.take(bytes(waiting))


def check_status(status: int) -> None:
    if status == httpx.codes.TOO_MANY_REQUESTS:
        raise RateLimitedError("The clip's server asks us to slow down.")
    if status in _NOT_FOR_US:
        raise ClipGoneError(f"The clip is gone or not public ({status}).")
    if status != httpx.codes.OK:
        raise TransientError(f"The clip's server answered {status}.")


def _check_answer(answer: StreamedResponse) -> None:
    check_status(answer.status)
    kind = answer.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind in _PLAYLIST_TYPES:
        raise PlaylistError
    if kind in ("text/html", "application/xhtml+xml"):
        raise NotAVideoError("The address leads to a web page, not a video.")
