"""Reads video in child processes, because a hostile file may crash its decoder or never end."""

import asyncio
import signal
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Concatenate, ParamSpec, TypeVar

from pressbox.core.errors import NotFoundError, PermanentError
from pressbox.core.processes.calls import CallFailedError, Limits
from pressbox.core.processes.pool import IDLE_SECONDS, ChildDiedError, ChildPool
from pressbox.footy.adapters.media import tasks
from pressbox.footy.domain.candidates import Probe
from pressbox.footy.domain.errors import NotAVideoError
from pressbox.footy.domain.fingerprints import PHASES, match, unpack
from pressbox.footy.domain.match_rule import BETTER, MatchRule

P = ParamSpec("P")
R = TypeVar("R")

# What one file may cost.
LIMITS = Limits(seconds=600, memory_bytes=1_000_000_000, processor_seconds=120, file_bytes=250_000_000)
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
        return await self._run(tasks.probe, path)

    async def fingerprint(self, path: Path, progress: Path | None = None, *, phases: int = PHASES) -> bytes:
        """Return the stored form, see `pressbox.footy.domain.fingerprints`. One phase is enough for a reference."""
        return await self._run(tasks.fingerprint, path, phases, progress)

    async def find_same_scene(self, query: bytes, references: Mapping[int, bytes]) -> frozenset[int]:
        """Find the references that show a scene of the query."""
        return await asyncio.to_thread(_same_scene, query, references, self._rule)

    async def take_frames(self, path: Path, fractions: Sequence[float]) -> Sequence[bytes]:
        """Take a JPEG picture at each fraction of the duration, in the given order."""
        return await self._run(tasks.frames, path, tuple(fractions))

    async def take_poster(self, path: Path) -> bytes:
        return await self._run(tasks.poster, path)

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
        try:
            return await self.pool.run(function, path, *args, **kwargs)
        except CallFailedError as error:
            raise _unreadable(error, path) from error
        except ChildDiedError as error:
            if error.status in (-signal.SIGKILL, -signal.SIGTERM):
                raise
            if error.status == -signal.SIGXCPU:
                seconds = self.pool.limits.processor_seconds
                raise NotAVideoError(f"Reading it takes more than {seconds} s of processor time.") from error
            raise NotAVideoError("The decoder crashed on it.", status=error.status) from error


def _same_scene(query: bytes, references: Mapping[int, bytes], rule: MatchRule) -> frozenset[int]:
    new = unpack(query)
    return frozenset(number for number, packed in references.items() if match(new, unpack(packed), rule) is not None)


def _unreadable(error: CallFailedError, path: Path) -> PermanentError:
    if error.exception == "FileNotFoundError":
        return NotFoundError(f"The file {path.name} no longer exists.")
    if error.exception in _OUT_OF_MEMORY:
        return NotAVideoError("Reading it needs more memory than one clip may use.")
    return NotAVideoError(f"The file cannot be read: {error.message}")
