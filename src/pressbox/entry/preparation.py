"""A process for what `up` does once: it brings the libraries that migrations and schedules need, and ends with them.

`up` itself then only watches, and stays at a third of the memory.
"""

import signal
import sys
from collections.abc import Callable
from multiprocessing import get_context
from multiprocessing.connection import Connection
from types import TracebackType
from typing import ParamSpec, TypeVar

from pressbox.core.errors import PermanentError, PressboxError
from pressbox.core.processes.parents import end_with_parent

Parameters = ParamSpec("Parameters")
Answer = TypeVar("Answer")


class Preparation:
    """Runs one step after the other in a process of its own. Start it before there are threads, locks and secrets."""

    def __init__(self, preload: Callable[[], None]) -> None:
        # A fork has our modules already; elsewhere it is not safe.
        context = get_context("fork") if sys.platform == "linux" else get_context("spawn")
        self._ours, theirs = context.Pipe()
        self._process = context.Process(
            target=_serve,
            args=(theirs, self._ours, preload, end_with_parent(signal.SIGKILL)),
            name="preparation",
            daemon=True,
        )
        self._process.start()
        theirs.close()

    def __enter__(self) -> "Preparation":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def run(
        self, step: Callable[Parameters, Answer], *arguments: Parameters.args, **options: Parameters.kwargs
    ) -> Answer:
        """What the step gives or raises. It must be a function of a module, so that it can be told by name."""
        try:
            self._ours.send((step, arguments, options))
            answer, error = self._ours.recv()
        except (EOFError, ConnectionError) as lost:
            raise PermanentError("The preparation of the database ended unexpectedly; its message is above.") from lost
        if error is not None:
            raise error
        return answer  # type: ignore[no-any-return]

    def close(self) -> None:
        """Also in the middle of a step: each is made to be repeated. Closing twice is once."""
        self._process.kill()
        self._process.join()
        self._ours.close()


def _serve(steps: Connection, others: Connection, preload: Callable[[], None], bind: Callable[[], None] | None) -> None:
    others.close()
    # Whoever asks the group to stop means `up`, which then ends us.
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    if bind:
        bind()
    preload()
    while True:
        try:
            step, arguments, options = steps.recv()
        except EOFError:
            return
        try:
            steps.send((step(*arguments, **options), None))
        except PressboxError as error:
            steps.send((None, error))
