"""Downloads from a server on loopback that is as hostile as the web: each end is defined, and nothing stays behind."""

import asyncio
import hashlib
import json
import sys
from collections import Counter
from collections.abc import AsyncIterator
from datetime import timedelta
from functools import partial
from pathlib import Path
from urllib.parse import urlsplit

import psutil
import pytest

from pressbox.core.config import HttpSettings
from pressbox.core.errors import RefusedAddressError, TransientError
from pressbox.core.http.client import GuardedClient
from pressbox.core.http.proxy import GuardedProxy
from pressbox.footy.adapters.downloads import pages
from pressbox.footy.adapters.downloads.downloader import PAGES_AT_ONCE, ClipDownloader
from pressbox.footy.adapters.downloads.files import looks_like_video
from pressbox.footy.adapters.downloads.page_program import Job, extractors_for, is_of_stranger
from pressbox.footy.domain.candidates import FoundVideo
from pressbox.footy.domain.errors import ClipGoneError, NotAVideoError, TooLargeError
from pressbox.footy.ports.outside import DownloadedFile, DownloadLimits
from tests.waiting import until

LIMITS = DownloadLimits(largest_bytes=1_000_000, time=timedelta(seconds=20))
# As much of an MP4 as decides what kind of file it is.
VIDEO = b"\x00\x00\x00\x18ftypmp42" + bytes(range(256)) * 40
# Three hundred bytes that name a hundred million pieces.
GREEDY_PLAYLIST = b"""<?xml version="1.0"?>
<MPD xmlns="urn:mpeg:dash:schema:mpd:2011" type="static" mediaPresentationDuration="PT99999999S">
<Period><AdaptationSet mimeType="video/mp4"><SegmentTemplate media="$Number$.m4s" timescale="1" duration="1"/>
<Representation id="1" bandwidth="1000" width="640" height="360" codecs="avc1"/></AdaptationSet></Period></MPD>"""
PACKET = b"\x47" + b"\x11" * 187


class HostileServer:
    """One handler per path; it writes what it likes."""

    def __init__(self) -> None:
        self.port = 0
        self.sent = 0
        self.asked: list[str] = []

    def url(self, path: str) -> str:
        return f"http://127.0.0.1:{self.port}{path}"

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
            method, path, _ = head.split("\r\n")[0].split(" ")
            self.asked.append(path)
            await self._answer(method, path.partition("?")[0], writer)
        except (ConnectionError, asyncio.IncompleteReadError):
            writer.transport.abort()
        finally:
            writer.close()

    async def _answer(self, method: str, path: str, writer: asyncio.StreamWriter) -> None:
        pieces = ["#EXTM3U", "#EXT-X-TARGETDURATION:4", "#EXTINF:4,", "1.ts", "#EXTINF:4,", "2.ts", "#EXT-X-ENDLIST"]
        whole = {
            "/goal.mp4": (VIDEO, "video/mp4"),
            "/page": (self._page(self.url("/goal.mp4")), "text/html"),
            "/page-to-private": (self._page("http://10.0.0.7/goal.mp4"), "text/html"),
            "/page-endless": (self._page(self.url("/endless.mp4")), "text/html"),
            "/page-huge": (self._page(self.url("/huge.mp4")), "text/html"),
            "/page-html": (self._page(self.url("/html.mp4")), "text/html"),
            "/page-empty": (self._page(self.url("/empty.mp4")), "text/html"),
            "/page-redirect": (self._page(self.url("/to-private.mp4")), "text/html"),
            "/page-drip": (self._page(self.url("/drip.mp4")), "text/html"),
            "/page-without": (b"<html><body>Nothing to see</body></html>", "text/html"),
            "/page.mp4": (b"<html><body>Nothing to see</body></html>", "text/html"),
            "/html.mp4": (b"<html>pretends</html>", "video/mp4"),
            "/empty.mp4": (b"", "video/mp4"),
            "/list.m3u8": ("\n".join(pieces).encode(), "application/vnd.apple.mpegurl"),
            "/list": ("\n".join(pieces).encode(), "text/plain"),
            "/greedy": (GREEDY_PLAYLIST, "application/dash+xml"),
            "/1.ts": (PACKET * 100, "video/mp2t"),
            "/2.ts": (PACKET * 100, "video/mp2t"),
        }
        heads = {
            "/to-private.mp4": "302 Found\r\nLocation: http://10.0.0.7/x.mp4\r\nContent-Length: 0",
            "/broken.mp4": "503 Busy\r\nContent-Length: 0",
            "/huge.mp4": "200 OK\r\nContent-Type: video/mp4\r\nContent-Length: 4294967296",
            "/endless.mp4": "200 OK\r\nContent-Type: video/mp4",
            "/drip.mp4": "200 OK\r\nContent-Type: video/mp4",
        }
        if path in whole:
            await self._whole(writer, *whole[path], method)
        else:
            head = heads.get(path, "404 Not Found\r\nContent-Length: 0")
            writer.write(f"HTTP/1.1 {head}\r\nConnection: close\r\n\r\n".encode())
        if path in ("/huge.mp4", "/endless.mp4"):
            await self._endless(writer, 0.0)
        if path == "/drip.mp4":
            await self._endless(writer, 0.05, VIDEO[:64])
        await writer.drain()

    def _page(self, video: str) -> bytes:
        return f'<html><body><video src="{video}"></video></body></html>'.encode()

    async def _whole(self, writer: asyncio.StreamWriter, body: bytes, kind: str, method: str) -> None:
        head = f"HTTP/1.1 200 OK\r\nContent-Type: {kind}\r\nContent-Length: {len(body)}\r\nConnection: close\r\n\r\n"
        writer.write(head.encode() + (b"" if method == "HEAD" else body))

    async def _endless(self, writer: asyncio.StreamWriter, pause: float, piece: bytes = VIDEO * 6) -> None:
        while True:
            writer.write(piece)
            await writer.drain()
            self.sent += len(piece)
            await asyncio.sleep(pause)


@pytest.fixture
async def hostile() -> AsyncIterator[HostileServer]:
    server = HostileServer()
    listener = await asyncio.start_server(server.serve, "127.0.0.1", 0)
    server.port = listener.sockets[0].getsockname()[1]
    yield server
    listener.close()
    await listener.wait_closed()


@pytest.fixture
async def downloader(hostile: HostileServer, tmp_path: Path) -> AsyncIterator[ClipDownloader]:
    settings = HttpSettings(allow=(f"127.0.0.1:{hostile.port}",))
    async with GuardedClient(settings) as http, GuardedProxy(settings) as proxy:
        yield ClipDownloader(http, proxy, archive=tmp_path / "archive")


@pytest.fixture
def target(tmp_path: Path) -> Path:
    folder = tmp_path / "target"
    folder.mkdir()
    return folder / "clip.mp4"


def found(page: str, media: str | None = None) -> FoundVideo:
    return FoundVideo(source="test", video_page_url=page, media_url=media)


async def test_a_file_is_fetched_by_its_own_address(
    downloader: ClipDownloader, hostile: HostileServer, target: Path
) -> None:
    url = hostile.url("/goal.mp4")
    result = await downloader.fetch(found("https://example.org/post/1", url), target, LIMITS)
    assert result == DownloadedFile(len(VIDEO), hashlib.md5(VIDEO).hexdigest())
    assert target.read_bytes() == VIDEO
    assert list(target.parent.iterdir()) == [target]


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("/html.mp4", NotAVideoError),
        ("/page.mp4", NotAVideoError),
        ("/empty.mp4", NotAVideoError),
        ("/missing.mp4", ClipGoneError),
        ("/broken.mp4", TransientError),
        ("/huge.mp4", TooLargeError),
        ("/endless.mp4", TooLargeError),
        ("/to-private.mp4", RefusedAddressError),
    ],
)
async def test_a_hostile_file_has_a_defined_end_and_leaves_nothing(
    downloader: ClipDownloader, hostile: HostileServer, target: Path, path: str, expected: type[Exception]
) -> None:
    url = hostile.url(path)
    with pytest.raises(expected):
        await downloader.fetch(found(url, url), target, LIMITS)
    assert list(target.parent.iterdir()) == []
    assert hostile.sent < 50_000_000


async def test_a_server_that_drips_is_left_when_the_time_is_over(
    downloader: ClipDownloader, hostile: HostileServer, target: Path
) -> None:
    limits = DownloadLimits(1_000_000, timedelta(milliseconds=500))
    url = hostile.url("/drip.mp4")
    with pytest.raises(TransientError):
        await downloader.fetch(found(url, url), target, limits)
    assert list(target.parent.iterdir()) == []


async def test_a_page_gives_its_video_through_the_guard(
    downloader: ClipDownloader, hostile: HostileServer, target: Path
) -> None:
    result = await downloader.fetch(found(hostile.url("/page")), target, LIMITS)
    assert result.size == len(VIDEO)
    assert target.read_bytes() == VIDEO
    assert list(target.parent.iterdir()) == [target]


async def test_when_the_address_of_the_file_has_expired_the_page_is_read(
    downloader: ClipDownloader, hostile: HostileServer, target: Path
) -> None:
    video = found(hostile.url("/page"), hostile.url("/expired.mp4"))
    assert (await downloader.fetch(video, target, LIMITS)).size == len(VIDEO)


@pytest.mark.parametrize("path", ["/list.m3u8", "/list"])
async def test_a_list_of_pieces_becomes_one_file(
    downloader: ClipDownloader, hostile: HostileServer, target: Path, path: str
) -> None:
    url = hostile.url(path)
    result = await downloader.fetch(found("https://example.org/post/1", url), target, LIMITS)
    assert result.size == 2 * len(PACKET) * 100
    assert list(target.parent.iterdir()) == [target]


@pytest.mark.parametrize(
    ("path", "expected", "seconds"),
    [
        ("/page-without", NotAVideoError, 20),
        ("/page-to-private", RefusedAddressError, 20),
        ("/page-endless", TooLargeError, 20),
        ("/page-huge", TooLargeError, 20),
        ("/page-html", NotAVideoError, 20),
        ("/page-empty", NotAVideoError, 20),
        ("/page-redirect", RefusedAddressError, 20),
        ("/page-drip", TransientError, 4),
    ],
)
async def test_a_hostile_page_has_a_defined_end_and_leaves_nothing(
    downloader: ClipDownloader,
    hostile: HostileServer,
    target: Path,
    path: str,
    expected: type[Exception],
    seconds: int,
) -> None:
    limits = DownloadLimits(1_000_000, timedelta(seconds=seconds))
    with pytest.raises(expected):
        await downloader.fetch(found(hostile.url(path)), target, limits)
    assert list(target.parent.iterdir()) == []


async def test_pages_of_private_addresses_are_not_read_at_all(downloader: ClipDownloader, target: Path) -> None:
    with pytest.raises(RefusedAddressError):
        await downloader.fetch(found("http://10.0.0.7/watch"), target, LIMITS)
    with pytest.raises(RefusedAddressError):
        await downloader.fetch(found("ftp://example.org/watch"), target, LIMITS)


async def test_a_cancelled_download_leaves_neither_file_nor_process(
    downloader: ClipDownloader, hostile: HostileServer, target: Path
) -> None:
    fetching = asyncio.create_task(downloader.fetch(found(hostile.url("/page-drip")), target, LIMITS))
    await until(lambda: "/drip.mp4" in hostile.asked or fetching.done())
    fetching.cancel()
    with pytest.raises(asyncio.CancelledError):
        await fetching
    assert list(target.parent.iterdir()) == []


async def test_a_file_of_the_archive_is_copied_and_nothing_outside_of_it(
    downloader: ClipDownloader, target: Path, tmp_path: Path
) -> None:
    archive = tmp_path / "archive"
    archive.mkdir()
    (archive / "goal one.mp4").write_bytes(VIDEO)
    (tmp_path / "secret.mp4").write_bytes(VIDEO)
    (archive / "way-out.mp4").symlink_to(tmp_path / "secret.mp4")
    good = (archive / "goal one.mp4").as_uri()
    assert (await downloader.fetch(found(good, good), target, LIMITS)).size == len(VIDEO)
    target.unlink()
    for outside in (tmp_path / "secret.mp4", archive / "way-out.mp4", archive / ".." / "secret.mp4"):
        url = f"file://{outside}"
        with pytest.raises(RefusedAddressError):
            await downloader.fetch(found(url, url), target, LIMITS)
    gone = (archive / "gone.mp4").as_uri()
    with pytest.raises(ClipGoneError):
        await downloader.fetch(found(gone, gone), target, LIMITS)
    assert list(target.parent.iterdir()) == []


def test_only_known_hosts_get_extractors_of_their_own() -> None:
    assert "twitter.*" in extractors_for("https://x.com/a/status/1")
    assert list(extractors_for("https://evil.example.org/x.com")) == ["generic", "html5"]
    assert list(extractors_for("https://notx.com/")) == ["generic", "html5"]


def test_videos_are_told_from_other_files_by_their_first_bytes() -> None:
    assert looks_like_video(VIDEO)
    assert looks_like_video(PACKET * 2)
    assert looks_like_video(b"\x1a\x45\xdf\xa3....")
    assert not looks_like_video(b"G" + b"I" * 300)
    assert not looks_like_video(json.dumps({"error": "no"}).encode())


# ---- Pages that want more than a clip is worth


async def test_a_playlist_of_endless_pieces_is_ended_by_its_limit_of_memory(
    downloader: ClipDownloader, hostile: HostileServer, target: Path
) -> None:
    with pytest.raises(NotAVideoError, match="600 MB of memory"):
        await downloader.fetch(found(hostile.url("/greedy")), target, LIMITS)
    assert list(target.parent.iterdir()) == []


async def test_a_playlist_of_endless_pieces_is_ended_by_its_limit_of_processor_time(
    downloader: ClipDownloader, hostile: HostileServer, target: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # So much memory cannot be filled in one second.
    monkeypatch.setattr(pages, "Job", partial(Job, memory_bytes=64_000_000_000, processor_seconds=1))
    with pytest.raises(NotAVideoError, match="1 seconds of processor time"):
        await downloader.fetch(found(hostile.url("/greedy")), target, LIMITS)


async def test_one_host_has_one_page_at_once_and_leaves_places_to_others(
    downloader: ClipDownloader, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    released, open_pages, most = asyncio.Event(), Counter[str](), Counter[str]()

    async def hold(proxy: object, url: str, *_: object) -> DownloadedFile:
        host = str(urlsplit(url).hostname)
        open_pages[host] += 1
        most[host] = max(most[host], open_pages[host])
        await released.wait()
        open_pages[host] -= 1
        return DownloadedFile(1, "")

    monkeypatch.setattr("pressbox.footy.adapters.downloads.downloader.fetch_from_page", hold)
    urls = [f"https://greedy.example/{number}" for number in range(PAGES_AT_ONCE)]
    urls += ["https://other.example/1", "https://x.com/a/status/1"]
    tasks = [
        asyncio.create_task(downloader.fetch(found(url), tmp_path / str(number), LIMITS))
        for number, url in enumerate(urls)
    ]
    await until(lambda: len(open_pages) == 3, "every host has a page")
    released.set()
    await asyncio.gather(*tasks)
    assert most == {"greedy.example": 1, "other.example": 1, "x.com": 1}


def test_pages_of_known_hosts_are_no_strangers() -> None:
    assert [is_of_stranger(url) for url in ("https://x.com/a", "https://m.youtube.com/w", "https://example.org/")] == [
        False,
        False,
        True,
    ]


PARENT = """
import asyncio, os, sys
from pressbox.footy.adapters.downloads.pages import run_program
from pressbox.footy.adapters.downloads.page_program import Job
url, folder = sys.argv[1:]
asyncio.run(run_program(Job(url, url, folder, 1_000_000, 600.0, parent=os.getpid())))
"""


async def test_the_program_of_a_page_ends_with_a_parent_that_was_killed(tmp_path: Path) -> None:
    asked = asyncio.Event()

    async def stay_silent(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        asked.set()
        await reader.read()
        writer.close()

    listener = await asyncio.start_server(stay_silent, "127.0.0.1", 0)
    url = f"http://127.0.0.1:{listener.sockets[0].getsockname()[1]}"
    parent = await asyncio.create_subprocess_exec(sys.executable, "-c", PARENT, url, str(tmp_path))
    try:
        await asked.wait()
        [child] = psutil.Process(parent.pid).children()
        # So that no limit of its own ends it.
        child.suspend()
        parent.kill()
        await parent.wait()
        await until(lambda: is_gone(child), "the end of the program")
    finally:
        if parent.returncode is None:
            parent.kill()
            await parent.wait()
        listener.close()


def is_gone(process: psutil.Process) -> bool:
    try:
        return process.status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True
