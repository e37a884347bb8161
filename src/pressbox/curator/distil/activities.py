"""The effects of distilling, entry by entry or in pages of rows that wait: by a model that is paid once or by rules."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Protocol

from temporalio import activity

from pressbox.core.clock import Clock, utc_now
from pressbox.core.errors import PressboxError, TransientError
from pressbox.core.spending.ports import Claims
from pressbox.core.temporal.calls import call_with
from pressbox.core.temporal.heartbeat import Heartbeat, ResumableHeartbeat
from pressbox.core.temporal.later import try_later
from pressbox.core.temporal.options import BOUNDED, PAGES, QUICK
from pressbox.curator.distil.contracts import (
    AppSettings,
    DistilledAnswer,
    DistilledBatch,
    DistilledPage,
    DistilPageInput,
    DistilSelection,
    SavedEntries,
    SaveDistilledInput,
    SelectForDistillationInput,
    WrittenSummary,
    distil_claim,
)
from pressbox.curator.distil.model import PaidDistiller
from pressbox.curator.library.contracts import EntryIds, EntryProgressState, heavy_queue
from pressbox.curator.library.domain import EXTRACTIVE, CuratorPolicy, Distilled, EntryStatus, ToDistil
from pressbox.curator.library.leases import LONGEST_PAUSE, Lease, NextTurn, current_lease, kept
from pressbox.curator.models.waiting import LONGEST_REASON, retry_later
from pressbox.curator.text.plain_text import SUMMARY_BYTES, shorten


class Distiller(Protocol):
    """Summarises texts without asking anybody. A text that cannot be summarised is left out."""

    async def distil(self, entries: Sequence[ToDistil], language: str, sentences: int) -> Sequence[Distilled]: ...


@dataclass(frozen=True)
class DistilScope:
    """These entries, those of one feed, or all."""

    entry_ids: tuple[int, ...] = ()
    feed_id: int | None = None


@dataclass(frozen=True)
class ClaimedText:
    """A text that is ours for a while; `begun` counts this claim too."""

    entry: ToDistil
    begun: int = 1


class DistilQueue(Protocol):
    """Entries that wait for a summary, shared by all workers."""

    async def claim(self, lease: Lease, scope: DistilScope, limit: int, *, suspects: bool) -> Sequence[ClaimedText]:
        """Hand out texts. `suspects` are those whose work was begun before and never ended."""
        ...

    async def find_next(self, lease: Lease, scope: DistilScope) -> NextTurn:
        """Count what waits and nobody works on, and what is still being fetched."""
        ...

    async def renew(self, lease: Lease, entry_ids: Sequence[int]) -> None: ...

    async def release(self, lease: Lease, entry_ids: Sequence[int]) -> None:
        """Give entries back as if they had not been begun."""
        ...

    async def record(
        self, lease: Lease, distilled: Sequence[Distilled], failed: Sequence[EntryProgressState], now: datetime
    ) -> Sequence[int]:
        """Record results of entries that are still ours; return those whose summary is of the present text."""
        ...


class DistilStore(Protocol):
    """Entries that wait for a summary. Selection is by state; each write is one transaction."""

    async def select_for_distillation(
        self, entry_ids: Sequence[int], after_entry_id: int, limit: int, *, feed_id: int | None = None
    ) -> DistilSelection:
        """Select those of these entries that wait and have a text; without ids, of one feed or of all feeds."""
        ...

    async def to_distil(self, entry_ids: Sequence[int]) -> Sequence[ToDistil]: ...

    async def save_distilled(self, distilled: Sequence[Distilled], now: datetime) -> Sequence[int]:
        """Save summaries whose text is still the same, and return the ids of their entries."""
        ...

    async def distil_again(self, entry_ids: Sequence[int]) -> None:
        """Let entries with a text wait for a summary again, whatever the last result was."""
        ...

    async def note_distil_failure(self, entry_id: int, reason: str, now: datetime) -> None: ...


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
            batch = await self.distil(entries, input.policy, tries=activity.info().attempt)
        await self._claims.release([distil_claim(entry_id) for entry_id in batch.waiting], owner)
        return batch

    @activity.defn
    @call_with(QUICK)
    async def save_distilled_entries(self, input: SaveDistilledInput) -> SavedEntries:
        now = self._now()
        saved = await self._entries.save_distilled([as_distilled(answer) for answer in input.answers], now)
        for entry in input.failed:
            await self._entries.note_distil_failure(entry.entry_id, entry.error, now)
        done = [answer.entry_id for answer in input.answers] + [entry.entry_id for entry in input.failed]
        await self._claims.release([distil_claim(entry_id) for entry_id in done], _owner())
        return SavedEntries(entry_ids=tuple(saved))

    async def distil(self, entries: Sequence[ToDistil], policy: CuratorPolicy, *, tries: int) -> DistilledBatch:
        """Distil texts as the settings ask for; `tries` counts this one, for a text that breaks it."""
        if self._paid is None or not entries:
            return _batch(entries, await self._distil_offline(entries, policy, tries))
        return await self._distil_paid(self._paid, entries, policy, tries)

    async def _distil_paid(
        self, paid: PaidDistiller, entries: Sequence[ToDistil], policy: CuratorPolicy, tries: int
    ) -> DistilledBatch:
        attempts = await paid.distil(entries, policy)
        summaries = [attempt.distilled for attempt in attempts if attempt.distilled is not None]
        failed = [_failure(one.entry, one.error) for one in attempts if one.error and not one.unavailable]
        waiting = [one for one in attempts if one.error and one.unavailable]
        offline = DistilledBatch()
        if self._offline is not None and waiting:
            left = [attempt.entry for attempt in waiting]
            offline, waiting = _batch(left, await self._distil_offline(left, policy, tries)), []
        pauses = [retry_later(one.error, policy, self._now()) for one in waiting if one.error]
        retry_at, reason = min(pauses, default=(None, ""))
        return DistilledBatch(
            answers=(*(_as_message(summary) for summary in summaries), *offline.answers),
            failed=(*failed, *offline.failed),
            waiting=tuple(attempt.entry.entry_id for attempt in waiting),
            retry_at=retry_at,
            reason=reason,
        )

    async def _distil_offline(self, entries: Sequence[ToDistil], policy: CuratorPolicy, tries: int) -> list[Distilled]:
        """A text that breaks the batch fails alone, after some attempts; the others are done without it."""
        if self._offline is None or not entries:
            return []
        try:
            summaries = await self._offline.distil(entries, policy.target_language, policy.summary_sentences)
        except PressboxError as error:
            if len(entries) > 1:
                return [summary for entry in entries for summary in await self._distil_offline([entry], policy, tries)]
            if isinstance(error, TransientError) and tries < OFFLINE_ATTEMPTS:
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
    return as_failure(entry, NO_SUMMARY if error is None else shorten(f"{NO_SUMMARY} {error.message}", LONGEST_REASON))


def as_failure(entry: ToDistil, reason: str) -> EntryProgressState:
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


def as_distilled(answer: DistilledAnswer) -> Distilled:
    return Distilled(**answer.model_dump())


# A text whose work was begun so often and never ended kills its process. Every text of a page counts as begun, and a
# process may die for other reasons, so that a few times prove nothing.
TRIES = 6
KILLS = "This text made the worker crash several times."
# A page of failures is one message, which stays below 10 kB.
LONGEST_SHOWN = 80


class DistilPages:
    def __init__(self, queue: DistilQueue, distilling: DistilActivities, now: Clock = utc_now) -> None:
        self._queue = queue
        self._distilling = distilling
        self._now = now

    @activity.defn
    @call_with(PAGES, queue=heavy_queue)
    async def distill_due_entries(self, input: DistilPageInput) -> DistilledPage:
        """Summarise a page of texts, and store every batch of them as soon as it is there."""
        lease, scope = current_lease(), DistilScope(input.entry_ids, input.feed_id)
        async with ResumableHeartbeat(DistilledPage()) as heartbeat:
            claimed = await self._claim(lease, scope, input.limit)
            ids = [one.entry.entry_id for one in claimed]
            async with kept(lease, ids, self._queue.renew):
                await self._distil_page(lease, claimed, input, heartbeat)
            done = heartbeat.cursor
            turn = await self._queue.find_next(lease, scope)
            if not done.distilled and not done.failed and not turn.waiting and turn.coming and input.lingers:
                raise try_later(LONGEST_PAUSE / 2, f"{turn.coming} are still being fetched.")
            return done.model_copy(
                update={"waiting": turn.waiting, "more": bool(turn.waiting or (turn.coming and input.lingers))}
            )

    async def _claim(self, lease: Lease, scope: DistilScope, limit: int) -> Sequence[ClaimedText]:
        """Claim a page, or one suspect alone: if it kills the process, it must not take others with it."""
        fresh = await self._queue.claim(lease, scope, limit, suspects=False)
        return fresh or await self._queue.claim(lease, scope, 1, suspects=True)

    async def _distil_page(
        self,
        lease: Lease,
        claimed: Sequence[ClaimedText],
        input: DistilPageInput,
        heartbeat: ResumableHeartbeat[DistilledPage],
    ) -> None:
        size = input.policy.distil_batch
        for begin in range(0, len(claimed), size):
            batch = await self._distil(claimed[begin : begin + size], input)
            saved = await self._queue.record(
                lease, [as_distilled(answer) for answer in batch.answers], batch.failed, self._now()
            )
            heartbeat.advance(_add(heartbeat.cursor, batch, saved))
            if batch.retry_at is not None:
                rest = (one.entry.entry_id for one in claimed[begin + size :])
                await self._queue.release(lease, [*batch.waiting, *rest])
                return

    async def _distil(self, claimed: Sequence[ClaimedText], input: DistilPageInput) -> DistilledBatch:
        if claimed[0].begun > TRIES:
            return DistilledBatch(failed=tuple(as_failure(one.entry, KILLS) for one in claimed))
        return await self._distilling.distil([one.entry for one in claimed], input.policy, tries=claimed[0].begun)


def _add(known: DistilledPage, batch: DistilledBatch, saved: Sequence[int]) -> DistilledPage:
    answers = {answer.entry_id: answer for answer in batch.answers if answer.model != EXTRACTIVE}
    written = tuple(_mark(answers[entry_id]) for entry_id in saved if entry_id in answers)
    return known.model_copy(
        update={
            "distilled": (*known.distilled, *saved),
            "failed": (*known.failed, *(_brief(entry) for entry in batch.failed)),
            "written": (*known.written, *written),
            "retry_at": batch.retry_at,
            "reason": shorten(batch.reason, LONGEST_SHOWN * 2),
        }
    )


def _brief(entry: EntryProgressState) -> EntryProgressState:
    return entry.model_copy(update={"title": "", "error": shorten(entry.error, LONGEST_SHOWN)})


def _mark(answer: DistilledAnswer) -> WrittenSummary:
    """The same work has the same mark, and another summary has another."""
    parts = "\x1f".join((answer.content_hash, answer.model, answer.summary))
    return WrittenSummary(entry_id=answer.entry_id, mark=hashlib.sha256(parts.encode()).hexdigest()[:16])
