"""A program that downloads the video of one page with yt-dlp: the job comes on stdin, the result goes to stdout.

It is a process of its own because yt-dlp cannot be stopped, and because limits of a process hold whatever a page makes
it do. It gets no environment and no configuration, the cookies of one host at most, and no network but the proxy that
the job names.
"""

import json
import re
import resource
import signal
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from pressbox.core.processes.parents import bind_to_parent

SOCKET_SECONDS = 15.0
# A page and its playlists take 60 MB; one that wants more names pieces without end, or unpacks to what nobody reads.
MEMORY_BYTES = 600_000_000
# A whole clip takes a few seconds.
PROCESSOR_SECONDS = 40
# Until the kernel ends a program whose parent has not.
_ALARM_SECONDS = 15.0
STEM = "clip"
# What yt-dlp calls the codec of a picture that is not there.
_SOUND = f"{STEM}.none."
_UNKNOWN_PAGES = ("generic", "html5")
# Pages of these hosts are read by their own extractors, all others by the general ones.
_EXTRACTORS: Mapping[str, tuple[str, ...]] = {
    "x.com": ("twitter.*",),
    "twitter.com": ("twitter.*",),
    "bsky.app": ("bluesky",),
    "reddit.com": ("reddit",),
    "redd.it": ("reddit",),
    "streamable.com": ("streamable",),
    "youtube.com": ("youtube",),
    "youtu.be": ("youtube",),
    "tiktok.com": ("tiktok",),
    "instagram.com": ("instagram",),
    "imgur.com": ("imgur",),
}
_GONE = frozenset({401, 403, 404, 410, 451})


class PageEnd(StrEnum):
    FILE = "file"
    TOO_LARGE = "too large"
    NOT_A_VIDEO = "not a video"
    GONE = "gone"
    GREEDY = "greedy"
    FAILED = "failed"


@dataclass(frozen=True)
class Job:
    url: str
    proxy: str
    folder: str
    largest_bytes: int
    seconds: float
    # In the form of cookies.txt, for the host of the page only.
    cookies: str = ""
    memory_bytes: int = MEMORY_BYTES
    processor_seconds: int = PROCESSOR_SECONDS
    # The process that waits for the result.
    parent: int = 0


@dataclass(frozen=True)
class PageResult:
    """`file` is a name inside the folder of the job; `sound` is another, where the page has it apart."""

    end: PageEnd
    message: str = ""
    file: str = ""
    sound: str = ""


class TooMuchError(Exception):
    """More bytes or more time than the job allows."""


def extractors_for(url: str) -> Sequence[str]:
    host = (urlsplit(url).hostname or "").lower()
    for known, names in _EXTRACTORS.items():
        if host == known or host.endswith(f".{known}"):
            # The general extractors as well: such a page may point to the file itself.
            return (*names, *_UNKNOWN_PAGES)
    return _UNKNOWN_PAGES


def is_of_stranger(url: str) -> bool:
    """Whether anybody may have made the page; those of known hosts are all made alike."""
    return extractors_for(url) == _UNKNOWN_PAGES


class SilentLogger:
    """Drops yt-dlp's messages, which are for people at a terminal."""

    def debug(self, message: str) -> None:
        pass

    def warning(self, message: str) -> None:
        pass

    def error(self, message: str) -> None:
        pass


def _write_cookies(job: Job) -> str | None:
    """The folder is deleted with everything in it when the download ends."""
    if not job.cookies:
        return None
    file = Path(job.folder) / "cookies.txt"
    file.write_text(job.cookies)
    return str(file)


def options(job: Job) -> dict[str, Any]:
    deadline = time.monotonic() + job.seconds

    def watch(progress: Mapping[str, Any]) -> None:
        # yt-dlp ignores max_filesize when the server does not announce the size, and has no limit of time.
        if (progress.get("downloaded_bytes") or 0) > job.largest_bytes:
            raise TooMuchError("too large")
        if time.monotonic() > deadline:
            raise TooMuchError("too slow")

    return {
        "proxy": job.proxy,
        "cookiefile": _write_cookies(job),
        "paths": {"home": job.folder, "temp": job.folder},
        "outtmpl": {"default": f"{STEM}.%(vcodec)s.%(ext)s"},
        # One file with picture and sound, or both apart: yt-dlp could join them with ffmpeg only, so we do it.
        "format": "best[height<=?1080]/best/(bestvideo[height<=?1080],bestaudio)/bestvideo",
        "allowed_extractors": list(extractors_for(job.url)),
        "noplaylist": True,
        "playlist_items": "1",
        "max_filesize": job.largest_bytes,
        "socket_timeout": SOCKET_SECONDS,
        "retries": 1,
        "fragment_retries": 1,
        "extractor_retries": 1,
        "skip_unavailable_fragments": False,
        "hls_prefer_native": True,
        "ffmpeg_location": "/nonexistent",
        "fixup": "never",
        "cachedir": False,
        "updatetime": False,
        "quiet": True,
        "no_warnings": True,
        "noprogress": True,
        "no_color": True,
        "logger": SilentLogger(),
        "progress_hooks": [watch],
        "match_filter": _reject_live,
    }


def _reject_live(info: Mapping[str, Any], *, incomplete: bool = False) -> str | None:
    return "a live broadcast has no end" if info.get("is_live") else None


def _greedy(job: Job) -> PageResult:
    return PageResult(PageEnd.GREEDY, f"The page takes more than {job.memory_bytes // 1_000_000} MB of memory.")


def run(job: Job) -> PageResult:
    # Imported here because it takes a second, and the parent process imports this module too.
    from yt_dlp import YoutubeDL  # type: ignore[import-untyped]
    from yt_dlp.utils import DownloadError, UnsupportedError, YoutubeDLError  # type: ignore[import-untyped]

    try:
        with YoutubeDL(options(job)) as downloader:
            downloader.download([job.url])
    except MemoryError:
        return _greedy(job)
    except TooMuchError as error:
        return PageResult(
            PageEnd.TOO_LARGE if "large" in str(error) else PageEnd.FAILED, "The clip's server is too slow."
        )
    except DownloadError as error:
        cause = error.exc_info[1] if error.exc_info else None
        if isinstance(cause, MemoryError):
            return _greedy(job)
        if isinstance(cause, TooMuchError):
            return PageResult(
                PageEnd.TOO_LARGE if "large" in str(cause) else PageEnd.FAILED, "The clip's server is too slow."
            )
        if isinstance(cause, UnsupportedError):
            return PageResult(PageEnd.NOT_A_VIDEO, "No video was found on the page.")
        return _failure(str(error))
    except (YoutubeDLError, OSError) as error:
        return _failure(str(error))
    return _find_file(job)


def _failure(text: str) -> PageResult:
    """Classify an error message of yt-dlp."""
    status = re.search(r"HTTP Error (\d{3})", text)
    if status and int(status[1]) in _GONE:
        return PageResult(PageEnd.GONE, f"The clip is gone or not public ({status[1]}).")
    if "File too large" in text or "larger than max-filesize" in text:
        return PageResult(PageEnd.TOO_LARGE)
    if re.search(
        r"No video|Unsupported URL|no video formats|file is empty|any data blocks|not a video|no suitable extractor",
        text,
        re.IGNORECASE,
    ):
        return PageResult(PageEnd.NOT_A_VIDEO, "No video was found on the page.")
    if re.search(r"private|deleted|removed|unavailable|login|log in|suspended|protected", text, re.IGNORECASE):
        return PageResult(PageEnd.GONE, "The clip is gone or not public.")
    return PageResult(PageEnd.FAILED, _first_sentence(text))


def _find_file(job: Job) -> PageResult:
    """Find the written file. There is none when yt-dlp refused the size."""
    written = Path(job.folder).glob(f"{STEM}.*")
    files = sorted((file for file in written if not file.name.endswith(".part")), key=lambda file: -file.stat().st_size)
    sounds = [file for file in files if file.name.startswith(_SOUND)]
    pictures = [file for file in files if file not in sounds]
    if not pictures:
        return PageResult(PageEnd.TOO_LARGE, "Nothing was written: the clip is too large or still live.")
    return PageResult(PageEnd.FILE, file=pictures[0].name, sound=sounds[0].name if sounds else "")


def _first_sentence(text: str) -> str:
    plain = re.sub(r"^ERROR:\s*|\x1b\[[0-9;]*m", "", text)
    # Addresses may hold credentials, such as ours of the proxy.
    without_addresses = re.sub(r"(?<!\S)\S+://\S+", "…", plain)
    return without_addresses.partition(";")[0].partition("\n")[0][:200]


def limit_process(job: Job) -> None:
    resource.setrlimit(resource.RLIMIT_FSIZE, (job.largest_bytes, job.largest_bytes))
    resource.setrlimit(resource.RLIMIT_AS, (job.memory_bytes, job.memory_bytes))
    resource.setrlimit(resource.RLIMIT_CPU, (job.processor_seconds, job.processor_seconds + 1))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def main() -> None:
    job = Job(**json.load(sys.stdin))
    bind_to_parent(job.parent)
    # By the kernel, whatever holds up Python.
    signal.setitimer(signal.ITIMER_REAL, job.seconds + _ALARM_SECONDS)
    limit_process(job)
    sys.stdout.write(json.dumps(asdict(run(job))))


if __name__ == "__main__":
    main()
