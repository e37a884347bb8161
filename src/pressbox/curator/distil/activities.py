"""The effects of distilling: summaries by a model that is paid once for each text, or by rules that cost nothing."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta

from temporalio import activity

from pressbox.core.clock import Clock, utc_now
from pressbox.core.errors import PressboxError, TransientError
from pressbox.core.spending.ports import Claims
from pressbox.core.temporal.calls import call_with
from pressbox.core.temporal.heartbeat import Heartbeat
from pressbox.core.temporal.options import BOUNDED, QUICK
from pressbox.curator.distil.contracts import (
    AppSettings,
    DistilledAnswer,
    DistilledBatch,
    DistilSelection,
    SavedEntries,
    SaveDistilledInput,
    SelectForDistillationInput,
    distil_claim,
)
from pressbox.curator.distil.paid import PaidDistiller
from pressbox.curator.distil.ports import Distiller, DistilStore
from pressbox.curator.library.contracts import EntryIds, EntryProgressState, heavy_queue
from pressbox.curator.library.domain.entries import Distilled, EntryStatus, ToDistil
from pressbox.curator.library.domain.policy import CuratorPolicy
from pressbox.curator.models.waiting import LONGEST_REASON, retry_later
from pressbox.curator.text.plain_text import SUMMARY_BYTES, shorten

# Longer than one batch may take, so that a claim never lapses while its work goes on.
CLAIM_LIFETIME = timedelta(minutes=35)
OFFLINE_ATTEMPTS = 3
NO_SUMMARY = "No summary could be made of this text."


class SettingsActivities:
    """What workflows need to know of the settings."""

    def __init__(self, settings: AppSettings) -> None:
        self._settings = settings

    @activity.defn
    @call_with(QUICK)
    async def get_app_settings(self) -> AppSettings:
        return self._settings


class DistilActivities:
    """At least one of `paid` and `offline` is given. `offline` steps in while the paid model is unavailable."""

    def __init__(
        self,
        entries: DistilStore,
        claims: Claims,
        *,
        paid: PaidDistiller | None = None,
        offline: Distiller | None = None,
        now: Clock = utc_now,
    ) -> None:
        self._entries = entries
        self._claims = claims
        self._paid = paid
        self._offline = offline
        self._now = now

    @activity.defn
    @call_with(QUICK)
    async def get_entries_for_distillation(self, input: SelectForDistillationInput) -> DistilSelection:
        found = await self._entries.select_for_distillation(
            input.entry_ids, input.after_entry_id, input.limit, feed_id=input.feed_id
        )
        entries = (entry.model_copy(update={"title": shorten(entry.title)}) for entry in found.entries)
        return found.model_copy(update={"entries": tuple(entries)})

    @activity.defn
    @call_with(BOUNDED, queue=heavy_queue)
    async def distill_entry_content(self, input: EntryIds) -> DistilledBatch:
        """Skip entries that another run has claimed: it finishes them, or the next run finds them again."""
        owner, now = _owner(), self._now()
        keys = {distil_claim(entry_id): entry_id for entry_id in input.entry_ids}
        claimed = await self._claims.take(tuple(keys), owner, now + CLAIM_LIFETIME, now)
        async with Heartbeat():
            entries = await self._entries.to_distil([keys[key] for key in keys if key in claimed])
            if self._paid is None or not entries:
                return _batch(entries, await self._distil_offline(entries, input.policy))
            batch = await self._distil_paid(self._paid, entries, input.policy)
        await self._claims.release([distil_claim(entry_id) for entry_id in batch.waiting], owner)
        return batch

    @activity.defn
    @call_with(QUICK)
    async def save_distilled_entries(self, input: SaveDistilledInput) -> SavedEntries:
        now = self._now()
        saved = await self._entries.save_distilled([_as_distilled(answer) for answer in input.answers], now)
        for entry in input.failed:
            await self._entries.note_distil_failure(entry.entry_id, entry.error, now)
        done = [answer.entry_id for answer in input.answers] + [entry.entry_id for entry in input.failed]
        await self._claims.release([distil_claim(entry_id) for entry_id in done], _owner())
        return SavedEntries(entry_ids=tuple(saved))

    async def _distil_paid(
        self, paid: PaidDistiller, entries: Sequence[ToDistil], policy: CuratorPolicy
    ) -> DistilledBatch:
        attempts = await paid.distil(entries, policy)
        summaries = [attempt.distilled for attempt in attempts if attempt.distilled is not None]
        failed = [_failure(one.entry, one.error) for one in attempts if one.error and not one.unavailable]
        waiting = [one for one in attempts if one.error and one.unavailable]
        offline = DistilledBatch()
        if self._offline is not None and waiting:
            left = [attempt.entry for attempt in waiting]
            offline, waiting = _batch(left, await self._distil_offline(left, policy)), []
        pauses = [retry_later(one.error, policy, self._now()) for one in waiting if one.error]
        retry_at, reason = min(pauses, default=(None, ""))
        return DistilledBatch(
            answers=(*(_as_message(summary) for summary in summaries), *offline.answers),
            failed=(*failed, *offline.failed),
            waiting=tuple(attempt.entry.entry_id for attempt in waiting),
            retry_at=retry_at,
            reason=reason,
        )

    async def _distil_offline(self, entries: Sequence[ToDistil], policy: CuratorPolicy) -> list[Distilled]:
        """A text that breaks the batch fails alone, after some attempts; the others are done without it."""
        if self._offline is None or not entries:
            return []
        try:
            summaries = await self._offline.distil(entries, policy.target_language, policy.summary_sentences)
        except PressboxError as error:
            if len(entries) > 1:
                return [summary for entry in entries for summary in await self._distil_offline([entry], policy)]
            if isinstance(error, TransientError) and activity.info().attempt < OFFLINE_ATTEMPTS:
                raise
            activity.logger.warning("Entry %s cannot be summarised: %s", entries[0].entry_id, error.message)
            return []
        hashes = {entry.entry_id: entry.content_hash for entry in entries}
        return [
            replace(one, summary=shorten(one.summary, SUMMARY_BYTES), content_hash=hashes[one.entry_id])
            for one in summaries
            if one.entry_id in hashes
        ]


def _owner() -> str:
    """The workflow owns the claims: another attempt of its activity continues with them."""
    return activity.info().workflow_id or ""


def _batch(entries: Sequence[ToDistil], summaries: Sequence[Distilled]) -> DistilledBatch:
    done = {summary.entry_id for summary in summaries}
    return DistilledBatch(
        answers=tuple(_as_message(summary) for summary in summaries),
        failed=tuple(_failure(entry) for entry in entries if entry.entry_id not in done),
    )


def _failure(entry: ToDistil, error: PressboxError | None = None) -> EntryProgressState:
    reason = NO_SUMMARY if error is None else shorten(f"{NO_SUMMARY} {error.message}", LONGEST_REASON)
    return EntryProgressState(
        entry_id=entry.entry_id, title=shorten(entry.title), status=EntryStatus.ERROR, error=reason
    )


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
