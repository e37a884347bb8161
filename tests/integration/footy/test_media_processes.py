"""Reading clips in child processes: what comes out of good files, and what hostile ones cannot do."""

import asyncio
import os
import signal
import struct
from collections.abc import AsyncIterator, Callable
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import av
import cv2
import numpy as np
import pytest
from av.audio.frame import AudioFrame
from av.video.frame import VideoFrame

from pressbox.core.errors import NotFoundError, PermanentError, TransientError
from pressbox.demo.clips.renderer import make_clip
from pressbox.demo.clips.spec import ClipSpec, Scene
from pressbox.footy.adapters.media.playable import index_is_in_front
from pressbox.footy.adapters.media.processes import LIMITS, MediaProcesses
from pressbox.footy.domain.errors import NotAVideoError
from pressbox.footy.domain.fingerprints import PHASES, unpack
from tests.fakes.child_functions import hold_up_python
from tests.fakes.video_files import written


@pytest.fixture(scope="module")
async def media() -> AsyncIterator[MediaProcesses]:
    processes = MediaProcesses(1)
    yield processes
    await processes.close()


@pytest.fixture(scope="module")
def clip(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("clips") / "goal.mp4"
    path.write_bytes(make_clip(ClipSpec(11, clock_start=600.0, duration=4.0, width=320, height=180)))
    return path


async def test_a_clip_is_measured(media: MediaProcesses, clip: Path) -> None:
    probe = await media.probe(clip)
    assert (probe.duration_seconds, probe.width, probe.height, probe.codec) == (4.0, 320, 180, "h264")
    assert probe.file_size == clip.stat().st_size
    assert not probe.has_audio


async def test_a_fingerprint_has_a_sample_every_twelfth_of_a_second(media: MediaProcesses, clip: Path) -> None:
    fingerprint = unpack(await media.fingerprint(clip))
    assert fingerprint.phases == PHASES
    assert abs(fingerprint.duration - 4.0) < 0.25
    assert fingerprint.telling[0].mean() > 0.9


async def test_a_clip_shows_the_scene_of_its_fingerprint_and_of_no_other(
    media: MediaProcesses, clip: Path, tmp_path: Path
) -> None:
    other = tmp_path / "other.mp4"
    other.write_bytes(make_clip(ClipSpec(12, clock_start=600.0, duration=4.0, width=320, height=180)))
    first, second = await media.fingerprint(clip), await media.fingerprint(other)
    assert await media.find_same_scene(first, {7: first, 8: second}) == {7}


async def test_frames_come_in_the_order_asked_and_differ(media: MediaProcesses, clip: Path) -> None:
    late, early = await media.take_frames(clip, (0.75, 0.25))
    assert late[:2] == early[:2] == b"\xff\xd8"
    pictures = [cv2.imdecode(np.frombuffer(data, dtype=np.uint8), cv2.IMREAD_COLOR) for data in (late, early)]
    again = cv2.imdecode(np.frombuffer((await media.take_frames(clip, (0.25,)))[0], dtype=np.uint8), cv2.IMREAD_COLOR)
    assert pictures[0] is not None
    assert pictures[1] is not None
    assert again is not None
    assert pictures[0].shape == (180, 320, 3)
    assert np.array_equal(pictures[1], again)
    assert not np.array_equal(pictures[0], pictures[1])


async def test_the_poster_is_a_picture_of_at_most_640_pixels(media: MediaProcesses, tmp_path: Path) -> None:
    large = written(tmp_path / "large.mp4", "libx264", (1280, 720))
    shown = cv2.imdecode(np.frombuffer(await media.take_poster(large), dtype=np.uint8), cv2.IMREAD_COLOR)
    assert shown is not None
    assert shown.shape[:2] == (360, 640)


async def test_a_clip_that_browsers_play_stays_as_it_is(media: MediaProcesses, clip: Path, tmp_path: Path) -> None:
    await media.make_playable(clip, tmp_path / "out.mp4")
    assert (tmp_path / "out.mp4").read_bytes() == clip.read_bytes()


@pytest.mark.parametrize(
    ("codec", "container"), [("libx264", "matroska"), ("libx264", "mp4"), ("libx265", "mp4"), ("mpeg4", "avi")]
)
async def test_other_clips_become_h264_with_the_index_in_front(
    media: MediaProcesses, tmp_path: Path, codec: str, container: str
) -> None:
    source, target = written(tmp_path / "in.video", codec, (320, 180), container=container), tmp_path / "out.mp4"
    probe = await media.make_playable(source, target)
    assert index_is_in_front(target)
    assert (probe.codec, probe.width, probe.height) == ("h264", 320, 180)
    assert abs(probe.duration_seconds - 2.0) < 0.1


@pytest.mark.parametrize(
    ("codec", "container", "sound"),
    [("libx265", "mp4", "aac"), ("libx265", "matroska", "libopus"), ("libx264", "matroska", "libopus")],
)
async def test_a_clip_that_is_encoded_again_keeps_its_sound(
    media: MediaProcesses, tmp_path: Path, codec: str, container: str, sound: str
) -> None:
    source = written(tmp_path / "in.video", codec, (320, 180), container=container, sound=sound)
    probe = await media.make_playable(source, tmp_path / "out.mp4")
    assert (probe.codec, probe.has_audio) == ("h264", True)
    with av.open(str(tmp_path / "out.mp4")) as opened:
        (audio,) = opened.streams.audio
        heard = [frame for frame in opened.decode(audio)]
        assert audio.codec_context.name == "aac"
    assert abs(sum(frame.samples for frame in heard) / 48_000 - 2.0) < 0.15
    loudest = max(float(np.abs(frame.to_ndarray()).max()) for frame in heard)
    assert loudest > 0.3


async def test_hashing_says_how_many_frames_it_has_read(media: MediaProcesses, clip: Path, tmp_path: Path) -> None:
    await media.fingerprint(clip, tmp_path / "progress")
    assert int((tmp_path / "progress").read_text()) > 0


def empty(path: Path) -> None:
    path.write_bytes(b"")


def page(path: Path) -> None:
    path.write_text("<!doctype html><title>Log in</title>" + "<p>Please log in</p>" * 500)


def playlist(path: Path) -> None:
    path.write_text("#EXTM3U\n#EXT-X-TARGETDURATION:9\n#EXTINF:9,\nfile:///etc/passwd\n#EXT-X-ENDLIST\n")


def concatenation(path: Path) -> None:
    path.write_text("ffconcat version 1.0\nfile /etc/passwd\n")


def sound_only(path: Path) -> None:
    with av.open(str(path), "w", format="mp4") as output:
        stream = output.add_stream("aac", rate=44100)
        for number in range(100):
            frame = AudioFrame.from_ndarray(np.zeros((1, 1024), dtype=np.float32), format="fltp", layout="mono")
            frame.sample_rate, frame.pts, frame.time_base = 44100, number * 1024, Fraction(1, 44100)
            output.mux(stream.encode(frame))
        output.mux(stream.encode(None))


def headless(path: Path) -> None:
    """The first half of a file whose index comes last: what a broken download leaves."""
    content = written(path.with_suffix(".whole"), "libx264", (320, 180)).read_bytes()
    path.write_bytes(content[: len(content) // 2])


def huge_picture(path: Path) -> None:
    written(path, "mjpeg", (4608, 2592), count=2)


def picture_data_of_noise(path: Path) -> None:
    """The index is right, every picture is noise."""
    content = bytearray(written(path, "libx264", (320, 180)).read_bytes())
    begin = content.index(b"mdat") + 4
    size = struct.unpack(">I", content[begin - 8 : begin - 4])[0] - 8
    content[begin : begin + size] = np.random.default_rng(5).bytes(size)
    path.write_bytes(content)


HOSTILE = (empty, page, playlist, concatenation, sound_only, headless, huge_picture, picture_data_of_noise)


@pytest.mark.parametrize("make", HOSTILE, ids=lambda make: make.__name__)
async def test_a_file_that_is_no_clip_is_refused_with_a_reason(
    media: MediaProcesses, tmp_path: Path, make: Callable[[Path], None]
) -> None:
    path = tmp_path / "clip.mp4"
    make(path)
    for ask in (media.probe, media.fingerprint, media.take_poster):
        with pytest.raises(NotAVideoError) as refused:
            await ask(path)
        assert len(refused.value.message) > 10
    with pytest.raises(NotAVideoError):
        await media.make_playable(path, tmp_path / "out.mp4")
    assert not (tmp_path / "out.mp4").exists()


async def test_a_wrong_duration_in_the_header_is_not_believed(
    media: MediaProcesses, clip: Path, tmp_path: Path
) -> None:
    content = bytearray(clip.read_bytes())
    for box in (b"mvhd", b"tkhd", b"mdhd"):
        # Version 0: flags, two times, (for tkhd a track and a gap), time scale or none, duration.
        at = content.index(box) + 4 + (20 if box == b"tkhd" else 16)
        content[at : at + 4] = struct.pack(">I", 90_000_000)
    path = tmp_path / "boast.mp4"
    path.write_bytes(content)
    assert (await media.probe(path)).duration_seconds == 4.0


async def test_a_picture_of_one_point_is_measured_and_hashed_without_information(
    media: MediaProcesses, tmp_path: Path
) -> None:
    path = written(tmp_path / "dot.mkv", "ffv1", (1, 1), container="matroska")
    probe = await media.probe(path)
    assert (probe.width, probe.height) == (1, 1)
    assert not unpack(await media.fingerprint(path)).has_information


async def test_a_clip_with_a_damaged_middle_keeps_what_can_be_read(
    media: MediaProcesses, clip: Path, tmp_path: Path
) -> None:
    content = bytearray(clip.read_bytes())
    middle = len(content) // 2
    content[middle : middle + 3000] = np.random.default_rng(3).bytes(3000)
    path = tmp_path / "damaged.mp4"
    path.write_bytes(content)
    assert (await media.probe(path)).duration_seconds == 4.0
    whole, damaged = await media.fingerprint(clip), await media.fingerprint(path)
    assert await media.find_same_scene(damaged, {1: whole}) == {1}


async def test_a_very_long_clip_is_read_only_as_far_as_needed(media: MediaProcesses, tmp_path: Path) -> None:
    path = tmp_path / "long.mp4"
    with av.open(str(path), "w", format="mp4") as output:
        stream = output.add_stream("libx264", rate=1, options={"preset": "ultrafast"})
        stream.width, stream.height, stream.pix_fmt = 64, 36, "yuv420p"
        for number in range(3000):
            frame = VideoFrame(64, 36, "yuv420p")
            frame.pts, frame.time_base = number, Fraction(1, 1)
            output.mux(stream.encode(frame))
        output.mux(stream.encode(None))
    assert 600 <= (await media.probe(path)).duration_seconds < 700
    assert unpack(await media.fingerprint(path)).duration < 122


def moving_picture(path: Path, count: int) -> None:
    """A GIF of large pictures, each of which changes one point: a few bytes that are long to decode."""
    head = b"GIF89a" + struct.pack("<HHBBB", 4096, 2304, 0xF0, 0, 0) + b"\0\0\0\xff\xff\xff"
    one = b"\x21\xf9\x04\0" + struct.pack("<H", 2) + b"\0\0" + b"\x2c" + struct.pack("<HHHHB", 0, 0, 1, 1, 0)
    path.write_bytes(head + (one + b"\x02\x02\x44\x01\0") * count + b";")


def boasting_index(clip: Path, path: Path, pictures: int) -> None:
    """A clip whose index claims many pictures of one byte each."""
    content = bytearray(clip.read_bytes())
    # After its name and its version: how large each is, how many there are, how many are in the first piece.
    for box, offset, values in (
        (b"stsz", 8, (1, pictures)),
        (b"stts", 8, (1, pictures, 1)),
        (b"stsc", 16, (pictures,)),
    ):
        at = content.index(box) + offset
        content[at : at + 4 * len(values)] = struct.pack(f">{len(values)}I", *values)
    path.write_bytes(content)


async def test_a_small_file_of_many_large_pictures_is_refused_at_the_first_look(
    media: MediaProcesses, tmp_path: Path
) -> None:
    path = tmp_path / "clip.mp4"
    moving_picture(path, 50)
    assert (await media.probe(path)).width == 4096
    moving_picture(path, 3_300)
    assert path.stat().st_size < 100_000
    with pytest.raises(NotAVideoError, match="too many and too large"):
        await media.probe(path)


async def test_an_index_that_claims_more_pictures_than_a_clip_has_is_refused(
    media: MediaProcesses, clip: Path, tmp_path: Path
) -> None:
    path = tmp_path / "clip.mp4"
    boasting_index(clip, path, 300_000)
    for ask in (media.probe, media.fingerprint, media.take_poster):
        with pytest.raises(NotAVideoError, match="too many and too large"):
            await ask(path)


async def test_the_first_look_has_less_time_than_the_rest(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pressbox.footy.adapters.media.processes.PROBE_SECONDS", 0)
    monkeypatch.setattr("pressbox.footy.adapters.media.processes.tasks.probe", hold_up_python)
    processes = MediaProcesses(1)
    try:
        with pytest.raises(NotAVideoError, match="processor time"):
            await processes.probe(tmp_path / "clip.mp4")
    finally:
        await processes.close()


async def test_a_file_that_is_gone_is_not_found(media: MediaProcesses, tmp_path: Path) -> None:
    with pytest.raises(NotFoundError):
        await media.probe(tmp_path / "gone.mp4")


async def test_a_file_that_takes_too_much_processor_time_ends_the_child_and_not_us(clip: Path) -> None:
    processes = MediaProcesses(1, limits=replace(LIMITS, processor_seconds=0))
    try:
        with pytest.raises(NotAVideoError, match="processor time"):
            await processes.take_frames(clip, [0.99] * 3000)
        assert (await processes.probe(clip)).duration_seconds == 4.0
    finally:
        await processes.close()


async def test_a_file_that_takes_too_much_memory_is_refused(clip: Path, tmp_path: Path) -> None:
    large = written(tmp_path / "large.mp4", "mpeg4", (3840, 2160), count=3)
    processes = MediaProcesses(1, limits=replace(LIMITS, memory_bytes=30_000_000))
    try:
        with pytest.raises(PermanentError):
            await processes.fingerprint(large)
        assert (await processes.probe(clip)).duration_seconds == 4.0
    finally:
        await processes.close()


async def test_a_child_killed_from_outside_is_no_fault_of_the_file(clip: Path) -> None:
    processes = MediaProcesses(1)
    try:
        await processes.probe(clip)
        (child,) = processes.pool.process_ids
        asked = asyncio.create_task(processes.take_frames(clip, [number / 200 for number in range(200)]))
        while processes.pool.is_idle:
            await asyncio.sleep(0)
        os.kill(child, signal.SIGKILL)
        with pytest.raises(TransientError):
            await asked
        assert (await processes.probe(clip)).duration_seconds == 4.0
    finally:
        await processes.close()


async def test_clips_without_football_are_read_as_well(media: MediaProcesses, tmp_path: Path) -> None:
    path = tmp_path / "black.mp4"
    path.write_bytes(make_clip(ClipSpec(1, Scene.BLACK, duration=3.0, width=160, height=90)))
    black = await media.fingerprint(path)
    assert not unpack(black).has_information
    assert await media.find_same_scene(black, {1: black}) == frozenset()
