"""Makes a clip that every browser can play and seek: H.264 in MP4 with the index in front.

A file that is so already is kept. H.264 in another container, or with the index at the end, is rewrapped without loss.
Everything else (HEVC, AV1, VP9, ten-bit pictures) is encoded again, at most 720 lines high: refusing a good clip for
its codec would lose a goal, and a clip of a minute is encoded within seconds. Sound that not every browser plays is
encoded again too. Runs in the media child processes only.
"""

import os
import struct
from collections.abc import Iterator
from contextlib import suppress
from fractions import Fraction
from pathlib import Path
from typing import TypeAlias

import av
from av.audio.stream import AudioStream
from av.container import InputContainer, OutputContainer
from av.packet import Packet
from av.stream import Stream
from av.video.stream import VideoStream

from pressbox.footy.adapters.media.decoding import audio_kind, open_video, read_frames
from pressbox.footy.adapters.media.sound import Sound, encoded_sound
from pressbox.footy.domain.errors import NotAVideoError

TALLEST = 720
AnyPacket: TypeAlias = "Packet[Stream]"
_LONGEST_SECONDS = 120.0


def write_playable(path: Path, target: Path) -> None:
    target.unlink(missing_ok=True)
    with open_video(path) as (container, stream):
        fits = stream.codec_context.name == "h264" and stream.codec_context.pix_fmt in ("yuv420p", "yuvj420p")
        if fits:
            heard = audio_kind(container) in ("", "aac", "mp3")
            if heard and "mp4" in container.format.name and index_is_in_front(path):
                os.link(path, target)
            else:
                _rewrap(path, container, stream, target)
            return
    with open_video(path) as (container, stream):
        _encode(path, container, stream, target)


def index_is_in_front(path: Path) -> bool:
    """Whether the index of an MP4 file comes before its data, so that a browser starts at once and can seek."""
    with path.open("rb") as file:
        while head := file.read(8):
            if len(head) < 8:
                return False
            size, kind = struct.unpack(">I4s", head)
            if kind == b"moov":
                return True
            if kind == b"mdat" or size == 0:
                return False
            if size == 1:
                size = struct.unpack(">Q", file.read(8))[0] - 8
            file.seek(size - 8, 1)
    return False


def _rewrap(path: Path, container: InputContainer, stream: VideoStream, target: Path) -> None:
    with av.open(str(target), "w", format="mp4", options={"movflags": "+faststart"}) as output:
        streams: dict[int, VideoStream | AudioStream] = {stream.index: output.add_stream_from_template(stream)}
        if audio_kind(container) == "other":
            with encoded_sound(path, output, _LONGEST_SECONDS) as sound:
                _copy_packets(container, streams, output, sound)
            return
        for audio in container.streams.audio[:1]:
            streams[audio.index] = output.add_stream_from_template(audio)
        _copy_packets(container, streams, output)


def _copy_packets(
    container: InputContainer,
    streams: dict[int, VideoStream | AudioStream],
    output: OutputContainer,
    sound: Sound | None = None,
) -> None:
    start: float | None = None
    # Of a damaged file, keep what was readable.
    with suppress(av.InvalidDataError):
        for packet in _add_decoding_times(container.demux([container.streams[index] for index in streams])):
            seconds = float(packet.dts * packet.time_base) if packet.dts is not None and packet.time_base else 0.0
            start = seconds if start is None else start
            packet.stream = streams[packet.stream.index]
            output.mux(packet)
            if sound:
                sound.write(output, seconds - start)
    if sound:
        sound.write(output)


def _add_decoding_times(packets: "Iterator[AnyPacket]") -> "Iterator[AnyPacket]":
    """Add the decoding times that Matroska leaves out of its first packets; MP4 requires them."""
    waiting: dict[int, list[AnyPacket]] = {}
    for packet in packets:
        early = waiting.setdefault(packet.stream.index, [])
        if packet.size == 0:
            continue
        if packet.dts is None:
            early.append(packet)
            continue
        for steps, before in enumerate(reversed(early), start=1):
            before.dts = packet.dts - steps * (packet.duration or 1)
        yield from early
        early.clear()
        yield packet


def _encode(path: Path, container: InputContainer, stream: VideoStream, target: Path) -> None:
    scale = min(1.0, TALLEST / stream.height)
    width, height = (max(2, round(length * scale / 2) * 2) for length in (stream.width, stream.height))
    written = 0
    with av.open(str(target), "w", format="mp4", options={"movflags": "+faststart"}) as output:
        picture = _picture_stream(output, stream, width, height)
        with encoded_sound(path, output, _LONGEST_SECONDS) as sound:
            for timed in read_frames(container, stream):
                if timed.seconds > _LONGEST_SECONDS:
                    break
                frame = timed.frame.reformat(width, height, "yuv420p")
                frame.pts, frame.time_base = round(timed.seconds * 90_000), Fraction(1, 90_000)
                output.mux(picture.encode(frame))
                sound.write(output, timed.seconds)
                written += 1
            output.mux(picture.encode(None))
            sound.write(output)
    if written == 0:
        raise NotAVideoError("No frame of the video can be decoded.")


def _picture_stream(output: OutputContainer, stream: VideoStream, width: int, height: int) -> VideoStream:
    rate = stream.average_rate or Fraction(25)
    picture = output.add_stream("libx264", rate=min(rate, Fraction(60)), options={"preset": "veryfast", "crf": "23"})
    picture.width, picture.height, picture.pix_fmt = width, height, "yuv420p"
    picture.codec_context.thread_count = 1
    picture.codec_context.time_base = Fraction(1, 90_000)
    return picture
