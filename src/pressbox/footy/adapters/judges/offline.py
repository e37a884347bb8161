"""The judge that needs no network and no key: it looks for a pitch and reads the clock, in a process of its own."""

from collections.abc import Sequence

from pressbox.core.processes.calls import Limits
from pressbox.core.processes.pool import IDLE_SECONDS, ChildPool
from pressbox.footy.adapters.judges import tasks
from pressbox.footy.domain.judgements import FrameJudgement

# Three frames take a second on a quiet machine; beside many others, much longer.
# The frames are pictures that we made ourselves, so the process needs no limit of memory.
LIMITS = Limits(seconds=60)


class OfflineJudge:
    """Judges one clip at a time: the models are loaded once per worker, at first use, and let go when idle."""

    name = "offline"

    def __init__(self, *, idle_seconds: float = IDLE_SECONDS, limits: Limits = LIMITS) -> None:
        self.pool = ChildPool("The offline judge", setup=tasks.load_models, limits=limits, idle_seconds=idle_seconds)

    async def judge(self, frames: Sequence[bytes]) -> Sequence[FrameJudgement]:
        return await self.pool.run(tasks.judge, tuple(frames))

    async def close(self) -> None:
        await self.pool.close()
