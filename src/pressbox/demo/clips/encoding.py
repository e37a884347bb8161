"""Encodes pictures as H.264 files and decodes them, in memory."""

import io
import tempfile
from collections.abc import Iterable, Iterator
from fractions import Fraction
from pathlib import Path

import av
import numpy as np
from av.video.frame import VideoFrame
from numpy.typing import NDArray

Picture = NDArray[np.uint8]


def encode(pictures: Iterable[Picture], rate: int, quality: int, preset: str = "superfast") -> bytes:
    """Make an MP4 file with its index in front. All pictures have the size of the first, with even sides."""
    # The library moves the index to the front by reading its own file again, so it needs a file.
    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder) / "clip.mp4"
        _write(target, pictures, rate, {"preset": preset, "crf": str(quality), "threads": "1"})
        return target.read_bytes()


def _write(target: Path, pictures: Iterable[Picture], rate: int, options: dict[str, str]) -> None:
    with av.open(str(target), "w", format="mp4", options={"movflags": "+faststart"}) as output:
        stream = output.add_stream("libx264", rate=rate, options=options)
        stream.pix_fmt = "yuv420p"
        stream.codec_context.gop_size = 2 * rate
        for number, picture in enumerate(pictures):
            if number == 0:
                stream.height, stream.width = picture.shape[:2]
            frame = VideoFrame.from_ndarray(np.ascontiguousarray(picture), format="bgr24")
            frame.pts, frame.time_base = number, Fraction(1, rate)
            output.mux(stream.encode(frame))
        output.mux(stream.encode(None))


def decode(clip: bytes) -> tuple[int, Iterator[Picture]]:
    """The frame rate, and the pictures."""
    with av.open(io.BytesIO(clip)) as container:
        rate = round(float(container.streams.video[0].average_rate or 25))
    return rate, _read_pictures(clip)


def _read_pictures(clip: bytes) -> Iterator[Picture]:
    with av.open(io.BytesIO(clip), "r") as container:
        for frame in container.decode(video=0):
            yield np.asarray(frame.to_ndarray(format="bgr24"), dtype=np.uint8)
