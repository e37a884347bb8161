"""Downloads from a server on loopback that is as hostile as the web: each end is defined, and nothing stays behind."""

import asyncio
import hashlib
import json
from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path

import pytest

from pressbox.core.config import HttpSettings
from pressbox.core.errors import RefusedAddressError, TransientError
from pressbox.core.http.client import GuardedClient
from pressbox.core.http.proxy import GuardedProxy
from pressbox.footy.adapters.downloads.downloader import ClipDownloader
from pressbox.footy.adapters.downloads.files import looks_like_video
from pressbox.footy.adapters.downloads.page_program import extractors_for
from pressbox.footy.domain.candidates import FoundVideo
from pressbox.footy.domain.errors import ClipGoneError, NotAVideoError, TooLargeError
from pressbox.footy.ports.outside import DownloadedFile, DownloadLimits
from tests.waiting import until

LIMITS = DownloadLimits(largest_bytes=1_000_000, time=timedelta(seconds=20))
# As much of an MP4 as decides what kind of file it is.
VIDEO = b"\x00\x00\x00\x18ftypmp42" + bytes(range(256)) * 40
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
