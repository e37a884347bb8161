"""`pressbox bench fingerprint`: the cost of a clip's fingerprint, compared with a full decode of the same file."""

import asyncio
import importlib.util
import resource
import subprocess
import sys
import tempfile
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import av

from pressbox.bench.report import Figure, Report, Say, describe_machine
from pressbox.core.config import Settings
from pressbox.demo.clips.renderer import make_clip
from pressbox.demo.clips.spec import ClipSpec
from pressbox.footy.domain.fingerprints import PHASES
from pressbox.footy.wiring import media

RATIO_AIM = 0.8
SECONDS = 60
_SCENE_SECONDS = 6.0

# The peer runs in its own process, so that its processor time and memory can be measured.
_PLAIN_DECODE = """
import sys, av
with av.open(sys.argv[1]) as container:
    container.streams.video[0].codec_context.thread_count = 1
    for frame in container.decode(video=0):
        pass
"""
_NOTHING = "import av"
_PEERS = {
    "videohash": "import sys; from videohash import VideoHash; VideoHash(path=sys.argv[1]).hash",
    "videohash2": "import sys; from videohash2 import VideoHash; VideoHash(path=sys.argv[1]).hash",
    "vpdq": "import sys, vpdq; vpdq.computeHash(sys.argv[1], seconds_per_hash=0.25)",
}


def run_fingerprint(say: Say, settings: Settings, seconds: int = SECONDS, height: int = 1080) -> Report:
    """Takes a minute or two. All times are processor time, so that other work on the machine does not count."""
    machine = describe_machine()
    with tempfile.TemporaryDirectory() as folder:
        long, short = Path(folder) / "long.mp4", Path(folder) / "short.mp4"
        say(f"A clip of {seconds} s with {height} lines")
        write_long_clip(long, seconds, height)
        short.write_bytes(make_clip(ClipSpec(1, duration=0.2, width=64, height=36)))
        say("A plain full decode")
        plain = _measure_script(_PLAIN_DECODE, long) - _measure_script(_NOTHING, long)
        say("Fingerprints")
        reference = _measure_ours(settings, long, 1) - _measure_ours(settings, short, 1)
        query = _measure_ours(settings, long, PHASES) - _measure_ours(settings, short, PHASES)
        peers = {name: _measure_script(code, long) for name, code in _PEERS.items() if importlib.util.find_spec(name)}
    figures = [
        Figure(
            name="fingerprint, reference sampling",
            value=reference,
            unit="s",
            peer=plain,
            peer_name="plain full decode",
            aim=RATIO_AIM * plain,
            note=f"{seconds} s, {height} lines, one thread",
        ),
        Figure(
            name=f"fingerprint, query sampling ({PHASES} phases)",
            value=query,
            unit="s",
            peer=plain,
            peer_name="plain full decode",
        ),
        *(
            Figure(name=f"fingerprint beside {name}", value=query, unit="s", peer=spent, peer_name=name)
            for name, spent in peers.items()
        ),
        Figure(name="peak memory of a child", value=_peak_memory(), unit="MB"),
    ]
    return Report(name="fingerprint", measured_at=datetime.now(UTC), machine=machine, figures=tuple(figures))


def write_long_clip(target: Path, seconds: int, height: int) -> None:
    """Write the same few seconds repeatedly: drawing a minute would take longer than the measurement."""
    spec = ClipSpec(1, clock_start=60.0, duration=_SCENE_SECONDS, width=height * 16 // 9, height=height)
    with tempfile.TemporaryDirectory() as folder:
        scene = Path(folder) / "scene.mp4"
        scene.write_bytes(make_clip(spec))
        with av.open(str(target), "w", format="mp4") as output:
            stream = None
            for turn in range(max(1, round(seconds / _SCENE_SECONDS))):
                with av.open(str(scene), "r") as source:
                    picture = source.streams.video[0]
                    stream = stream or output.add_stream_from_template(picture)
                    shift = round(turn * _SCENE_SECONDS / (picture.time_base or 1))
                    for packet in source.demux(picture):
                        if packet.pts is None or packet.dts is None:
                            continue
                        packet.pts, packet.dts, packet.stream = packet.pts + shift, packet.dts + shift, stream
                        output.mux(packet)


def _measure_ours(settings: Settings, path: Path, phases: int) -> float:
    async def ask() -> None:
        decoder = media(settings)
        try:
            await decoder.fingerprint(path, phases=phases)
        finally:
            await decoder.close()

    return _measure_children(lambda: asyncio.run(ask()))


def _measure_script(code: str, path: Path) -> float:
    return _measure_children(
        lambda: subprocess.run([sys.executable, "-c", code, str(path)], check=True, capture_output=True)
    )


def _measure_children(work: Callable[[], object]) -> float:
    """Processor seconds of the child processes that this work started."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    work()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def _peak_memory() -> float:
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1000
