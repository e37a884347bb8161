"""Runs functions in child processes: for work that is heavy, or that a stranger's file could make endless or crash.

Write the functions in a module that is cheap to import, with the libraries imported inside, and annotate them fully;
arguments and results are whatever Pydantic writes as JSON (bytes only as arguments or results of their own or in a
sequence, not inside a model):

    def load_libraries() -> None:
        import cv2
        cv2.setNumThreads(1)

    def measure(path: Path) -> Size:
        import cv2
        return Size(*cv2.imread(path).shape[:2])

    pool = ChildPool("The clip reader", size=2, setup=load_libraries, limits=Limits(seconds=30))
    size = await pool.run(measure, path)
    await pool.close()

Errors of Pressbox come back as what they are, everything else as CallFailedError. A child that dies during a call is a
ChildDiedError and one that takes too long is ended: both are TransientErrors, and the next call gets a new child.
"""

import asyncio
import shlex
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import ParamSpec, TypeVar, cast

from pressbox.core.environment import bare_environment
from pressbox.core.errors import ConfigurationError, TransientError
from pressbox.core.logs import get_logger
from pressbox.core.processes.calls import OK, READY, Failure, Limits, Plan, Terms, name_of, signature_of
from pressbox.core.processes.turns import Turns

log = get_logger(__name__)

P = ParamSpec("P")
R = TypeVar("R")

SERVER_MODULE = "pressbox.core.processes.server"
START_SECONDS = 60.0
IDLE_SECONDS = 60.0
# After so many calls a child is replaced, so that what libraries leak has an end.
CALLS_PER_CHILD = 100


class ChildNotStartedError(TransientError):
    """No child took the call, so it says nothing about what was to be worked on."""


class ChildDiedError(TransientError):
    """The process ended during a call. `status` is its exit status, or the negative number of a signal."""

    def __init__(self, message: str, status: int) -> None:
        super().__init__(message, status=status)
        self.status = status


class ChildPool:
    """At most `size` children, started when they are needed and ended when idle, since their memory is large.

    `name` begins the messages for people, as in “The clip reader took too long”.
    """

    def __init__(
        self,
        name: str,
        *,
        size: int = 1,
        setup: Callable[[], None] | None = None,
        limits: Limits | None = None,
        idle_seconds: float = IDLE_SECONDS,
    ) -> None:
        self.name = name
        self.limits = limits or Limits()
        self._plan = Plan(setup=name_of(setup) if setup else None, limits=self.limits)
        self._idle_seconds = idle_seconds
        self._turns = Turns(size)
        self._children: set[_Child] = set()
        # The last one back is the first one out, so that those which are not needed stay idle and end.
        self._idle: list[_Child] = []
        self._endings: set[asyncio.Task[None]] = set()
        self._closed = False

    @property
    def process_ids(self) -> tuple[int, ...]:
        """Those of the children that run now."""
        return tuple(child.process.pid for child in self._children if child.process.returncode is None)

    @property
    def is_idle(self) -> bool:
        return len(self._idle) == len(self._children)

    async def run(self, function: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
        return await self.run_by(Terms(), function, *args, **kwargs)

    async def run_by(self, terms: Terms, function: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
        """Run a function when it is the owner's turn, within the owner's budget."""
        signature = signature_of(function)
        bound = signature.parameters.bind(*args, **kwargs)
        bound.apply_defaults()
        arguments = signature.arguments.dump_json(tuple(bound.arguments.values()))
        seconds = self.limits.processor_seconds if terms.processor_seconds is None else terms.processor_seconds
        call = name_of(function) if seconds is None else f"{name_of(function)} {seconds}"
        async with self._turns.take(terms.owner), self._borrow_child() as child:
            status, answer = await self._ask(child, call.encode(), arguments)
        if status != OK:
            raise Failure.model_validate_json(answer).to_error()
        (result,) = signature.result.validate_json(answer)
        return cast(R, result)

    async def close(self) -> None:
        """End every idle child now, and the others when their call ends."""
        self._closed = True
        children, self._idle = self._idle, []
        await asyncio.gather(*(self._end(child) for child in children), *self._endings)

    async def _ask(self, child: "_Child", name: bytes, arguments: bytes) -> tuple[bytes, bytes]:
        try:
            async with asyncio.timeout(self.limits.seconds):
                return await child.ask(name, arguments)
        except TimeoutError as error:
            raise TransientError(f"{self.name} took too long; the machine is busy.") from error
        except asyncio.LimitOverrunError as error:
            raise TransientError(f"{self.name} answers more than {self.limits.result_bytes:,} bytes.") from error
        except (asyncio.IncompleteReadError, ConnectionError) as error:
            status = await child.process.wait()
            log.warning("child_died", msg="A child process ended during a call", pool=self.name, status=status)
            raise ChildDiedError(f"{self.name} ended during its work (status {status}).", status) from error

    @asynccontextmanager
    async def _borrow_child(self) -> "AsyncIterator[_Child]":
        """Take an idle child or start one. It returns to the pool only after a whole answer."""
        child = self._take_idle() or await self._start()
        try:
            yield child
        # Also after a cancellation: half an answer would be taken for that of the next call.
        except BaseException:
            await self._end(child)
            raise
        if self._closed or child.calls >= CALLS_PER_CHILD:
            await self._end(child)
            return
        child.retirement = asyncio.get_running_loop().call_later(self._idle_seconds, self._retire, child)
        self._idle.append(child)

    def _take_idle(self) -> "_Child | None":
        while self._idle:
            child = self._idle.pop()
            if child.retirement is not None:
                child.retirement.cancel()
            # One that was killed while idle did not die of the next call.
            if child.process.returncode is None:
                return child
            self._children.discard(child)
        return None

    async def _start(self) -> "_Child":
        command = (sys.executable, "-m", SERVER_MODULE, self._plan.model_dump_json())
        process = await asyncio.create_subprocess_exec(
            *command,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
            limit=self.limits.result_bytes,
            env=bare_environment(),
        )
        child = _Child(process)
        self._children.add(child)
        try:
            async with asyncio.timeout(START_SECONDS):
                ready = await child.read_line()
        except TimeoutError as error:
            await self._end(child)
            raise ChildNotStartedError(f"{self.name} does not start in time; the machine is busy.") from error
        except asyncio.IncompleteReadError:
            ready = b""
        # Also after a cancellation: nobody else knows of it yet.
        except BaseException:
            await self._end(child)
            raise
        if ready != READY:
            await self._end(child)
            readable = shlex.join((Path(sys.executable).name, *command[1:]))
            raise ConfigurationError(
                f"{self.name} does not start (status {process.returncode}); mostly a library is missing. "
                f"Run this to see why: {readable}"
            )
        return child

    def _retire(self, child: "_Child") -> None:
        if child in self._idle:
            self._idle.remove(child)
            ending = asyncio.create_task(self._end(child))
            self._endings.add(ending)
            ending.add_done_callback(self._endings.discard)

    async def _end(self, child: "_Child") -> None:
        await child.end()
        self._children.discard(child)


class _Child:
    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self.process = process
        self.calls = 0
        self.retirement: asyncio.TimerHandle | None = None

    async def ask(self, name: bytes, arguments: bytes) -> tuple[bytes, bytes]:
        assert self.process.stdin is not None
        self.calls += 1
        self.process.stdin.write(name + b"\n" + arguments + b"\n")
        await self.process.stdin.drain()
        return await self.read_line(), await self.read_line()

    async def read_line(self) -> bytes:
        assert self.process.stdout is not None
        return (await self.process.stdout.readuntil(b"\n"))[:-1]

    async def end(self) -> None:
        if self.retirement is not None:
            self.retirement.cancel()
        with suppress(ProcessLookupError):
            self.process.kill()
        # A plain wait would not end while an answer is left in the pipe.
        await self.process.communicate()
