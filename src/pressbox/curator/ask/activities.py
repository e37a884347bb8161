"""Activities that answer a question: find passages, then have a model write while the page watches."""

import secrets
import time
from functools import partial

from temporalio import activity

from pressbox.core.clock import Clock, utc_now
from pressbox.core.errors import PermanentError, UnusableAnswerError
from pressbox.core.models.client import PaidModel, Question, Reply
from pressbox.core.temporal.calls import call_with
from pressbox.core.temporal.heartbeat import Heartbeat
from pressbox.core.temporal.options import BOUNDED, QUICK
from pressbox.curator.ask.contracts import (
    AnswerInput,
    EndAnswerInput,
    RetrievedPassages,
    WrittenAnswer,
)
from pressbox.curator.ask.domain import AnswerMethod, AnswerState, AnswerTask, Ending, checked
from pressbox.curator.ask.ports import Answers
from pressbox.curator.ask.prompt import (
    MOST_TOKENS,
    PROMPT_VERSION,
    content_hash,
    earlier_questions,
    instructions,
    material,
)
from pressbox.curator.library.contracts import heavy_queue
from pressbox.curator.models.domain import trace_id
from pressbox.curator.models.ports import Feature
from pressbox.curator.models.waiting import LONGEST_REASON, UNAVAILABLE, retry_later
from pressbox.curator.search.domain.passages import Passage
from pressbox.curator.search.domain.query import expand_follow_up
from pressbox.curator.search.ports import Retriever
from pressbox.curator.text.plain_text import shorten

PASSAGES = 8
# Often enough to look alive; each save is a transaction, and a request from every page that watches.
BETWEEN_SAVES_SECONDS = 0.3
UNUSABLE = "The model gave no usable answer ({reason}). These are the passages it was given."
GONE = WrittenAnswer(state=AnswerState.STOPPED)


class _NotWantedError(Exception):
    """The question was stopped or deleted while its answer was written."""


class AnswerActivities:
    """Without a `model` the passages are the answer."""

    def __init__(
        self, answers: Answers, retriever: Retriever, model: PaidModel | None = None, now: Clock = utc_now
    ) -> None:
        self._answers = answers
        self._retriever = retriever
        self._model = model
        self._now = now

    @activity.defn
    @call_with(BOUNDED, queue=heavy_queue)
    async def retrieve_passages(self, input: AnswerInput) -> RetrievedPassages:
        """Find passages once: another attempt, or a wait for the model, keeps what was found."""
        task = await self._answers.load_task(input.answer_id)
        if task is None or not task.state.is_open:
            return RetrievedPassages(state=AnswerState.STOPPED)
        if task.passages:
            return RetrievedPassages(count=len(task.passages))
        async with Heartbeat():
            try:
                found = await self._find_passages(task)
            except PermanentError as error:
                # The entry is gone, or in none of the person's feeds any more.
                return await self._finish_search(task, Ending(AnswerState.FAILED, reason=error.message))
        if not found:
            return await self._finish_search(task, Ending(AnswerState.DONE, AnswerMethod.PASSAGES))
        wanted = await self._answers.save_passages(task.answer_id, found)
        return RetrievedPassages(count=len(found), state=AnswerState.SEARCHING if wanted else AnswerState.STOPPED)

    @activity.defn
    @call_with(BOUNDED, queue=heavy_queue)
    async def write_answer(self, input: AnswerInput) -> WrittenAnswer:
        task = await self._answers.load_task(input.answer_id)
        if task is None or not task.state.is_open:
            return GONE
        if self._model is None:
            return await self._finish(task, Ending(AnswerState.DONE, AnswerMethod.PASSAGES))
        async with Heartbeat():
            try:
                reply = await self._ask(self._model, task)
            except _NotWantedError:
                return GONE
            except UnusableAnswerError as error:
                reason = UNUSABLE.format(reason=shorten(error.message.rstrip("."), LONGEST_REASON))
                return await self._finish(task, Ending(AnswerState.FAILED, reason=reason))
            except UNAVAILABLE as error:
                retry_at, reason = retry_later(error, input.policy, self._now())
                if not await self._answers.wait(task.answer_id, reason):
                    return GONE
                return WrittenAnswer(state=AnswerState.WAITING, retry_at=retry_at, reason=reason)
        ending = Ending(
            AnswerState.DONE,
            AnswerMethod.MODEL,
            checked(reply.text, len(task.passages)),
            model=reply.model,
            prompt_version=PROMPT_VERSION,
            trace_id=trace_id("answer", task.answer_id),
        )
        return await self._finish(task, ending)

    @activity.defn
    @call_with(QUICK)
    async def end_answer(self, input: EndAnswerInput) -> None:
        """Record that the work failed for good."""
        await self._answers.finish(input.answer_id, Ending(AnswerState.FAILED, reason=input.reason), self._now())

    async def _find_passages(self, task: AnswerTask) -> tuple[Passage, ...]:
        words = expand_follow_up(task.question, earlier_questions(task.turns))
        return tuple(await self._retriever.find(task.user_id, words, entry_id=task.entry_id, limit=PASSAGES))

    async def _ask(self, model: PaidModel, task: AnswerTask) -> Reply:
        mark = secrets.token_hex(8)
        saved_at = 0.0

        async def keep(text: str) -> None:
            nonlocal saved_at
            if time.monotonic() - saved_at < BETWEEN_SAVES_SECONDS:
                return
            if not await self._answers.save_text(task.answer_id, checked(text, len(task.passages))):
                raise _NotWantedError
            saved_at = time.monotonic()

        question = Question(
            feature=Feature.ANSWER,
            prompt_version=PROMPT_VERSION,
            content_hash=content_hash(task),
            instructions=instructions(mark),
            material=material(task, mark),
            most_tokens=MOST_TOKENS,
            entry_id=task.entry_id,
            feed_id=task.passages[0].feed_id if task.entry_id is not None and task.passages else None,
            fit=partial(material, task, mark),
        )
        return await model.ask(question, usable=lambda said: bool(checked(said, len(task.passages))), on_text=keep)

    async def _finish_search(self, task: AnswerTask, ending: Ending) -> RetrievedPassages:
        await self._answers.finish(task.answer_id, ending, self._now())
        return RetrievedPassages(state=ending.state)

    async def _finish(self, task: AnswerTask, ending: Ending) -> WrittenAnswer:
        if not await self._answers.finish(task.answer_id, ending, self._now()):
            return GONE
        return WrittenAnswer(state=ending.state, method=ending.method, trace_id=ending.trace_id)
