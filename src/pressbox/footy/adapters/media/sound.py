"""Encodes the sound of a clip as AAC, which every browser plays. Runs in the media child processes only."""

from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING

import av
from av.audio.frame import AudioFrame
from av.audio.resampler import AudioResampler
from av.container import OutputContainer

from pressbox.footy.adapters.media.decoding import open_video

if TYPE_CHECKING:
    from av.packet import Packet
    from av.stream import Stream

RATE = 48_000
_FRAME_SAMPLES = 1024
_BITRATE = 128_000


class Sound:
    """Encoded packets that wait until the picture has reached their time: players read both side by side."""

    def __init__(self, packets: "deque[Packet[Stream]]") -> None:
        self._packets = packets

    def write(self, output: OutputContainer, until: float | None = None) -> None:
        """Write the packets up to a time of the picture in seconds, or all that are left."""
        while self._packets and (until is None or _seconds(self._packets[0]) <= until):
            output.mux(self._packets.popleft())


@contextmanager
def encoded_sound(path: Path, output: OutputContainer, longest: float) -> Iterator[Sound]:
    """Encode the first sound of a file for `output`. Of damaged sound, what was readable is kept."""
    packets: deque[Packet[Stream]] = deque()
    with open_video(path) as (container, picture):
        if container.streams.audio:
            source = container.streams.audio[0]
            start = float((picture.start_time or 0) * picture.time_base) if picture.time_base else 0.0
            target = output.add_stream("aac", rate=RATE, layout="stereo")
            target.codec_context.bit_rate = _BITRATE
            with suppress(av.FFmpegError, ValueError):
                for frame in _resample(container.decode(source), start, longest):
                    packets.extend(target.encode(frame))
            packets.extend(target.encode(None))
    yield Sound(packets)


def _resample(frames: Iterator[AudioFrame], start: float, longest: float) -> Iterator[AudioFrame]:
    """Count time from the first picture; sound before it is left out."""
    resampler = AudioResampler(format="fltp", layout="stereo", rate=RATE, frame_size=_FRAME_SAMPLES)
    written: int | None = None
    for frame in frames:
        seconds = (frame.time or 0.0) - start
        if seconds > longest:
            break
        if seconds < 0:
            continue
        if written is None:
            written = round(seconds * RATE)
        frame.pts = None
        for part in resampler.resample(frame):
            part.pts, part.time_base = written, Fraction(1, RATE)
            written += part.samples
            yield part


def _seconds(packet: "Packet[Stream]") -> float:
    return float(packet.dts * packet.time_base) if packet.dts is not None and packet.time_base else 0.0
