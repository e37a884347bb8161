"""Small real video and sound files."""

from fractions import Fraction
from pathlib import Path

import av
import numpy as np
from av.audio.frame import AudioFrame
from av.audio.resampler import AudioResampler
from av.audio.stream import AudioStream
from av.container import OutputContainer
from av.video.frame import VideoFrame
from av.video.stream import VideoStream


def written(
    path: Path, codec: str, size: tuple[int, int], count: int = 50, container: str = "mp4", sound: str = ""
) -> Path:
    """A moving gradient, encoded as asked, with a tone where a codec for sound is given."""
    width, height = size
    with av.open(str(path), "w", format=container) as output:
        stream = output.add_stream(codec, rate=25)
        tone = output.add_stream(sound, rate=48_000, layout="stereo") if sound else None
        assert isinstance(stream, VideoStream)
        stream.width, stream.height, stream.pix_fmt = width, height, "yuvj420p" if codec == "mjpeg" else "yuv420p"
        for number in range(count):
            row = (np.arange(width) * 5 + number * 9).astype(np.uint8)
            shown = np.repeat(np.tile(row, (height, 1))[..., None], 3, axis=2)
            frame = VideoFrame.from_ndarray(np.ascontiguousarray(shown), format="bgr24")
            frame.pts, frame.time_base = number, Fraction(1, 25)
            output.mux(stream.encode(frame))
        output.mux(stream.encode(None))
        if tone is not None:
            assert isinstance(tone, AudioStream)
            write_tone(output, tone, seconds=count / 25)
    return path


def write_tone(output: OutputContainer, stream: AudioStream, seconds: float) -> None:
    resampler = AudioResampler(format=stream.format.name, layout="stereo", rate=48_000, frame_size=960)
    times = np.arange(round(seconds * 48_000)) / 48_000
    wave = np.tile(np.sin(2 * np.pi * 440 * times).astype(np.float32), (2, 1))
    frame = AudioFrame.from_ndarray(np.ascontiguousarray(wave), format="fltp", layout="stereo")
    frame.rate, frame.pts, frame.time_base = 48_000, 0, Fraction(1, 48_000)
    for part in (*resampler.resample(frame), *resampler.resample(None)):
        output.mux(stream.encode(part))
    output.mux(stream.encode(None))


def written_sound(path: Path, seconds: float, codec: str = "aac", container: str = "mp4") -> Path:
    """A tone and no picture."""
    with av.open(str(path), "w", format=container) as output:
        stream = output.add_stream(codec, rate=48_000, layout="stereo")
        assert isinstance(stream, AudioStream)
        write_tone(output, stream, seconds)
    return path
