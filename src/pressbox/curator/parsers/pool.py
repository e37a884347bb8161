"""The processes in which strangers' pages and texts are worked on, one piece each at a time."""

import asyncio
from datetime import timedelta

from pressbox.core.children import Child
from pressbox.core.errors import InvalidInputError, PermanentError
from pressbox.curator.parsers.messages import Outcome, Task

CHILD_MODULE = "pressbox.curator.parsers.child"
# A page takes a twentieth of a second on a quiet machine.
LONGEST_WORK = timedelta(seconds=30)
# A page of five megabytes may grow when it is written anew.
LARGEST_ANSWER = 64_000_000


class Workshop:
    """At most `processes` of them, started when there is work and let go when idle.

    A piece of work that takes too long, or ends its process, is a TransientError: the machine may be the reason.
    """

    def __init__(self, processes: int = 2, longest_work: timedelta = LONGEST_WORK) -> None:
        self._children = [
            Child("The workshop for texts", CHILD_MODULE, longest_work, largest_answer=LARGEST_ANSWER)
            for _ in range(processes)
        ]
        # The last one back is the next one out: what is not needed stays idle, and goes.
        self._free: asyncio.LifoQueue[Child] = asyncio.LifoQueue()
        for child in reversed(self._children):
            self._free.put_nowait(child)

    @property
    def processes(self) -> tuple[int, ...]:
        """Ids of those that run now."""
        return tuple(child.process.pid for child in self._children if child.process is not None)

    async def work(self, task: Task) -> Outcome:
        child = await self._free.get()
        try:
            outcome = Outcome.model_validate_json(await child.ask(task.model_dump_json().encode() + b"\n"))
        finally:
            self._free.put_nowait(child)
        if outcome.problem and outcome.invalid:
            raise InvalidInputError(outcome.problem, field="rules")
        if outcome.problem:
            raise PermanentError(outcome.problem)
        return outcome

    async def close(self) -> None:
        await asyncio.gather(*(child.close() for child in self._children))
