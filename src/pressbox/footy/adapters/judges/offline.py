"""The judge that needs no network and no key: it looks for a pitch and reads the clock, in a child process."""

from collections.abc import Sequence

from pressbox.core.processes.calls import Limits
from pressbox.core.processes.pool import IDLE_SECONDS, ChildPool
from pressbox.footy.adapters.judges import tasks
from pressbox.footy.domain.judgements import FrameJudgement

# Three frames take a second on a quiet machine, and much longer on a busy one.
# We made the frames ourselves, so the process needs no memory limit.
LIMITS = Limits(seconds=60)


class OfflineJudge:
    """Judges one clip at a time. The models are loaded at first use, once per worker, and dropped when idle."""

    name = "offline"

    def __init__(self, *, idle_seconds: float = IDLE_SECONDS, limits: Limits = LIMITS) -> None:
        self.pool = ChildPool("The offline judge", setup=tasks.load_models, limits=limits, idle_seconds=idle_seconds)

    async def judge(self, frames: Sequence[bytes]) -> Sequence[FrameJudgement]:
        return await self.pool.run(tasks.judge, tuple(frames))

    async def close(self) -> None:
        await self.pool.close()
