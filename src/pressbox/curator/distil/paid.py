"""Summaries by a model, each text paid for once, whichever feed it came with."""

import json
from collections.abc import Mapping, Sequence

from temporalio import activity

from pressbox.core.errors import ConfigurationError, PermanentError
from pressbox.curator.distil.ports import Distiller
from pressbox.curator.library.domain.entries import Distilled, ToDistil
from pressbox.curator.library.domain.policy import CuratorPolicy
from pressbox.curator.models.domain import Prices, estimate_tokens
from pressbox.curator.models.pay_once import PayOnce
from pressbox.curator.models.ports import Feature, Order, PaidAnswer, PaidCall
from pressbox.curator.text.plain_text import SUMMARY_BYTES, shorten

# The most that one article takes: of its text, and for its summary.
LONGEST_READ, SUMMARY_TOKENS = 16_000, 700


class PaidDistiller:
    """Raises one of `models.waiting.UNAVAILABLE` while the model or the budget is not available."""

    def __init__(self, model: Distiller, pay_once: PayOnce, prices: Prices | None = None) -> None:
        self._model = model
        self._pay_once = pay_once
        self._prices = prices or Prices()

    async def distil(self, entries: Sequence[ToDistil], policy: CuratorPolicy) -> list[Distilled]:
        """Return the usable summaries."""
        orders = {entry.entry_id: self._order(entry, policy) for entry in entries}
        by_id = {entry.entry_id: entry for entry in entries}

        async def ask(wanted: Sequence[Order]) -> Mapping[PaidCall, PaidAnswer]:
            calls = {order.call.entry_id: order.call for order in wanted}
            summaries = await self._ask([by_id[entry_id] for entry_id in calls if entry_id is not None], policy)
            return {calls[summary.entry_id]: self._answer(summary) for summary in summaries}

        answers = await self._pay_once.buy(tuple(orders.values()), ask)
        bought = [(entry, answers.get(orders[entry.entry_id].call)) for entry in entries]
        return [self._read(answer, entry, policy) for entry, answer in bought if answer is not None and answer.usable]

    async def _ask(self, entries: Sequence[ToDistil], policy: CuratorPolicy) -> list[Distilled]:
        """When the model refuses a batch, ask about each text alone: only the one that it refuses has no summary."""
        try:
            summaries = await self._model.distil(entries, policy.target_language, policy.summary_sentences)
        except ConfigurationError:
            raise
        except PermanentError as error:
            if len(entries) > 1:
                return [summary for entry in entries for summary in await self._ask([entry], policy)]
            activity.logger.warning("Entry %s cannot be summarised: %s", entries[0].entry_id, error.message)
            return []
        wanted = {entry.entry_id for entry in entries}
        return [summary for summary in summaries if summary.entry_id in wanted]

    def _order(self, entry: ToDistil, policy: CuratorPolicy) -> Order:
        tokens_in = estimate_tokens(entry.text[:LONGEST_READ])
        version = self._version(policy)
        call = PaidCall(entry.content_hash, version, self._model.name, Feature.DISTIL, entry.entry_id, None)
        return Order(call, tokens_in, SUMMARY_TOKENS, self._prices.cost(tokens_in))

    def _version(self, policy: CuratorPolicy) -> str:
        # A summary in another language is another piece of work.
        return f"{self._model.prompt_version}-{policy.target_language or 'same'}"

    def _answer(self, summary: Distilled) -> PaidAnswer:
        text = json.dumps(
            {
                "summary": shorten(summary.summary, SUMMARY_BYTES),
                "start": summary.main_content_start_line,
                "end": summary.main_content_end_line,
                "language": summary.language,
            },
            ensure_ascii=False,
        )
        cost = self._prices.cost(summary.tokens_in, summary.tokens_out)
        return PaidAnswer(text, summary.tokens_in, summary.tokens_out, cost, summary.usable)

    def _read(self, answer: PaidAnswer, entry: ToDistil, policy: CuratorPolicy) -> Distilled:
        found = json.loads(answer.text)
        return Distilled(
            entry_id=entry.entry_id,
            summary=found["summary"],
            main_content_start_line=found["start"],
            main_content_end_line=found["end"],
            language=found["language"],
            model=self._model.name,
            prompt_version=self._version(policy),
            content_hash=entry.content_hash,
        )
