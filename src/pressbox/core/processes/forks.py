"""Runs every call in a process of its own, forked from one that has loaded the libraries once.

For calls of which many wait at the same time (for strangers' servers, for example) and of which each may hang: a fork
costs milliseconds and little memory, and one that takes too long is killed without harm to the others. Functions and
arguments are those of `ChildPool`. What a fork leaves behind (threads, sockets, changed modules) ends with it.

    forks = ForkServer("The sender", setup=load_plugins, limits=Limits(seconds=20))
    report = await forks.run(send, job)

What a function gives to `after_answer` runs once its answer is on its way, for at most LINGER_SECONDS.
"""

import asyncio
import atexit
import errno
import socket
import subprocess
import sys
import threading
from collections.abc import Callable
from typing import ParamSpec, TypeVar, cast

from pressbox.core.environment import bare_environment
from pressbox.core.errors import ConfigurationError, TransientError
from pressbox.core.logs import get_logger
from pressbox.core.processes.calls import OK, READY, Failure, Limits, Plan, name_of, signature_of
from pressbox.core.processes.pool import ChildDiedError

log = get_logger(__name__)

P = ParamSpec("P")
R = TypeVar("R")

SERVER_MODULE = "pressbox.core.processes.fork_server"
START_SECONDS = 60.0
LINGER_SECONDS = 3.0
# A fork ends itself at its limit; this is for one that cannot.
GRACE_SECONDS = 2.0
# A server that takes no line at all for so long is as good as dead.
STANDSTILL_SECONDS = 10.0
PAUSE_SECONDS = 0.01
# Too many lines wait already: on this socket, or of this process at all.
_FULL = (errno.EAGAIN, errno.ETOOMANYREFS)


class ForkServer:
    """One process from which every call is forked, started by the first call. It ends with this process, or by `close`.

    It belongs to no event loop. How many calls run at once is for the caller to limit.
    """

    def __init__(self, name: str, *, setup: Callable[[], None] | None = None, limits: Limits | None = None) -> None:
        self.name = name
        self.limits = limits or Limits()
        self._plan = Plan(setup=name_of(setup) if setup else None, limits=self.limits)
        self._starting = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._control: socket.socket | None = None
        # How many lines the server took, or at least let wait.
        self._taken = 0

    @property
    def process_id(self) -> int | None:
        return None if self._process is None else self._process.pid

    async def run(self, function: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
        """Errors of Pressbox come back as what they are, everything else as CallFailedError; see `ChildPool`."""
        signature = signature_of(function)
        bound = signature.parameters.bind(*args, **kwargs)
        bound.apply_defaults()
        arguments = signature.arguments.dump_json(tuple(bound.arguments.values()))
        call = name_of(function).encode() + b"\n" + arguments + b"\n"
        status, answer = await self._ask(await self._open_line(), call)
        if status != OK:
            raise Failure.model_validate_json(answer).to_error()
        (result,) = signature.result.validate_json(answer)
        return cast(R, result)

    def close(self) -> None:
        """End it now, with every call that still runs; this waits for it, so call it from a thread."""
        with self._starting:
            self._end()

    async def _open_line(self) -> socket.socket:
        """A line to a new fork, which reads its call from the other end."""
        control = self._control
        line = await self._connect(control)
        if line is None:
            line = await self._connect(await asyncio.to_thread(self._replace, control))
        if line is None:
            raise TransientError(f"{self.name} has ended.")
        return line

    async def _ask(self, line: socket.socket, call: bytes) -> tuple[bytes, bytes]:
        reader, writer = await asyncio.open_connection(sock=line, limit=self.limits.result_bytes)
        try:
            async with asyncio.timeout(self.limits.seconds + GRACE_SECONDS):
                writer.write(call)
                await writer.drain()
                status, answer = (await reader.readuntil(b"\n"))[:-1], (await reader.readuntil(b"\n"))[:-1]
            try:
                async with asyncio.timeout(LINGER_SECONDS):
                    await reader.read()
            except TimeoutError:
                log.info("fork_lingers", msg="A call was ended after its answer", server=self.name)
            return status, answer
        except TimeoutError as error:
            raise TransientError(f"{self.name} took too long.") from error
        except asyncio.LimitOverrunError as error:
            raise TransientError(f"{self.name} answers more than {self.limits.result_bytes:,} bytes.") from error
        except (asyncio.IncompleteReadError, ConnectionError) as error:
            raise ChildDiedError(f"{self.name} ended during its work.", 0) from error
        finally:
            # The fork ends when its line is cut, whatever it is doing.
            writer.transport.abort()

    async def _connect(self, control: socket.socket | None) -> socket.socket | None:
        """None when the server does not run, or stands still."""
        if control is None:
            return None
        ours, theirs = socket.socketpair()
        with theirs:
            try:
                await self._hand_over(control, theirs)
            except OSError:
                ours.close()
                return None
            except asyncio.CancelledError:
                ours.close()
                raise
        return ours

    async def _hand_over(self, control: socket.socket, line: socket.socket) -> None:
        """Only so many lines wait for the server at once; more of them wait here, and the event loop goes on."""
        loop = asyncio.get_running_loop()
        taken, deadline = self._taken, loop.time() + STANDSTILL_SECONDS
        while True:
            try:
                socket.send_fds(control, [b"+"], [line.fileno()])
            except OSError as error:
                if error.errno not in _FULL:
                    raise
                if taken != self._taken:
                    taken, deadline = self._taken, loop.time() + STANDSTILL_SECONDS
                if loop.time() > deadline:
                    raise TimeoutError from None
                await asyncio.sleep(PAUSE_SECONDS)
            else:
                self._taken += 1
                return

    def _replace(self, control: socket.socket | None) -> socket.socket | None:
        """Start a server in the place of the one that does not answer on this socket."""
        with self._starting:
            if self._control is not control:
                # Another caller was faster.
                return self._control
            self._end()
            ours, theirs = socket.socketpair(type=socket.SOCK_SEQPACKET)
            command = (sys.executable, "-m", SERVER_MODULE, str(theirs.fileno()), self._plan.model_dump_json())
            self._process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                pass_fds=(theirs.fileno(),),
                env=bare_environment(),
            )
            theirs.close()
            ours.settimeout(START_SECONDS)
            try:
                ready = ours.recv(len(READY))
            except OSError:
                ready = b""
            if ready != READY:
                ours.close()
                self._end()
                raise ConfigurationError(f"{self.name} does not start; mostly a library is missing.")
            ours.setblocking(False)
            self._control = ours
            atexit.register(self.close)
            return ours

    def _end(self) -> None:
        atexit.unregister(self.close)
        if self._control is not None:
            self._control.close()
            self._control = None
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None
