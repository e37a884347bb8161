"""The effects of distilling: summaries by a model that may be away, paid for once, or by rules that cost nothing."""

import asyncio
import json
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta

from temporalio import activity

from pressbox.core.clock import Clock, utc_now
from pressbox.core.errors import ConfigurationError, PermanentError, PressboxError, RateLimitedError, TransientError
from pressbox.core.temporal.calls import call_with
from pressbox.core.temporal.heartbeat import Heartbeat
from pressbox.core.temporal.options import QUICK
from pressbox.curator.distil.contracts import (
    DistilledAnswer,
    DistilledBatch,
    DistilSelection,
    EntryIds,
    SavedEntries,
    SaveDistilledInput,
    SelectForDistillationInput,
    distil_claim,
)
from pressbox.curator.distil.ports import Distiller, DistilStore
from pressbox.curator.library.call_options import BOUNDED
from pressbox.curator.library.contracts import EntryProgressState, heavy_queue
from pressbox.curator.library.domain.entries import Distilled, EntryStatus, ToDistil
from pressbox.curator.library.domain.policy import CuratorPolicy
from pressbox.curator.models.budget import Budget, recorded
from pressbox.curator.models.domain import Prices, estimate_tokens
from pressbox.curator.models.ports import Claims, ModelLedger, PaidCall, paid_claim
from pressbox.curator.text.bounds import SUMMARY_BYTES, shortened

LONGEST_REASON = 300
# Longer than one batch may take, so that a claim never lapses while its work goes on.
CLAIMED_FOR = timedelta(minutes=35)
FEATURE = "distil"
TRIES = 3
# What one article takes at most: of its text, and for its summary.
LONGEST_READ, SUMMARY_TOKENS = 16_000, 700
UNUSABLE = "No summary could be made of this text."
ASKED_ELSEWHERE = "The model is being asked about the same text for another feed."
# How long one waits for the answer that another is paying for.
PATIENCE = timedelta(minutes=2)
BETWEEN_LOOKS_SECONDS = 0.5


class _WaitingError(Exception):
    """No model for now; the work stays as it is until `retry_at`."""

    def __init__(self, reason: str, retry_at: datetime) -> None:
        super().__init__(reason)
        self.retry_at = retry_at


class DistilActivities:
    """With a `ledger` the distiller is paid: every answer is kept, and none is asked for twice.

    `fallback` does what the model cannot do now, when that is wanted. Without `tokens_per_day` the budget is that of
    the policy with which the work began.
    """

    def __init__(
        self,
        entries: DistilStore,
        claims: Claims,
        distiller: Distiller,
        ledger: ModelLedger | None = None,
        fallback: Distiller | None = None,
        prices: Prices | None = None,
        now: Clock = utc_now,
        tokens_per_day: int | None = None,
    ) -> None:
        self._entries = entries
        self._claims = claims
        self._distiller = distiller
        self._ledger = ledger
        self._fallback = fallback
        self._prices = prices or Prices()
        self._now = now
        self._tokens_per_day = tokens_per_day

    @activity.defn
    @call_with(QUICK)
    async def get_entries_for_distillation(self, input: SelectForDistillationInput) -> DistilSelection:
        found = await self._entries.select_for_distillation(
            input.entry_ids, input.after_entry_id, input.limit, feed_id=input.feed_id
        )
        entries = (entry.model_copy(update={"title": shortened(entry.title)}) for entry in found.entries)
        return found.model_copy(update={"entries": tuple(entries)})

    @activity.defn
    @call_with(BOUNDED, queue=heavy_queue)
    async def distill_entry_content(self, input: EntryIds) -> DistilledBatch:
        """What somebody else is distilling right now is left out: he finishes it, or the next run finds it again."""
        owner, now = _owner(), self._now()
        keys = {distil_claim(entry_id): entry_id for entry_id in input.entry_ids}
        mine = await self._claims.take(tuple(keys), owner, now + CLAIMED_FOR, now)
        async with Heartbeat():
            waiting = await self._entries.to_distil([keys[key] for key in keys if key in mine])
            try:
                answers = await self._answers(waiting, input.policy)
            except _WaitingError as error:
                await self._claims.release(tuple(mine), owner)
                return DistilledBatch(
                    waiting=tuple(entry.entry_id for entry in waiting),
                    retry_at=error.retry_at,
                    reason=shortened(str(error), LONGEST_REASON),
                )
        answered = {answer.entry_id for answer in answers}
        unanswered = [entry for entry in waiting if entry.entry_id not in answered]
        return DistilledBatch(
            answers=tuple(_as_message(answer) for answer in answers),
            failed=tuple(_failed(entry.entry_id, entry.title, UNUSABLE) for entry in unanswered),
        )

    @activity.defn
    @call_with(QUICK)
    async def save_distilled_entries(self, input: SaveDistilledInput) -> SavedEntries:
        now = self._now()
        saved = await self._entries.save_distilled([_as_distilled(answer) for answer in input.answers], now)
        for entry in input.failed:
            await self._entries.note_distil_failure(entry.entry_id, entry.error, now)
        done = [answer.entry_id for answer in input.answers] + [entry.entry_id for entry in input.failed]
        keys = [distil_claim(entry_id) for entry_id in done]
        await self._claims.release(keys, _owner())
        return SavedEntries(entry_ids=tuple(saved))

    async def _answers(self, entries: Sequence[ToDistil], policy: CuratorPolicy) -> Sequence[Distilled]:
        if not entries:
            return ()
        if self._ledger is None:
            return await self._ask(self._distiller, entries, policy)
        try:
            return [answer for answer in await self._paid(self._ledger, entries, policy) if answer.usable]
        except _WaitingError:
            if self._fallback is None:
                raise
            return await self._ask(self._fallback, entries, policy)

    async def _paid(self, ledger: ModelLedger, entries: Sequence[ToDistil], policy: CuratorPolicy) -> list[Distilled]:
        """The same text comes with several feeds at a time: whoever is first pays, the others wait for his answer."""
        owner, patient_until = f"{_owner()}/{activity.info().activity_id}", self._now() + PATIENCE
        answers, left = [], {entry.entry_id: (entry, self._call(entry, policy)) for entry in entries}
        while left:
            now = self._now()
            keys = tuple({_claim(call) for _, call in left.values()})
            mine = await self._claims.take(keys, owner, now + CLAIMED_FOR, now)
            try:
                answers += await self._bought_before(ledger, left)
                own = [(entry, call) for entry, call in left.values() if _claim(call) in mine]
                answers += await self._bought(ledger, own, policy)
            finally:
                await self._claims.release(tuple(mine), owner)
            for entry, _ in own:
                del left[entry.entry_id]
            if left and self._now() > patient_until:
                raise _WaitingError(ASKED_ELSEWHERE, self._now() + policy.model_pause)
            if left:
                await asyncio.sleep(BETWEEN_LOOKS_SECONDS)
        return answers

    async def _bought_before(self, ledger: ModelLedger, left: dict[int, tuple[ToDistil, PaidCall]]) -> list[Distilled]:
        """Answers that are in the ledger; their entries are no longer left."""
        answers = []
        for entry, call in list(left.values()):
            known = await ledger.known(call)
            if known is not None:
                answers.append(_read_answer(known, entry, call))
                del left[entry.entry_id]
        return answers

    async def _bought(
        self, ledger: ModelLedger, wanted: Sequence[tuple[ToDistil, PaidCall]], policy: CuratorPolicy
    ) -> list[Distilled]:
        if not wanted:
            return []
        calls = {entry.entry_id: call for entry, call in wanted}
        reserved = await self._set_aside(ledger, wanted, policy)
        try:
            answers = await self._ask(self._distiller, [entry for entry, _ in wanted], policy)
        # Reason: whatever went wrong, the tokens are for others again; only a worker that dies leaves them behind.
        except Exception:
            await ledger.free(tuple(reserved.values()))
            raise
        for answer in answers:
            await self._record(ledger, calls[answer.entry_id], answer, reserved.pop(answer.entry_id, None))
        await ledger.free(tuple(reserved.values()))
        return answers

    async def _set_aside(
        self, ledger: ModelLedger, wanted: Sequence[tuple[ToDistil, PaidCall]], policy: CuratorPolicy
    ) -> dict[int, int]:
        """Of the budget, by entry."""
        per_day = policy.tokens_per_day if self._tokens_per_day is None else self._tokens_per_day
        expected = [(call, estimate_tokens(entry.text[:LONGEST_READ]), SUMMARY_TOKENS) for entry, call in wanted]
        try:
            numbers = await Budget(ledger, per_day, self._prices, self._now).set_aside(expected)
        except RateLimitedError as error:
            raise _WaitingError(error.message, self._now() + (error.retry_after or policy.model_pause)) from error
        return {entry.entry_id: number for (entry, _), number in zip(wanted, numbers, strict=True)}

    async def _record(self, ledger: ModelLedger, call: PaidCall, answer: Distilled, reserved: int | None) -> None:
        cost, written = self._prices.cost(answer.tokens_in, answer.tokens_out), _written_answer(answer)
        await recorded(
            lambda: ledger.record(
                call,
                written,
                answer.tokens_in,
                answer.tokens_out,
                cost,
                self._now(),
                usable=answer.usable,
                reserved=reserved,
            )
        )

    async def _ask(self, distiller: Distiller, entries: Sequence[ToDistil], policy: CuratorPolicy) -> list[Distilled]:
        try:
            answers = await distiller.distil(entries, policy.target_language, policy.summary_sentences)
        except RateLimitedError as error:
            raise _WaitingError(error.message, self._now() + (error.retry_after or policy.model_pause)) from error
        except ConfigurationError as error:
            # A wrong key is for a person to mend: meanwhile nothing is lost, and the reason is seen.
            raise _WaitingError(error.message, self._now() + policy.model_pause) from error
        except TransientError as error:
            if self._ledger is not None and distiller is self._distiller:
                raise _WaitingError(error.message, self._now() + policy.model_pause) from error
            return await self._one_by_one(distiller, entries, policy, error)
        except PermanentError as error:
            return await self._one_by_one(distiller, entries, policy, error)
        hashes = {entry.entry_id: entry.content_hash for entry in entries}
        return [
            replace(answer, summary=shortened(answer.summary, SUMMARY_BYTES), content_hash=hashes[answer.entry_id])
            for answer in answers
            if answer.entry_id in hashes
        ]

    async def _one_by_one(
        self, distiller: Distiller, entries: Sequence[ToDistil], policy: CuratorPolicy, error: PressboxError
    ) -> list[Distilled]:
        """One text breaks the batch: the others are done without it, and it has no answer after some tries."""
        if len(entries) > 1:
            return [answer for entry in entries for answer in await self._ask(distiller, [entry], policy)]
        if isinstance(error, TransientError) and activity.info().attempt < TRIES:
            raise error
        activity.logger.warning("Entry %s cannot be summarised: %s", entries[0].entry_id, error.message)
        return []

    def _call(self, entry: ToDistil, policy: CuratorPolicy) -> PaidCall:
        # A summary in another language is another piece of work.
        version = f"{self._distiller.prompt_version}-{policy.target_language or 'same'}"
        return PaidCall(entry.content_hash, version, self._distiller.name, FEATURE, entry.entry_id, None)


def _owner() -> str:
    """The workflow: another attempt of its activity goes on with what is its own."""
    return activity.info().workflow_id or ""


def _claim(call: PaidCall) -> str:
    return paid_claim(call.feature, call.content_hash, call.prompt_version, call.model)


def _failed(entry_id: int, title: str, reason: str) -> EntryProgressState:
    return EntryProgressState(entry_id=entry_id, title=shortened(title), status=EntryStatus.ERROR, error=reason)


def _as_message(answer: Distilled) -> DistilledAnswer:
    return DistilledAnswer(
        entry_id=answer.entry_id,
        content_hash=answer.content_hash,
        summary=answer.summary,
        main_content_start_line=answer.main_content_start_line,
        main_content_end_line=answer.main_content_end_line,
        language=answer.language,
        model=answer.model,
        prompt_version=answer.prompt_version,
    )


def _as_distilled(answer: DistilledAnswer) -> Distilled:
    return Distilled(**answer.model_dump())


def _written_answer(answer: Distilled) -> str:
    return json.dumps(
        {
            "summary": answer.summary,
            "start": answer.main_content_start_line,
            "end": answer.main_content_end_line,
            "language": answer.language,
        },
        ensure_ascii=False,
    )


def _read_answer(text: str, entry: ToDistil, call: PaidCall) -> Distilled:
    known = json.loads(text)
    return Distilled(
        entry_id=entry.entry_id,
        summary=known["summary"],
        main_content_start_line=known["start"],
        main_content_end_line=known["end"],
        language=known["language"],
        model=call.model,
        prompt_version=call.prompt_version,
        content_hash=entry.content_hash,
    )
