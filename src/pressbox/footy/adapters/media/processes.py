"""Reads video in child processes, because a hostile file may crash its decoder or never end."""

import asyncio
import signal
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Concatenate, ParamSpec, TypeVar

from pressbox.core.errors import NotFoundError, PermanentError
from pressbox.core.logs import get_logger
from pressbox.core.processes.calls import CallFailedError, Limits, Terms
from pressbox.core.processes.pool import IDLE_SECONDS, ChildDiedError, ChildPool
from pressbox.footy.adapters.media import tasks
from pressbox.footy.domain.candidates import Probe
from pressbox.footy.domain.errors import NotAVideoError
from pressbox.footy.domain.film_rule import Sighting
from pressbox.footy.domain.match_rule import BETTER, MatchRule

log = get_logger(__name__)

P = ParamSpec("P")
R = TypeVar("R")

# What one file may cost.
LIMITS = Limits(seconds=600, memory_bytes=1_000_000_000, processor_seconds=120, file_bytes=250_000_000)
# The first look decodes one picture; a file that takes long already then is made to, and nothing else reads it.
PROBE_SECONDS = 20
_ENDED_FROM_OUTSIDE = (-signal.SIGKILL, -signal.SIGTERM)
# Far from what a call may cost, even with clips of a minute.
_FILMS_PER_CALL = 6
# OpenCV has one class of errors, called `error`; on a decoded frame it means that memory was refused.
_OUT_OF_MEMORY = ("MemoryError", "error")


class MediaProcesses:
    """Reads clips in `processes` children at the same time; more callers wait for their turn.

    A file that cannot be used raises NotAVideoError with the reason for people, also when it crashed the decoder or
    asked for more memory or processor time than allowed. TransientError means that the machine was too busy.
    """

    def __init__(
        self,
        processes: int = 1,
        *,
        rule: MatchRule = BETTER,
        limits: Limits = LIMITS,
        idle_seconds: float = IDLE_SECONDS,
    ) -> None:
        self._rule = rule
        self.pool = ChildPool(
            "The process that reads videos",
            size=processes,
            setup=tasks.load_libraries,
            limits=limits,
            idle_seconds=idle_seconds,
        )

    async def probe(self, path: Path) -> Probe:
        return await self._run_by(Terms(processor_seconds=PROBE_SECONDS), tasks.probe, path)

    async def fingerprint(self, path: Path, progress: Path | None = None, *, phases: int | None = None) -> bytes:
        """Return the stored form, see `pressbox.footy.domain.fingerprints`. One phase is enough for a reference."""
        return await self._run(tasks.fingerprint, path, phases, progress)

    async def find_same_scene(self, query: bytes, references: Mapping[int, bytes]) -> frozenset[int]:
        """Find the references that show a scene of the query."""
        return await asyncio.to_thread(_same_scene, query, references, self._rule)

    async def see_through(self, query: bytes, references: Mapping[int, bytes]) -> Mapping[int, Sighting]:
        """Find the references whose film shows a scene of the query, however it was cropped, turned or framed.

        The document's rule knows nothing of this. Films that cannot be compared are left out: a copy that is missed
        shows a scene twice, while a failure would hold up all clips of the goal.
        """
        if not self._rule.thorough:
            return {}
        found: dict[int, Sighting] = {}
        numbers = list(references)
        for begin in range(0, len(numbers), _FILMS_PER_CALL):
            some = {number: references[number] for number in numbers[begin : begin + _FILMS_PER_CALL]}
            try:
                found |= await self.pool.run(tasks.see_through, query, some)
            except (CallFailedError, ChildDiedError) as error:
                if isinstance(error, ChildDiedError) and error.status in _ENDED_FROM_OUTSIDE:
                    raise
                log.warning("films could not be compared", clips=list(some), error=str(error))
        return found

    async def take_frames(self, path: Path, fractions: Sequence[float]) -> Sequence[bytes]:
        """Take a JPEG picture at each fraction of the duration, in the given order."""
        return await self._run(tasks.frames, path, tuple(fractions))

    async def take_poster(self, path: Path) -> bytes:
        return await self._run(tasks.poster, path)

    async def join_sound(self, picture: Path, sound: Path, target: Path) -> None:
        """Write a file with the picture of one and the sound of another, as they are. After an error there is none."""
        try:
            await self._run(tasks.join_sound, picture, sound, target)
        # Cancellation included: half a file must not stay.
        except BaseException:
            await asyncio.to_thread(target.unlink, missing_ok=True)
            raise

    async def make_playable(self, path: Path, target: Path) -> Probe:
        """Write a file that browsers can play and seek. After an error there is no file."""
        try:
            return await self._run(tasks.playable, path, target)
        # Cancellation included: half a file must not stay.
        except BaseException:
            await asyncio.to_thread(target.unlink, missing_ok=True)
            raise

    async def close(self) -> None:
        await self.pool.close()

    async def _run(
        self, function: Callable[Concatenate[Path, P], R], path: Path, *args: P.args, **kwargs: P.kwargs
    ) -> R:
        return await self._run_by(Terms(), function, path, *args, **kwargs)

    async def _run_by(
        self,
        terms: Terms,
        function: Callable[Concatenate[Path, P], R],
        path: Path,
        *args: P.args,
        **kwargs: P.kwargs,
    ) -> R:
        try:
            return await self.pool.run_by(terms, function, path, *args, **kwargs)
        except CallFailedError as error:
            raise _unreadable(error, path) from error
        except ChildDiedError as error:
            if error.status in _ENDED_FROM_OUTSIDE:
                raise
            if error.status == -signal.SIGXCPU:
                seconds = terms.processor_seconds or self.pool.limits.processor_seconds
                raise NotAVideoError(f"Reading it takes more than {seconds} s of processor time.") from error
            raise NotAVideoError("The decoder crashed on it.", status=error.status) from error


def _same_scene(query: bytes, references: Mapping[int, bytes], rule: MatchRule) -> frozenset[int]:
    # Here, because numpy is much for a worker that may never see a clip.
    from pressbox.footy.domain.fingerprints import unpack
    from pressbox.footy.domain.scene_screen import find_matching

    stored = {number: unpack(packed).reference() for number, packed in references.items()}
    return find_matching(unpack(query), stored, rule)


def _unreadable(error: CallFailedError, path: Path) -> PermanentError:
    if error.exception == "FileNotFoundError":
        return NotFoundError(f"The file {path.name} no longer exists.")
    if error.exception in _OUT_OF_MEMORY:
        return NotAVideoError("Reading it needs more memory than one clip may use.")
    return NotAVideoError(f"The file cannot be read: {error.message}")
