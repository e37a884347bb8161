"""Measures what a video file really holds. Runs in the media child processes only."""

from pathlib import Path

from pressbox.footy.adapters.media.decoding import audio_kind, measure_duration, open_video, read_frames
from pressbox.footy.domain.candidates import Probe
from pressbox.footy.domain.errors import NotAVideoError


def probe_video(path: Path) -> Probe:
    """Measure the duration by reading all packets, and the picture by decoding a frame."""
    with open_video(path) as (container, stream):
        duration = measure_duration(container, stream)
        codec = stream.codec_context.name
        has_audio = audio_kind(container) != ""
    with open_video(path) as (container, stream):
        first = next(read_frames(container, stream), None)
        if first is None:
            raise NotAVideoError("No frame of the video can be decoded.")
        ratio = stream.sample_aspect_ratio
        width, height = first.frame.width, first.frame.height
        if ratio:
            width = max(1, round(width * ratio))
        if round(first.frame.rotation / 90) % 2 == 1:
            width, height = height, width
    size = path.stat().st_size
    bitrate = round(size * 8 / duration) if duration > 0 else 0
    return Probe(
        duration_seconds=round(duration, 3),
        width=width,
        height=height,
        bitrate=bitrate,
        file_size=size,
        codec=codec,
        has_audio=has_audio,
    )
