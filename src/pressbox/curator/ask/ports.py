"""Where questions and answers are kept, and who begins the work on one."""

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol

from pressbox.curator.ask.domain.answers import AnswerTask, AnswerView, ConversationLine, ConversationView, Ending
from pressbox.curator.search.domain.retrieval import Passage


class AnswerDesk(Protocol):
    """What answering writes. Each method is one transaction; False says that nobody waits for this answer any more."""

    async def task(self, answer_id: int) -> AnswerTask | None: ...

    async def put_passages(self, answer_id: int, passages: Sequence[Passage]) -> bool: ...

    async def put_text(self, answer_id: int, text: str) -> bool:
        """All of the text so far."""
        ...

    async def hold(self, answer_id: int, reason: str) -> bool:
        """It waits for somebody who is away; what was written of it is void."""
        ...

    async def end(self, answer_id: int, ending: Ending, now: datetime) -> bool: ...


class Conversations(Protocol):
    """A person's own; those of others are a NotFoundError."""

    async def ask(
        self, user_id: int, question: str, now: datetime, *, conversation_id: int | None, entry_id: int | None
    ) -> AnswerView: ...

    async def ask_again(self, user_id: int, answer_id: int) -> AnswerView:
        """From its beginning. A ConflictError while it is at work."""
        ...

    async def answer(self, user_id: int, answer_id: int) -> AnswerView: ...

    async def all(self, user_id: int, limit: int) -> Sequence[ConversationLine]:
        """The newest first."""
        ...

    async def one(self, user_id: int, conversation_id: int) -> ConversationView: ...

    async def rename(self, user_id: int, conversation_id: int, title: str) -> None: ...

    async def delete(self, user_id: int, conversation_id: int) -> Sequence[int]:
        """The answers in it that somebody was still at work on."""
        ...

    async def stop(self, user_id: int, answer_id: int, now: datetime) -> bool:
        """False when it had ended already."""
        ...

    async def excerpt(self, user_id: int, entry_id: int, start: int, end: int) -> str:
        """What stands between two places of the text of an entry that the person may see."""
        ...


class AnswerWorkflows(Protocol):
    async def start_answer(self, answer_id: int) -> str: ...

    async def stop_answer(self, answer_id: int) -> None:
        """Also when none runs."""
        ...
