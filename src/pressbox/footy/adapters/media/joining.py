"""Puts picture and sound of two files into one, packet by packet. Runs in the media child processes only."""

import heapq
from collections.abc import Iterator
from pathlib import Path

import av
from av.container import InputContainer
from av.packet import Packet
from av.stream import Stream

from pressbox.footy.adapters.media.decoding import open_sound, open_video
from pressbox.footy.domain.errors import NotAVideoError


def join_sound(picture: Path, sound: Path, target: Path) -> None:
    """Nothing is decoded: each packet keeps its bytes and its time."""
    with open_video(picture) as (pictures, video), open_sound(sound) as (sounds, audio):
        try:
            with av.open(str(target), "w", format="mp4", options={"movflags": "+faststart"}) as output:
                outputs = (output.add_stream_from_template(video), output.add_stream_from_template(audio))
                packets = heapq.merge(_timed(pictures, video, 0), _timed(sounds, audio, 1), key=lambda item: item[:2])
                for _, number, packet in packets:
                    packet.stream = outputs[number]
                    output.mux(packet)
        except (av.FFmpegError, ValueError) as error:
            raise NotAVideoError("Its picture and its sound do not fit into one file.") from error


def _timed(container: InputContainer, stream: Stream, number: int) -> "Iterator[tuple[float, int, Packet[Stream]]]":
    """The packets of a stream with their time, in the order of decoding, which players need side by side."""
    for packet in container.demux(stream):
        if packet.size and packet.dts is not None and packet.time_base is not None:
            yield float(packet.dts * packet.time_base), number, packet
