"""The judge that needs no network and no key: it looks for a pitch and reads the clock, in a process of its own."""

import asyncio
import sys
from collections.abc import Sequence
from contextlib import suppress
from datetime import timedelta
from pathlib import Path

from pressbox.core.errors import ConfigurationError, InvalidInputError, TransientError
from pressbox.core.logs import get_logger
from pressbox.footy.adapters.judges.messages import READY, Opinion, Question
from pressbox.footy.domain.judging import FrameJudgement

log = get_logger(__name__)

CHILD_MODULE = "pressbox.footy.adapters.judges.child"
# Three frames take a second on a quiet machine; beside many others, much longer.
LONGEST_LOOK = timedelta(seconds=60)
LONGEST_START = timedelta(seconds=60)
IDLE_SECONDS = 60.0


class OfflineJudge:
    """One clip at a time: the models are loaded once per worker, at first use, and let go when idle.

    A process that dies or does not answer is a TransientError and is replaced for the next clip. The frames are
    pictures that we made ourselves, so the process needs no limits of its own.
    """

    name = "offline"

    def __init__(self, *, idle_seconds: float = IDLE_SECONDS, longest_look: timedelta = LONGEST_LOOK) -> None:
        self._idle_seconds = idle_seconds
        self._longest_look = longest_look
        self._turn = asyncio.Lock()
        self._child: asyncio.subprocess.Process | None = None
        self._retirement: asyncio.TimerHandle | None = None
        self._ending: set[asyncio.Task[None]] = set()

    async def judge(self, frames: Sequence[bytes]) -> Sequence[FrameJudgement]:
        async with self._turn:
            if self._retirement is not None:
                self._retirement.cancel()
            try:
                opinion = await self._asked(frames)
            # Whatever it was, half an answer would be taken for the next clip's.
            except BaseException:
                await self._end()
                raise
            self._retirement = asyncio.get_running_loop().call_later(self._idle_seconds, self._retire)
        if opinion.unreadable:
            raise InvalidInputError(opinion.unreadable, field="clip")
        return opinion.judgements

    async def close(self) -> None:
        async with self._turn:
            await self._end()
        await asyncio.gather(*self._ending)

    async def _asked(self, frames: Sequence[bytes]) -> Opinion:
        child = await self._running()
        assert child.stdin is not None
        assert child.stdout is not None
        question = Question(lengths=tuple(len(frame) for frame in frames))
        try:
            async with asyncio.timeout(self._longest_look.total_seconds()):
                child.stdin.write(question.model_dump_json().encode() + b"\n" + b"".join(frames))
                await child.stdin.drain()
                return Opinion.model_validate_json(await child.stdout.readuntil(b"\n"))
        except TimeoutError as error:
            raise TransientError("The offline judge took too long; the machine is busy.") from error
        except (asyncio.IncompleteReadError, ConnectionError) as error:
            status = await child.wait()
            log.warning("judge_died", msg="The process of the offline judge ended while it looked", status=status)
            raise TransientError(f"The process of the offline judge ended (status {status}).") from error

    async def _running(self) -> asyncio.subprocess.Process:
        if self._child is not None and self._child.returncode is None:
            return self._child
        self._child = await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            CHILD_MODULE,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
        )
        assert self._child.stdout is not None
        try:
            async with asyncio.timeout(LONGEST_START.total_seconds()):
                said = await self._child.stdout.readline()
        except TimeoutError as error:
            raise TransientError("The offline judge does not start in time; the machine is busy.") from error
        if said != READY:
            status = await self._child.wait()
            raise ConfigurationError(
                f"The offline judge does not start (status {status}). "
                f"Run “{Path(sys.executable).name} -m {CHILD_MODULE}” to see why; mostly a library is missing."
            )
        return self._child

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
        child, self._child = self._child, None
        if child is not None:
            with suppress(ProcessLookupError):
                child.kill()
            await child.wait()
