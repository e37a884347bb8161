"""Tasks of the media child processes: a hostile file can only take down its process.

Libraries are imported inside the functions, so that the worker itself stays light.
"""

from pathlib import Path

from pressbox.footy.domain.candidates import Probe
from pressbox.footy.domain.fingerprints import pack


def load_libraries() -> None:
    import av
    import cv2

    av.logging.set_level(av.logging.PANIC)
    cv2.setNumThreads(1)


def probe(path: Path) -> Probe:
    from pressbox.footy.adapters.media.probe import probe_video

    return probe_video(path)


def fingerprint(path: Path, phases: int, progress: Path | None) -> bytes:
    from pressbox.footy.adapters.media import hashing

    return pack(hashing.fingerprint(path, phases, progress))


def frames(path: Path, fractions: tuple[float, ...]) -> tuple[bytes, ...]:
    from pressbox.footy.adapters.media import pictures

    return tuple(pictures.encode_frames(path, fractions))


def poster(path: Path) -> bytes:
    from pressbox.footy.adapters.media import pictures

    return pictures.make_poster(path)


def playable(path: Path, target: Path) -> Probe:
    from pressbox.footy.adapters.media.playable import write_playable

    write_playable(path, target)
    return probe(target)
