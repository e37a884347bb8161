"""Clips whose picture and sound lie in two files, as Reddit keeps them, over HTTP with real files."""

from collections.abc import AsyncIterator, Awaitable, Callable
from datetime import timedelta
from pathlib import Path

import av
import pytest

from pressbox.core.config import HttpSettings
from pressbox.core.http.client import GuardedClient
from pressbox.core.http.proxy import GuardedProxy
from pressbox.demo.simulators.http_service import Answer, HttpService, Request
from pressbox.footy.adapters.downloads.downloader import ClipDownloader
from pressbox.footy.adapters.media.processes import MediaProcesses
from pressbox.footy.domain.candidates import FoundVideo
from pressbox.footy.domain.errors import ClipGoneError
from pressbox.footy.ports.outside import DownloadLimits
from tests.fakes.video_files import written, written_sound

LIMITS = DownloadLimits(largest_bytes=5_000_000, time=timedelta(seconds=60))
PLAYLIST = """<?xml version="1.0" encoding="UTF-8"?>
<MPD mediaPresentationDuration="PT2S" type="static" profiles="urn:mpeg:dash:profile:isoff-on-demand:2011"
 xmlns="urn:mpeg:dash:schema:mpd:2011"><Period duration="PT2S">
<AdaptationSet segmentAlignment="true"><Representation bandwidth="804261" codecs="avc1.4d401e" frameRate="25"
 height="180" id="VIDEO-1" mimeType="video/mp4" width="320"><BaseURL>picture.mp4</BaseURL></Representation>
</AdaptationSet>{sound}</Period></MPD>"""
SOUND = """<AdaptationSet><Representation audioSamplingRate="48000" bandwidth="129870" codecs="mp4a.40.2" id="AUDIO-1"
 mimeType="audio/mp4"><BaseURL>sound.mp4</BaseURL></Representation></AdaptationSet>"""
# The same, in a form that only the program for pages reads.
SEGMENTS = """<AdaptationSet mimeType="{kind}/mp4"><Representation bandwidth="{bandwidth}" codecs="{codecs}" id="{kind}"
 {size}><SegmentList duration="2"><SegmentURL media="{file}.mp4"/></SegmentList></Representation></AdaptationSet>"""


Fetch = Callable[[], Awaitable[Path]]


class VideoHost(HttpService):
    def __init__(self) -> None:
        super().__init__()
        self.files: dict[str, Answer] = {}

    def put(self, name: str, content: bytes, kind: str = "video/mp4") -> None:
        self.files[name] = Answer(200, content, {"Content-Type": kind})

    async def answer(self, request: Request) -> Answer:
        return self.files.get(request.path.lstrip("/"), Answer(403, b"<html>AccessDenied</html>"))


@pytest.fixture(scope="module")
async def media() -> AsyncIterator[MediaProcesses]:
    processes = MediaProcesses(1)
    yield processes
    await processes.close()


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    folder = tmp_path_factory.mktemp("streams")
    picture = written(folder / "picture.mp4", "libx264", (320, 180), 50)
    return {"picture": picture.read_bytes(), "sound": written_sound(folder / "sound.mp4", 2.0).read_bytes()}


@pytest.fixture
async def host(files: dict[str, bytes]) -> AsyncIterator[VideoHost]:
    async with VideoHost() as host:
        host.put("DASHPlaylist.mpd", PLAYLIST.format(sound=SOUND).encode(), "application/dash+xml")
        host.put("picture.mp4", files["picture"])
        host.put("sound.mp4", files["sound"])
        yield host


@pytest.fixture
async def downloader(host: VideoHost, media: MediaProcesses) -> AsyncIterator[ClipDownloader]:
    settings = HttpSettings(allow=(f"127.0.0.1:{host.port}",))
    async with GuardedClient(settings) as http, GuardedProxy(settings) as proxy:
        yield ClipDownloader(http, proxy, join=media.join_sound)


@pytest.fixture
def fetch(host: VideoHost, downloader: ClipDownloader, tmp_path: Path) -> Fetch:
    async def fetch() -> Path:
        target = tmp_path / "clip.mp4"
        found = FoundVideo("reddit", f"{host.url}/page", media_url=f"{host.url}/DASHPlaylist.mpd?a=1")
        result = await downloader.fetch(found, target, LIMITS)
        assert result.size == target.stat().st_size
        assert list(tmp_path.iterdir()) == [target]
        return target

    return fetch


def packets(path: Path, kind: str) -> list[bytes]:
    with av.open(str(path)) as container:
        streams = [stream for stream in container.streams if stream.type == kind]
        return [bytes(packet) for packet in container.demux(streams) if packet.size] if streams else []


async def test_picture_and_sound_are_joined_as_they_are(
    fetch: Fetch, media: MediaProcesses, files: dict[str, bytes], tmp_path_factory: pytest.TempPathFactory
) -> None:
    clip = await fetch()
    probe = await media.probe(clip)
    assert (probe.has_audio, probe.width, probe.height) == (True, 320, 180)
    assert probe.duration_seconds == pytest.approx(2.0, abs=0.1)
    folder = tmp_path_factory.mktemp("alone")
    for kind, name in (("video", "picture"), ("audio", "sound")):
        alone = folder / name
        alone.write_bytes(files[name])
        assert packets(clip, kind) == packets(alone, kind)


async def test_a_post_without_sound_is_a_clip_without_sound(
    fetch: Fetch, host: VideoHost, files: dict[str, bytes]
) -> None:
    host.put("DASHPlaylist.mpd", PLAYLIST.format(sound="").encode(), "application/dash+xml")
    assert (await fetch()).read_bytes() == files["picture"]


@pytest.mark.parametrize(
    "answer",
    [Answer(403, b"<html>"), Answer(503), Answer(200, b"<html>"), Answer(200, b"\x00\x00\x00\x18ftypmp42 half")],
    ids=["gone", "down", "page", "broken"],
)
async def test_trouble_with_the_sound_does_not_lose_the_picture(
    fetch: Fetch, host: VideoHost, files: dict[str, bytes], answer: Answer
) -> None:
    host.files["sound.mp4"] = answer
    assert (await fetch()).read_bytes() == files["picture"]


async def test_a_playlist_that_is_gone_leaves_nothing(fetch: Fetch, host: VideoHost, tmp_path: Path) -> None:
    host.files.clear()
    with pytest.raises(ClipGoneError):
        await fetch()
    assert list(tmp_path.iterdir()) == []


async def test_a_page_with_picture_and_sound_apart_gives_both(
    fetch: Fetch, host: VideoHost, media: MediaProcesses
) -> None:
    apart = PLAYLIST.replace(PLAYLIST[PLAYLIST.index("<AdaptationSet") : PLAYLIST.index("{sound}")], "")
    picture = SEGMENTS.format(
        kind="video", bandwidth=804261, codecs="avc1.4d401e", size='width="320" height="180"', file="picture"
    )
    sound = SEGMENTS.format(kind="audio", bandwidth=129870, codecs="mp4a.40.2", size="", file="sound")
    host.put("DASHPlaylist.mpd", apart.format(sound=picture + sound).encode(), "application/dash+xml")
    assert (await media.probe(await fetch())).has_audio
