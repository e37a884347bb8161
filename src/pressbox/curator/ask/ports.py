"""What answering a question needs: where the answer is written, and who works on it."""

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol

from pressbox.curator.ask.domain import AnswerTask, Ending
from pressbox.curator.search.domain.passages import Passage


class Answers(Protocol):
    """Answers while they are written. A method is one transaction; False means that nobody wants this answer."""

    async def load_task(self, answer_id: int) -> AnswerTask | None: ...

    async def save_passages(self, answer_id: int, passages: Sequence[Passage]) -> bool: ...

    async def save_text(self, answer_id: int, text: str) -> bool:
        """Replace the text by all of it so far."""
        ...

    async def wait(self, answer_id: int, reason: str) -> bool:
        """Mark it as waiting for a model; what was written of it is dropped."""
        ...

    async def finish(self, answer_id: int, ending: Ending, now: datetime) -> bool: ...


class AnswerWorkflows(Protocol):
    async def start_answer(self, answer_id: int) -> str: ...

    async def stop_answer(self, answer_id: int) -> None:
        """Does nothing when none runs."""
        ...
