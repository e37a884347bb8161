"""Tasks of the media child processes: a hostile file can only take down its process.

Libraries are imported inside the functions, so that the worker itself stays light.
"""

from pathlib import Path

from pressbox.footy.domain.candidates import Probe
from pressbox.footy.domain.film_rule import Sighting


def load_libraries() -> None:
    import av
    import cv2

    av.logging.set_level(av.logging.PANIC)
    cv2.setNumThreads(1)


def probe(path: Path) -> Probe:
    from pressbox.footy.adapters.media.probe import probe_video

    return probe_video(path)


def fingerprint(path: Path, phases: int | None, progress: Path | None) -> bytes:
    """Return the stored form. In all phases, as for a new clip, it has the film too."""
    from pressbox.footy.adapters.media import films, hashing
    from pressbox.footy.domain.fingerprints import PHASES, join_film, pack

    hashes, film = hashing.fingerprint_and_film(path, phases or PHASES, progress, filming=phases in (None, PHASES))
    return pack(hashes) if film is None else join_film(pack(hashes), films.write_film(film))


def see_through(query: bytes, references: dict[int, bytes]) -> dict[int, Sighting]:
    """Compare the film of a clip with those of others; what has no film is not compared."""
    from pressbox.footy.adapters.media.seeing_through import compare_films

    return compare_films(query, references)


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


def join_sound(picture: Path, sound: Path, target: Path) -> None:
    from pressbox.footy.adapters.media import joining

    joining.join_sound(picture, sound, target)
