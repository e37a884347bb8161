"""Asking: questions over one entry or over everything a person reads, their answers, and the history of both."""

from collections.abc import Callable, Sequence
from datetime import UTC, datetime

from pressbox.core.errors import InvalidInputError, TransientError
from pressbox.curator.ask.domain.answers import (
    LONGEST_TITLE,
    AnswerState,
    AnswerView,
    ConversationLine,
    ConversationView,
    Ending,
)
from pressbox.curator.ask.ports import AnswerDesk, AnswerWorkflows, Conversations
from pressbox.curator.search.domain.questions import LONGEST_QUESTION

HISTORY = 50
MOST_HISTORY = 200
LONGEST_PASSAGE = 20_000


class AskService:
    """`has_model` says whether somebody writes answers, or passages are all there is."""

    def __init__(
        self,
        conversations: Conversations,
        desk: AnswerDesk,
        workflows: AnswerWorkflows,
        *,
        has_model: bool,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self._conversations = conversations
        self._desk = desk
        self._workflows = workflows
        self.has_model = has_model
        self._now = now

    async def ask(
        self, user_id: int, question: str, *, conversation_id: int | None = None, entry_id: int | None = None
    ) -> AnswerView:
        """The answer as it is now, which is still empty. A conversation over one entry stays over it."""
        answer = await self._conversations.ask(
            user_id, _checked(question), self._now(), conversation_id=conversation_id, entry_id=entry_id
        )
        return await self._begun(user_id, answer)

    async def again(self, user_id: int, answer_id: int) -> AnswerView:
        """After it failed or was stopped."""
        return await self._begun(user_id, await self._conversations.ask_again(user_id, answer_id))

    async def answer(self, user_id: int, answer_id: int) -> AnswerView:
        return await self._conversations.answer(user_id, answer_id)

    async def history(self, user_id: int, *, limit: int = HISTORY) -> Sequence[ConversationLine]:
        return await self._conversations.all(user_id, max(1, min(limit, MOST_HISTORY)))

    async def conversation(self, user_id: int, conversation_id: int) -> ConversationView:
        return await self._conversations.one(user_id, conversation_id)

    async def rename(self, user_id: int, conversation_id: int, title: str) -> None:
        name = " ".join(title.split())
        if not name or len(name) > LONGEST_TITLE:
            raise InvalidInputError(f"A name has 1 to {LONGEST_TITLE} characters.", field="title")
        await self._conversations.rename(user_id, conversation_id, name)

    async def delete(self, user_id: int, conversation_id: int) -> None:
        for answer_id in await self._conversations.delete(user_id, conversation_id):
            await self._cancelled(answer_id)

    async def stop(self, user_id: int, answer_id: int) -> AnswerView:
        """What was written so far stays."""
        if await self._conversations.stop(user_id, answer_id, self._now()):
            await self._cancelled(answer_id)
        return await self._conversations.answer(user_id, answer_id)

    async def passage(
        self, user_id: int, entry_id: int, start: int, end: int, cited: tuple[int, int] | None = None
    ) -> str:
        """The passage that a citation means: as the answer quotes it, else what stands there now."""
        if cited is not None:
            answer_id, number = cited
            passages = (await self._conversations.answer(user_id, answer_id)).passages
            if 1 <= number <= len(passages) and passages[number - 1].entry_id == entry_id:
                return passages[number - 1].text
        if not 0 <= start < end <= start + LONGEST_PASSAGE:
            return ""
        return await self._conversations.excerpt(user_id, entry_id, start, end)

    async def _begun(self, user_id: int, answer: AnswerView) -> AnswerView:
        try:
            await self._workflows.start_answer(answer.id)
        except TransientError as error:
            # The question is kept, and can be asked again with one press.
            await self._desk.end(answer.id, Ending(AnswerState.FAILED, reason=error.message), self._now())
            return await self._conversations.answer(user_id, answer.id)
        return answer

    async def _cancelled(self, answer_id: int) -> None:
        try:
            await self._workflows.stop_answer(answer_id)
        except TransientError:
            # Its state says already that nobody waits for it: its next step sees that, and ends.
            return


def _checked(question: str) -> str:
    said = question.strip()
    if not said:
        raise InvalidInputError("Ask something.", field="question")
    if len(said) > LONGEST_QUESTION:
        raise InvalidInputError(f"A question has at most {LONGEST_QUESTION:,} characters.", field="question")
    return said
