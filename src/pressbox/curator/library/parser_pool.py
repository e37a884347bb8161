"""Runs what reads strangers' pages and texts in child processes, bounded in memory and time."""

from collections.abc import Callable
from dataclasses import replace
from typing import ParamSpec, TypeVar

from pressbox.core.errors import PermanentError
from pressbox.core.processes.calls import CallFailedError, Limits
from pressbox.core.processes.pool import ChildPool

P = ParamSpec("P")
R = TypeVar("R")

# A page takes a twentieth of a second on a quiet machine; one of five megabytes may grow when it is written anew.
LIMITS = Limits(seconds=30, memory_bytes=1_500_000_000, result_bytes=64_000_000)
_REASONS = {
    "MemoryError": "The page takes too much memory to be read.",
    "RecursionError": "The page is nested too deeply to be read.",
}


class ParserPool:
    """At most `size` child processes, started when there is work.

    A page or text that cannot be worked on is a PermanentError with a reason for people. A child that takes too long
    or dies is a TransientError, since the machine may be to blame.
    """

    def __init__(self, size: int = 2, *, seconds: float = LIMITS.seconds) -> None:
        self._children = ChildPool("The parser", size=size, limits=replace(LIMITS, seconds=seconds))

    @property
    def process_ids(self) -> tuple[int, ...]:
        return self._children.process_ids

    @property
    def is_idle(self) -> bool:
        return self._children.is_idle

    async def run(self, function: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
        try:
            return await self._children.run(function, *args, **kwargs)
        # The libraries raise whatever a page makes them raise: it concerns that page alone.
        except CallFailedError as error:
            unknown = f"The text could not be worked on ({error.exception})."
            raise PermanentError(_REASONS.get(error.exception, unknown)) from error

    async def close(self) -> None:
        await self._children.close()
