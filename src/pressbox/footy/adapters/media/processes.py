"""The media port on child processes: started at first use, limited, replaced after a crash, retired when idle."""

import asyncio
import signal
import sys
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import Path

from pressbox.core.errors import (
    ConfigurationError,
    NotFoundError,
    PermanentError,
    PressboxError,
    TransientError,
)
from pressbox.core.logs import get_logger
from pressbox.footy.adapters.media.messages import READY, Answer, Limits, Refusal, Request, Task
from pressbox.footy.domain.candidates import Probe
from pressbox.footy.domain.fingerprints import PHASES, match, unpack
from pressbox.footy.domain.match_rule import BETTER, MatchRule
from pressbox.footy.domain.troubles import NotAVideoError

log = get_logger(__name__)

CHILD_MODULE = "pressbox.footy.adapters.media.child"
IDLE_SECONDS = 60.0
# After so many files a child is replaced: what libraries leak has an end.
_FILES_PER_CHILD = 100
_LONGEST_LINE = 1 << 20


class _Child:
    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self.process = process
        self.files = 0
        self.retirement: asyncio.TimerHandle | None = None

    async def ask(self, request: Request) -> tuple[Answer, list[bytes]]:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.files += 1
        self.process.stdin.write(request.model_dump_json().encode() + b"\n")
        await self.process.stdin.drain()
        answer = Answer.model_validate_json(await self.process.stdout.readuntil(b"\n"))
        return answer, [await self.process.stdout.readexactly(length) for length in answer.parts]

    async def end(self) -> None:
        if self.retirement is not None:
            self.retirement.cancel()
        with suppress(ProcessLookupError):
            self.process.kill()
        await self.process.wait()


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
        limits: Limits | None = None,
        idle_seconds: float = IDLE_SECONDS,
    ) -> None:
        self._rule = rule
        self._limits = limits or Limits()
        self._idle_seconds = idle_seconds
        self._turns = asyncio.Semaphore(processes)
        self._idle: list[_Child] = []
        self._ending: set[asyncio.Task[None]] = set()

    async def probe(self, path: Path) -> Probe:
        answer, _ = await self._asked(Task.PROBE, path)
        assert answer.probe is not None
        return answer.probe

    async def fingerprint(self, path: Path, *, phases: int = PHASES) -> bytes:
        """In its stored form, see `pressbox.footy.domain.fingerprints`. One phase is enough for a reference."""
        _, parts = await self._asked(Task.FINGERPRINT, path, phases=phases)
        return parts[0]

    async def same_scene(self, query: bytes, references: Mapping[int, bytes]) -> frozenset[int]:
        """Which of these fingerprints show a scene of the query."""
        return await asyncio.to_thread(_same_scene, query, references, self._rule)

    async def frames(self, path: Path, fractions: Sequence[float]) -> Sequence[bytes]:
        """JPEG pictures, one for each share of the length, in the order asked."""
        _, parts = await self._asked(Task.FRAMES, path, fractions=tuple(fractions))
        return parts

    async def poster(self, path: Path) -> bytes:
        _, parts = await self._asked(Task.POSTER, path)
        return parts[0]

    async def playable(self, path: Path, target: Path) -> Probe:
        """Write a file that browsers play and seek. After an error there is no file."""
        try:
            answer, _ = await self._asked(Task.PLAYABLE, path, target=target)
        # Half a file is worth nothing and would stay, also after a cancellation.
        except BaseException:
            await asyncio.to_thread(target.unlink, missing_ok=True)
            raise
        assert answer.probe is not None
        return answer.probe

    async def close(self) -> None:
        children, self._idle = self._idle, []
        await asyncio.gather(*(child.end() for child in children), *self._ending)

    async def _asked(
        self,
        task: Task,
        path: Path,
        *,
        fractions: tuple[float, ...] = (),
        phases: int = PHASES,
        target: Path | None = None,
    ) -> tuple[Answer, list[bytes]]:
        seconds = self._limits.processor_seconds
        request = Request(
            task=task, path=path, processor_seconds=seconds, fractions=fractions, phases=phases, target=target
        )
        async with self._turns, self._child() as child:
            try:
                async with asyncio.timeout(self._limits.waiting_seconds):
                    answer, parts = await child.ask(request)
            except TimeoutError as error:
                raise TransientError(f"Reading {path.name} took too long; the machine is busy.") from error
            except (asyncio.IncompleteReadError, ConnectionError) as error:
                raise await self._crash(child, path) from error
        if answer.refusal is not None:
            raise _refused(answer, path)
        return answer, parts

    @asynccontextmanager
    async def _child(self) -> AsyncIterator[_Child]:
        """One that is free, or a new one. It comes back only after a whole answer; otherwise it is ended."""
        child = self._free() or await self._started()
        try:
            yield child
        # Whatever happened, also a cancellation: half an answer may still be in its pipe.
        except BaseException:
            await child.end()
            raise
        if child.files >= _FILES_PER_CHILD:
            await child.end()
            return
        child.retirement = asyncio.get_running_loop().call_later(self._idle_seconds, self._retire, child)
        self._idle.append(child)

    def _free(self) -> _Child | None:
        while self._idle:
            child = self._idle.pop()
            if child.retirement is not None:
                child.retirement.cancel()
            # One that died while nobody asked it anything did not die of the next file.
            if child.process.returncode is None:
                return child
        return None

    async def _started(self) -> _Child:
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            CHILD_MODULE,
            self._limits.model_dump_json(),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
            limit=_LONGEST_LINE,
        )
        assert process.stdout is not None
        if await process.stdout.readline() != READY:
            status = await process.wait()
            raise ConfigurationError(
                f"The process that reads videos does not start (status {status}). "
                f"Run “{Path(sys.executable).name} -m {CHILD_MODULE} {{}}” to see why; mostly a library is missing."
            )
        return _Child(process)

    def _retire(self, child: _Child) -> None:
        if child in self._idle:
            self._idle.remove(child)
            ending = asyncio.create_task(child.end())
            self._ending.add(ending)
            ending.add_done_callback(self._ending.discard)

    async def _crash(self, child: _Child, path: Path) -> PressboxError:
        status = await child.process.wait()
        log.warning("media_child_died", msg="A file ended the process that read it", file=path.name, status=status)
        if status in (-signal.SIGKILL, -signal.SIGTERM):
            return TransientError(f"The process that read {path.name} was ended from outside.")
        if status == -signal.SIGXCPU:
            return NotAVideoError(f"Reading it takes more than {self._limits.processor_seconds} s of processor time.")
        return NotAVideoError("The decoder crashed on it.", status=status)


def _same_scene(query: bytes, references: Mapping[int, bytes], rule: MatchRule) -> frozenset[int]:
    new = unpack(query)
    return frozenset(number for number, packed in references.items() if match(new, unpack(packed), rule) is not None)


def _refused(answer: Answer, path: Path) -> PermanentError:
    match answer.refusal:
        case Refusal.MISSING:
            return NotFoundError(f"The file {path.name} is not there any more.")
        case Refusal.TOO_MUCH_MEMORY:
            return NotAVideoError("Reading it takes more memory than one clip may have.")
        case Refusal.FAILED:
            return NotAVideoError(f"The file cannot be read: {answer.message}")
        case _:
            return NotAVideoError(answer.message)
