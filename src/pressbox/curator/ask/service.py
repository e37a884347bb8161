"""Questions about one entry or about everything a person reads, and the work on their answers."""

from collections.abc import Sequence

from temporalio.client import Client

from pressbox.core.clock import Clock, utc_now
from pressbox.core.errors import InvalidInputError, NotFoundError, TransientError
from pressbox.core.temporal.client import translate_rpc_errors
from pressbox.curator.ask.activities import AnswerWorkflows
from pressbox.curator.ask.contracts import ANSWER, AnswerInput, answer_workflow_id
from pressbox.curator.ask.domain import (
    LONGEST_TITLE,
    AnswerState,
    AnswerView,
    ConversationLine,
    ConversationView,
    Ending,
)
from pressbox.curator.ask.store import SqlAnswers, SqlConversations
from pressbox.curator.library.domain import CuratorPolicy
from pressbox.curator.library.starter import RPC_TIMEOUT, SOMEBODY_WAITS, Starter
from pressbox.curator.search.domain.query import LONGEST_QUESTION

HISTORY = 50
MOST_HISTORY = 200
# As far as the database counts the characters of a text.
LAST_PLACE = 2**31 - 1
LONGEST_PASSAGE = 20_000


class AskService:
    """`has_model` says whether a model writes answers; otherwise the passages are the answer."""

    def __init__(
        self,
        conversations: SqlConversations,
        answers: SqlAnswers,
        workflows: AnswerWorkflows,
        *,
        has_model: bool,
        now: Clock = utc_now,
    ) -> None:
        self._conversations = conversations
        self._answers = answers
        self._workflows = workflows
        self.has_model = has_model
        self._now = now

    async def ask(
        self, user_id: int, question: str, *, conversation_id: int | None = None, entry_id: int | None = None
    ) -> AnswerView:
        """Store a question and start the work on it. A conversation about one entry stays about it."""
        answer = await self._conversations.add_question(
            user_id, _check_question(question), self._now(), conversation_id=conversation_id, entry_id=entry_id
        )
        return await self._start(user_id, answer)

    async def again(self, user_id: int, answer_id: int) -> AnswerView:
        """Ask once more what failed or was stopped."""
        return await self._start(user_id, await self._conversations.reset_answer(user_id, answer_id))

    async def answer(self, user_id: int, answer_id: int) -> AnswerView:
        return await self._conversations.load_answer(user_id, answer_id)

    async def history(self, user_id: int, *, limit: int = HISTORY) -> Sequence[ConversationLine]:
        return await self._conversations.list_lines(user_id, max(1, min(limit, MOST_HISTORY)))

    async def conversation(self, user_id: int, conversation_id: int) -> ConversationView:
        return await self._conversations.load(user_id, conversation_id)

    async def rename(self, user_id: int, conversation_id: int, title: str) -> None:
        name = " ".join(title.split())
        if not name or len(name) > LONGEST_TITLE:
            raise InvalidInputError(f"A name has 1 to {LONGEST_TITLE} characters.", field="title")
        await self._conversations.rename(user_id, conversation_id, name)

    async def delete(self, user_id: int, conversation_id: int) -> None:
        for answer_id in await self._conversations.delete(user_id, conversation_id):
            await self._cancel(answer_id)

    async def stop(self, user_id: int, answer_id: int) -> AnswerView:
        """Stop the work on an answer; what was written so far stays."""
        if await self._conversations.stop(user_id, answer_id, self._now()):
            await self._cancel(answer_id)
        return await self._conversations.load_answer(user_id, answer_id)

    async def passage(
        self, user_id: int, entry_id: int, start: int, end: int, cited: tuple[int, int] | None = None
    ) -> str:
        """The passage behind a citation: as the answer quotes it, else what the article says there now."""
        if cited is not None:
            answer_id, number = cited
            passages = (await self._conversations.load_answer(user_id, answer_id)).passages
            if 1 <= number <= len(passages) and passages[number - 1].entry_id == entry_id:
                return passages[number - 1].text
        if not 0 <= start < end <= min(start + LONGEST_PASSAGE, LAST_PLACE):
            return ""
        return await self._conversations.load_excerpt(user_id, entry_id, start, end)

    async def _start(self, user_id: int, answer: AnswerView) -> AnswerView:
        try:
            await self._workflows.start_answer(answer.id)
        except TransientError as error:
            # The question is stored, and can be asked again with one click.
            await self._answers.finish(answer.id, Ending(AnswerState.FAILED, reason=error.message), self._now())
            return await self._conversations.load_answer(user_id, answer.id)
        return answer

    async def _cancel(self, answer_id: int) -> None:
        try:
            await self._workflows.stop_answer(answer_id)
        except TransientError:
            # Its state already says that nobody wants it: the next step of the workflow sees that, and ends.
            return


class AnswerStarter(Starter):
    """Starts and stops AnswerWorkflows. With `evaluate` a model's answer is judged afterwards."""

    def __init__(self, client: Client, task_queue: str, policy: CuratorPolicy, *, evaluate: bool) -> None:
        super().__init__(client, task_queue, policy)
        self._evaluate = evaluate

    async def start_answer(self, answer_id: int) -> str:
        input = AnswerInput(answer_id=answer_id, evaluate=self._evaluate, policy=self._policy)
        return await self.start(ANSWER, input, answer_workflow_id(answer_id), priority=SOMEBODY_WAITS)

    async def stop_answer(self, answer_id: int) -> None:
        handle = self._client.get_workflow_handle(answer_workflow_id(answer_id))
        try:
            with translate_rpc_errors(missing="It is not running any more."):
                await handle.cancel(rpc_timeout=RPC_TIMEOUT)
        except NotFoundError:
            # It ended by itself a moment ago.
            return


def _check_question(question: str) -> str:
    said = question.strip()
    if not said:
        raise InvalidInputError("Type a question.", field="question")
    if len(said) > LONGEST_QUESTION:
        raise InvalidInputError(f"A question has at most {LONGEST_QUESTION:,} characters.", field="question")
    return said
