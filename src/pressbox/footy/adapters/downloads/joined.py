"""Downloads picture and sound that lie in two files, and joins them without encoding anything again."""

import asyncio
import tempfile
from collections.abc import Awaitable, Callable
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

from pressbox.core.errors import PermanentError, PressboxError, TransientError
from pressbox.core.http.client import GuardedClient
from pressbox.core.logs import get_logger
from pressbox.footy.adapters.downloads.dash import choose_streams
from pressbox.footy.adapters.downloads.direct import check_status, fetch_file
from pressbox.footy.adapters.downloads.files import measure
from pressbox.footy.ports.outside import DownloadedFile, DownloadLimits

log = get_logger(__name__)

# Picture, sound, and the file that is to hold both.
JoinSound = Callable[[Path, Path, Path], Awaitable[None]]
TimeLeft = Callable[[], timedelta]
LARGEST_PLAYLIST = 1_000_000
_PLAYLIST_TIME = timedelta(seconds=20)
_SOUND_TRIES = 2


async def fetch_joined(
    http: GuardedClient, url: str, target: Path, limits: DownloadLimits, time_left: TimeLeft, join: JoinSound
) -> DownloadedFile:
    """Fetch the streams of a DASH playlist. A clip without its sound is better than none."""
    answer = await http.get(url, timeout=min(_PLAYLIST_TIME, time_left()), max_bytes=LARGEST_PLAYLIST)
    check_status(answer.status)
    streams = choose_streams(answer.body, answer.url)
    with tempfile.TemporaryDirectory(prefix="joined-", dir=target.parent) as folder:
        picture, sound = Path(folder) / "picture", Path(folder) / "sound"
        size = (await fetch_file(http, streams.picture, picture, replace(limits, time=time_left()))).size
        if streams.sound is not None:
            try:
                await _fetch_sound(http, streams.sound, sound, limits.largest_bytes - size, time_left)
                picture = await join_or_keep(picture, sound, Path(folder) / "joined", join)
            except (PermanentError, TransientError) as error:
                _report_silence(error)
        file = await asyncio.to_thread(measure, picture, limits)
        picture.replace(target)
    return file


async def join_or_keep(picture: Path, sound: Path, joined: Path, join: JoinSound) -> Path:
    """Join both, and return the file to keep: the picture alone when they cannot be joined."""
    try:
        await join(picture, sound, joined)
    except (PermanentError, TransientError) as error:
        _report_silence(error)
        return picture
    return joined


async def _fetch_sound(http: GuardedClient, url: str, target: Path, largest: int, time_left: TimeLeft) -> None:
    for left in reversed(range(_SOUND_TRIES)):
        try:
            await fetch_file(http, url, target, DownloadLimits(largest, time_left()))
            return
        except TransientError:
            if not left:
                raise


def _report_silence(error: PressboxError) -> None:
    log.warning("sound_missing", msg="A clip is kept without its sound", reason=error.message)
