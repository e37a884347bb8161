"""A process of ours for work that is heavy, or that strangers' data could make endless."""

import asyncio
import sys
from contextlib import suppress
from datetime import timedelta
from pathlib import Path

from pressbox.core.errors import ConfigurationError, TransientError
from pressbox.core.logs import get_logger

log = get_logger(__name__)

# The first line of a child: its libraries are loaded.
READY = b"ready\n"
LONGEST_START = timedelta(seconds=60)
IDLE_SECONDS = 60.0


class Child:
    """One question at a time, answered by one line. Started at first use, let go when idle, since its memory is large.

    A process that dies or does not answer in time is a TransientError, and is replaced for the next question.
    """

    def __init__(
        self,
        name: str,
        module: str,
        longest_answer: timedelta,
        *,
        largest_answer: int = 2**16,
        idle_seconds: float = IDLE_SECONDS,
    ) -> None:
        self.name = name
        self.idle_seconds = idle_seconds
        self.process: asyncio.subprocess.Process | None = None
        self._module = module
        self.longest_answer = longest_answer
        self._largest_answer = largest_answer
        self._turn = asyncio.Lock()
        self._retirement: asyncio.TimerHandle | None = None
        self._ending: set[asyncio.Task[None]] = set()

    @property
    def busy(self) -> bool:
        return self._turn.locked()

    async def ask(self, question: bytes) -> bytes:
        async with self._turn:
            if self._retirement is not None:
                self._retirement.cancel()
            try:
                answer = await self._asked(question)
            # Whatever it was, half an answer would be taken for the next question's.
            except BaseException:
                await self._end()
                raise
            self._retirement = asyncio.get_running_loop().call_later(self.idle_seconds, self._retire)
            return answer

    async def close(self) -> None:
        async with self._turn:
            await self._end()
        await asyncio.gather(*self._ending)

    async def _asked(self, question: bytes) -> bytes:
        process = await self._running()
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            async with asyncio.timeout(self.longest_answer.total_seconds()):
                process.stdin.write(question)
                await process.stdin.drain()
                return await process.stdout.readuntil(b"\n")
        except TimeoutError as error:
            raise TransientError(f"{self.name} took too long; the machine is busy.") from error
        except asyncio.LimitOverrunError as error:
            raise TransientError(f"{self.name} answers more than {self._largest_answer:,} bytes.") from error
        except (asyncio.IncompleteReadError, ConnectionError) as error:
            status = await process.wait()
            log.warning("child_died", msg="A process ended while it worked", child=self.name, status=status)
            raise TransientError(f"The process of {_inside(self.name)} ended (status {status}).") from error

    async def _running(self) -> asyncio.subprocess.Process:
        if self.process is not None and self.process.returncode is None:
            return self.process
        self.process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            self._module,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
            limit=self._largest_answer,
        )
        assert self.process.stdout is not None
        try:
            async with asyncio.timeout(LONGEST_START.total_seconds()):
                said = await self.process.stdout.readline()
        except TimeoutError as error:
            raise TransientError(f"{self.name} does not start in time; the machine is busy.") from error
        if said != READY:
            status = await self.process.wait()
            raise ConfigurationError(
                f"{self.name} does not start (status {status}). "
                f"Run “{Path(sys.executable).name} -m {self._module}” to see why; mostly a library is missing."
            )
        return self.process

    def _retire(self) -> None:
        # Somebody who asks just now holds the turn, and keeps the process.
        if not self._turn.locked():
            ending = asyncio.create_task(self._close_idle())
            self._ending.add(ending)
            ending.add_done_callback(self._ending.discard)

    async def _close_idle(self) -> None:
        async with self._turn:
            await self._end()

    async def _end(self) -> None:
        if self._retirement is not None:
            self._retirement.cancel()
            self._retirement = None
        process, self.process = self.process, None
        if process is not None:
            with suppress(ProcessLookupError):
                process.kill()
            await process.wait()


def _inside(name: str) -> str:
    """A name as it stands inside a sentence."""
    return name[:1].lower() + name[1:]
