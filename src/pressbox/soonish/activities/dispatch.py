"""Sends the deliveries that are due: many at once, each noted before it is sent and recorded when it is answered."""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Sequence

from temporalio import activity

from pressbox.core.clock import Clock, utc_now
from pressbox.core.errors import TransientError
from pressbox.soonish.domain.delivery import Level, judge_attempt
from pressbox.soonish.ports import (
    DeliveryResult,
    DueDelivery,
    Ledger,
    Links,
    OutgoingMessage,
    Sender,
    Wording,
    Wordings,
)

# How many tries are noted in one transaction. After a crash that many may be repeated without having been sent.
NOTED_TOGETHER = 16
RECORD_ATTEMPTS = 20
RECORD_PAUSE_SECONDS = 1.0

SendDelivery = Callable[[DueDelivery], Awaitable[DeliveryResult]]


class Dispatcher:
    def __init__(self, ledger: Ledger, sender: Sender, links: Links, wordings: Wordings, now: Clock = utc_now) -> None:
        self._ledger = ledger
        self._sender = sender
        self._links = links
        self._wordings = wordings
        self._now = now

    async def send_due(self, notification_id: int, concurrency: int) -> int:
        """Try every delivery that is due, once, and return how many were tried.

        After a cancellation nothing more is sent, but what is already under way is waited for and recorded: a result
        that is thrown away would become a second copy later.
        """
        due = await self._ledger.load_due(notification_id, self._now())
        if not due:
            return 0
        text, level = await self._ledger.load_message(notification_id)
        wording = await self._wordings.load(notification_id, text, due)
        round_ = _DispatchRound(self._ledger, self._now, due)
        work = asyncio.create_task(round_.run(lambda item: self._send(item, wording, level), concurrency))
        try:
            await asyncio.shield(work)
        except asyncio.CancelledError:
            round_.stop()
            await work
            raise
        return len(due)

    async def _send(self, item: DueDelivery, wording: Wording, level: Level) -> DeliveryResult:
        text = wording.write(item, self._now())
        attempt = await self._sender.send(
            item.channel_key,
            OutgoingMessage(
                title=text.title,
                body=text.body,
                level=level,
                why_url=self._links.why_url(item.delivery_id),
                unsubscribe_url=self._links.unsubscribe_url(item.subscription_id),
                subscription_id=item.subscription_id,
                footer=wording.list_links(item),
            ),
        )
        own = attempt.is_own_fault
        verdict = judge_attempt(attempt.result, item.tries + 1, attempt.retry_after, is_own_fault=own)
        return DeliveryResult(item.delivery_id, verdict, attempt.reason, is_own_fault=own)


class _DispatchRound:
    """One round over what is due: several tasks send, one task records the results in groups."""

    def __init__(self, ledger: Ledger, now: Clock, due: Sequence[DueDelivery]) -> None:
        self._ledger = ledger
        self._now = now
        self._waiting = deque(due)
        self._ready: deque[DueDelivery] = deque()
        self._lock = asyncio.Lock()
        self._results: asyncio.Queue[DeliveryResult | None] = asyncio.Queue()

    def stop(self) -> None:
        """Send no more."""
        self._waiting.clear()

    async def run(self, send: SendDelivery, concurrency: int) -> None:
        recording = asyncio.create_task(self._record_results())
        senders = [self._send_ready(send) for _ in range(min(concurrency, len(self._waiting)))]
        outcomes = await asyncio.gather(*senders, return_exceptions=True)
        self._results.put_nowait(None)
        await recording
        for outcome in outcomes:
            if isinstance(outcome, BaseException):
                raise outcome

    async def _send_ready(self, send: SendDelivery) -> None:
        try:
            while item := await self._next():
                self._results.put_nowait(await send(item))
        # `run` raises it when every sender has ended; until then nothing more is sent.
        except BaseException:
            self.stop()
            raise

    async def _next(self) -> DueDelivery | None:
        async with self._lock:
            while not self._ready and self._waiting:
                group = [self._waiting.popleft() for _ in range(min(NOTED_TOGETHER, len(self._waiting)))]
                wanted = await self._ledger.note_tries([item.delivery_id for item in group], self._now())
                self._ready.extend(item for item in group if item.delivery_id in wanted)
        return self._ready.popleft() if self._ready else None

    async def _record_results(self) -> None:
        """Write results in groups: while one group is being written, the next one gathers. None ends it."""
        ended = False
        while not ended:
            group = [await self._results.get()]
            while not self._results.empty():
                group.append(self._results.get_nowait())
            ended = None in group
            if results := [item for item in group if item is not None]:
                await self._write(results)

    async def _write(self, results: Sequence[DeliveryResult]) -> None:
        for attempt in range(1, RECORD_ATTEMPTS + 1):
            try:
                return await self._ledger.record_results(results, self._now())
            except TransientError as error:
                # A lost result becomes a second copy for somebody, so the database gets time to come back.
                if attempt == RECORD_ATTEMPTS:
                    raise
                activity.logger.warning("Results of %s tries wait for the database: %s", len(results), error)
                await asyncio.sleep(RECORD_PAUSE_SECONDS)
