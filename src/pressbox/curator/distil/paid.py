"""Summaries by a model, each text paid for once, whichever feed it came with. One request is about one text."""

import asyncio
import secrets
from collections.abc import Sequence
from dataclasses import dataclass

from pressbox.core.errors import AnswerLostError, PermanentError, PressboxError, UnusableAnswerError
from pressbox.core.models.client import PaidModel, Question
from pressbox.curator.distil.model import PROMPT_VERSION, AnswerForm, Material, Summary, instructions
from pressbox.curator.library.domain.entries import Distilled, ToDistil
from pressbox.curator.library.domain.policy import CuratorPolicy
from pressbox.curator.models.ports import Feature
from pressbox.curator.models.waiting import UNAVAILABLE
from pressbox.curator.text.plain_text import SUMMARY_BYTES, shorten

SUMMARY_TOKENS = 700
NO_FORM = "does not answer in the form that is asked for."


@dataclass(frozen=True)
class Attempt:
    """What became of one text: a summary, or why there is none. Without a summary, `unavailable` ones wait."""

    entry: ToDistil
    distilled: Distilled | None = None
    error: PressboxError | None = None

    @property
    def unavailable(self) -> bool:
        return isinstance(self.error, UNAVAILABLE)


class PaidDistiller:
    def __init__(self, model: PaidModel) -> None:
        self._model = model

    async def distil(self, entries: Sequence[ToDistil], policy: CuratorPolicy) -> Sequence[Attempt]:
        """Each text succeeds, fails or waits alone.

        When the model or the budget is not available for the first one, the others are not tried.
        """
        first = await self._attempt(entries[0], policy)
        others = entries[1:]
        if first.unavailable and not isinstance(first.error, AnswerLostError):
            return [first, *(Attempt(entry, error=first.error) for entry in others)]
        return [first, *await asyncio.gather(*(self._attempt(entry, policy) for entry in others))]

    async def _attempt(self, entry: ToDistil, policy: CuratorPolicy) -> Attempt:
        try:
            return Attempt(entry, await self._distil(entry, policy))
        except (*UNAVAILABLE, PermanentError) as error:
            return Attempt(entry, error=error)

    async def _distil(self, entry: ToDistil, policy: CuratorPolicy) -> Distilled:
        try:
            summary = await self._ask(entry, policy)
        except UnusableAnswerError:
            summary = await self._ask(entry, policy, again=True)
        return Distilled(
            entry_id=entry.entry_id,
            summary=shorten(summary.text, SUMMARY_BYTES),
            main_content_start_line=summary.start,
            main_content_end_line=summary.end,
            language=entry.language,
            model=self._model.name,
            prompt_version=_version(policy),
            content_hash=entry.content_hash,
        )

    async def _ask(self, entry: ToDistil, policy: CuratorPolicy, *, again: bool = False) -> Summary:
        mark = secrets.token_hex(8)
        material = Material(entry, mark)
        question = Question(
            feature=Feature.DISTIL,
            prompt_version=_version(policy),
            content_hash=entry.content_hash,
            instructions=instructions(policy.target_language, policy.summary_sentences, mark, again=again),
            material=material.text,
            most_tokens=SUMMARY_TOKENS,
            entry_id=entry.entry_id,
            feed_id=entry.feed_id,
            form=AnswerForm,
            fit=material.fit,
        )
        reply = await self._model.ask(question, usable=lambda said: material.read_summary(said) is not None)
        summary = material.read_summary(reply.text)
        if summary is None:
            raise UnusableAnswerError(f"{self._model.name} {NO_FORM}")
        return summary


def _version(policy: CuratorPolicy) -> str:
    # A summary in another language is another piece of work.
    return f"{PROMPT_VERSION}-{policy.target_language or 'same'}"
