"""The judge that needs no network and no key: it looks for a pitch and reads the clock, in a process of its own."""

from collections.abc import Sequence
from datetime import timedelta

from pressbox.core.children import IDLE_SECONDS, Child
from pressbox.core.errors import InvalidInputError
from pressbox.footy.adapters.judges.messages import Opinion, Question
from pressbox.footy.domain.judging import FrameJudgement

CHILD_MODULE = "pressbox.footy.adapters.judges.child"
# Three frames take a second on a quiet machine; beside many others, much longer.
LONGEST_LOOK = timedelta(seconds=60)


class OfflineJudge:
    """One clip at a time: the models are loaded once per worker, at first use, and let go when idle.

    The frames are pictures that we made ourselves, so the process needs no limits of its own.
    """

    name = "offline"

    def __init__(self, *, idle_seconds: float = IDLE_SECONDS, longest_look: timedelta = LONGEST_LOOK) -> None:
        self.child = Child("The offline judge", CHILD_MODULE, longest_look, idle_seconds=idle_seconds)

    async def judge(self, frames: Sequence[bytes]) -> Sequence[FrameJudgement]:
        question = Question(lengths=tuple(len(frame) for frame in frames))
        said = await self.child.ask(question.model_dump_json().encode() + b"\n" + b"".join(frames))
        opinion = Opinion.model_validate_json(said)
        if opinion.unreadable:
            raise InvalidInputError(opinion.unreadable, field="clip")
        return opinion.judgements

    async def close(self) -> None:
        await self.child.close()
