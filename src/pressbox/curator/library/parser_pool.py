"""Runs what reads strangers' feeds, pages and texts in child processes, bounded in memory, time and output."""

import signal
from collections.abc import Callable
from typing import ParamSpec, TypeVar

from pressbox.core.errors import PermanentError
from pressbox.core.processes.calls import CallFailedError, Limits, Terms
from pressbox.core.processes.pool import ChildDiedError, ChildPool

P = ParamSpec("P")
R = TypeVar("R")

# A page takes a twentieth of a second of processor time, and one of five megabytes some seconds.
LIMITS = Limits(seconds=60, processor_seconds=10, memory_bytes=600_000_000, result_bytes=64_000_000)
_REASONS = {
    "MemoryError": "It takes too much memory to be read.",
    "RecursionError": "It is nested too deeply to be read.",
}


class TooSlowError(PermanentError):
    """The processor time of the call is used up. That is the text's own doing, however busy the machine is."""


class ParserPool:
    """At most `size` child processes, started when there is work.

    A text that cannot be worked on is a PermanentError with a reason for people. A child that dies, or waits too long
    for the machine, is a TransientError.
    """

    def __init__(self, size: int = 2, *, limits: Limits = LIMITS) -> None:
        self._children = ChildPool("The parser", size=size, limits=limits)

    @property
    def process_ids(self) -> tuple[int, ...]:
        return self._children.process_ids

    @property
    def is_idle(self) -> bool:
        return self._children.is_idle

    async def run(self, function: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
        return await self.run_by(Terms(), function, *args, **kwargs)

    async def run_by(self, terms: Terms, function: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
        """Run a function when it is the owner's turn, within the owner's budget."""
        try:
            return await self._children.run_by(terms, function, *args, **kwargs)
        # The libraries raise whatever a page makes them raise: it concerns that page alone.
        except CallFailedError as error:
            unknown = f"The text could not be worked on ({error.exception})."
            raise PermanentError(_REASONS.get(error.exception, unknown)) from error
        except ChildDiedError as error:
            if error.status != -signal.SIGXCPU:
                raise
            raise TooSlowError("It takes too much time to be read.") from error

    async def close(self) -> None:
        await self._children.close()
