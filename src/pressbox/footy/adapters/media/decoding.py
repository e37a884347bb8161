"""Opens and reads untrusted video files. Runs in the media child processes only."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Literal

import av
import cv2
import numpy as np
from av.audio.stream import AudioStream
from av.container import InputContainer
from av.packet import Packet
from av.video.frame import VideoFrame
from av.video.stream import VideoStream
from numpy.typing import NDArray

from pressbox.footy.domain.errors import NotAVideoError

Picture = NDArray[np.uint8]

# A playlist or a script named .mp4 must not make the library open other files or addresses.
_FORMATS = "mov,mp4,m4a,3gp,3g2,mj2,matroska,webm,mpegts,avi,flv,ogg,mpeg,gif"
_LARGEST_PIXELS = 4096 * 2304
# What decoding costs on any machine: a minute in 4K at sixty pictures a second, longer than any clip that is kept.
_MOST_PIXELS_IN_ALL = 3840 * 2160 * 60 * 60
# What the library says of bytes that make no sense, among them a packet that claims to be larger than any memory.
_DAMAGE = (av.InvalidDataError, av.EOFError, av.ArgumentError, av.error.MemoryError)
_MOST_DAMAGED_PACKETS = 500
_LONGEST_GAP_SECONDS = 10.0
LONGEST_READ_SECONDS = 600.0
_MOST_PACKETS = 200_000
_TOO_MUCH = "Its pictures are too many and too large to be read."


@dataclass(frozen=True)
class TimedFrame:
    """A decoded frame and its time, counted from the first frame."""

    seconds: float
    frame: VideoFrame


@contextmanager
def open_video(path: Path) -> Iterator[tuple[InputContainer, VideoStream]]:
    """Open a file with its first video stream that is not a cover picture."""
    with _open_file(path) as container:
        # The cover picture of a sound file is a video stream too.
        pictures = [stream for stream in container.streams.video if not _is_cover(stream)]
        if not pictures:
            raise NotAVideoError(
                "The file has sound but no picture." if container.streams.audio else "The file holds no video."
            )
        stream = pictures[0]
        if stream.codec_context is None:
            raise NotAVideoError("The video has a codec that we cannot decode.")
        if stream.width * stream.height > _LARGEST_PIXELS:
            raise NotAVideoError(f"The picture is too large: {stream.width}×{stream.height}.")
        # By its index, where it has one: a few bytes may claim millions of pictures.
        if stream.frames > _MOST_PACKETS or stream.frames * stream.width * stream.height > _MOST_PIXELS_IN_ALL:
            raise NotAVideoError(_TOO_MUCH)
        stream.codec_context.thread_count = 1
        # The pictures themselves may be larger than the file says.
        stream.codec_context.options = {"max_pixels": str(_LARGEST_PIXELS)}
        yield container, stream


@contextmanager
def open_sound(path: Path) -> Iterator[tuple[InputContainer, AudioStream]]:
    """Open a file with its first sound, whether there is a picture or not."""
    with _open_file(path) as container:
        if not container.streams.audio:
            raise NotAVideoError("The file holds no sound.")
        yield container, container.streams.audio[0]


def _open_file(path: Path) -> InputContainer:
    if path.stat().st_size == 0:
        raise NotAVideoError("The file is empty.")
    options = {"protocol_whitelist": "file", "format_whitelist": _FORMATS}
    try:
        return av.open(str(path), options=options)
    # Hostile bytes can make the library raise any of these.
    except (av.FFmpegError, ValueError, UnicodeDecodeError) as error:
        raise NotAVideoError(f"The file is not a video: {_reason(error)}") from error


def decode_faster(stream: VideoStream) -> None:
    """Skip frames that no other frame needs, and the smoothing of block edges: fingerprints do not need them.

    All fingerprints must be made this way: other frames would differ by more bits than the rule allows.
    """
    stream.codec_context.skip_frame = "NONREF"
    stream.codec_context.options = {"skip_loop_filter": "all", "flags2": "+fast", "max_pixels": str(_LARGEST_PIXELS)}


def read_frames(container: InputContainer, stream: VideoStream) -> Iterator[TimedFrame]:
    """Yield every frame that can be decoded from here on, in order of time; damaged places are skipped."""
    first: float | None = None
    for number, packet in enumerate(_read_packets(container, stream)):
        for frame in _decode(packet):
            if frame.time is None:
                continue
            first = frame.time if first is None else first
            seconds = frame.time - first
            if seconds > LONGEST_READ_SECONDS or number > _MOST_PACKETS:
                return
            if seconds >= 0:
                yield TimedFrame(seconds, frame)


def measure_duration(container: InputContainer, stream: VideoStream) -> float:
    """Measure the seconds from the first to the last packet by reading them all; the header is not trusted.

    A gap counts ten seconds at most, so that a single packet far in the future does not make a clip long. A file whose
    pictures together would take more than any clip is refused here, before each step decodes them once more.
    """
    most = min(_MOST_PACKETS, _MOST_PIXELS_IN_ALL // max(1, stream.width * stream.height))
    base = stream.time_base or Fraction(1, av.time_base)
    times: list[int] = []
    last = 0
    for packet in _read_packets(container, stream):
        moment = packet.pts if packet.pts is not None else packet.dts
        if moment is None or packet.size == 0:
            continue
        times.append(moment)
        last = packet.duration or last
        if len(times) > most:
            raise NotAVideoError(_TOO_MUCH)
        if (moment - times[0]) * base > LONGEST_READ_SECONDS:
            break
    if not times:
        return 0.0
    gaps = np.diff(np.sort(np.array(times, dtype=np.float64))) * float(base)
    return float(np.minimum(gaps, _LONGEST_GAP_SECONDS).sum() + last * base)


def to_picture(frame: VideoFrame, height: int | None = None) -> Picture:
    """Convert a frame to blue-green-red, rotated as the file asks, and at most `height` pixels high."""
    scale = min(1.0, height / frame.height) if height else 1.0
    width, lines = max(2, round(frame.width * scale)), max(2, round(frame.height * scale))
    shown = np.asarray(frame.reformat(width, lines, "bgr24", interpolation="AREA").to_ndarray(), dtype=np.uint8)
    return rotate(shown, frame.rotation)


def rotate(shown: Picture, rotation: int) -> Picture:
    """Rotate as the file asks: phones film sideways and note it in the file."""
    quarters = round(rotation / 90) % 4
    return np.ascontiguousarray(np.rot90(shown, quarters)) if quarters else shown


def encode_jpeg(shown: Picture, quality: int = 88) -> bytes:
    done, encoded = cv2.imencode(".jpg", shown, [cv2.IMWRITE_JPEG_QUALITY, quality])
    if not done:
        raise NotAVideoError("The picture could not be written as JPEG.")
    return encoded.tobytes()


def audio_kind(container: InputContainer) -> Literal["", "other", "aac", "mp3"]:
    """The audio codec, as far as it matters to a browser; empty without sound."""
    for stream in container.streams.audio:
        name = stream.codec_context.name if stream.codec_context else ""
        return "aac" if name.startswith("aac") else "mp3" if name.startswith("mp3") else "other"
    return ""


def _read_packets(container: InputContainer, stream: VideoStream) -> "Iterator[Packet[VideoStream]]":
    for _ in range(_MOST_DAMAGED_PACKETS):
        try:
            yield from container.demux(stream)
        except _DAMAGE:
            # The reader is behind the damaged place now; go on from there.
            continue
        return


def _decode(packet: "Packet[VideoStream]") -> Iterator[VideoFrame]:
    try:
        for frame in packet.decode():
            if isinstance(frame, VideoFrame):
                yield frame
    except _DAMAGE:
        return


def _is_cover(stream: VideoStream) -> bool:
    return bool(stream.disposition & av.stream.Disposition.attached_pic)


def _reason(error: Exception) -> str:
    return str(getattr(error, "strerror", None) or error or type(error).__name__)
