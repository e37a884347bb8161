"""Sends the deliveries that are due: many at once, each noted before it is sent and recorded when it is answered."""

import asyncio
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
    SendNow,
    Wording,
    Wordings,
)

# After this time nothing more begins; the rest goes with the next batch or round. A few targets that do not answer, or
# are sent to slowly, must not hold up the next recipients.
ROUND_SECONDS = 15.0
RECORD_ATTEMPTS = 20
RECORD_PAUSE_SECONDS = 1.0

SendDelivery = Callable[[DueDelivery, SendNow], Awaitable[DeliveryResult]]


class Dispatcher:
    def __init__(self, ledger: Ledger, sender: Sender, links: Links, wordings: Wordings, now: Clock = utc_now) -> None:
        self._ledger = ledger
        self._sender = sender
        self._links = links
        self._wordings = wordings
        self._now = now

    async def send_due(self, notification_id: int, concurrency: int) -> int:
        """Try the deliveries that are due, at most once each; return how many were due.

        Those whose target has no turn within the time of a round stay due: others do not wait for them. After a
        cancellation nothing more is sent, but what is already under way is waited for and recorded: a result that is
        thrown away would become a second copy later.
        """
        due = await self._ledger.load_due(notification_id, self._now())
        if not due:
            return 0
        text, level = await self._ledger.load_message(notification_id)
        wording = await self._wordings.load(notification_id, text, due)
        round_ = _DispatchRound(self._ledger, self._sender, self._now)
        work = asyncio.create_task(
            round_.run(due, lambda item, send: self._send(item, send, wording, level), concurrency)
        )
        try:
            await asyncio.shield(work)
        except asyncio.CancelledError:
            round_.stop()
            await work
            raise
        return len(due)

    async def _send(self, item: DueDelivery, send: SendNow, wording: Wording, level: Level) -> DeliveryResult:
        text = wording.write(item, self._now())
        attempt = await send(
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
    """One round over what is due: a task per delivery waits for its turn and sends, one records results in groups."""

    def __init__(self, ledger: Ledger, sender: Sender, now: Clock) -> None:
        self._ledger = ledger
        self._sender = sender
        self._now = now
        self._waiting: set[asyncio.Task[None]] = set()
        self._unnoted: list[int] = []
        self._wanted: set[int] = set()
        self._noting = asyncio.Lock()
        self._results: asyncio.Queue[DeliveryResult | None] = asyncio.Queue()

    def stop(self) -> None:
        """Begin no more; what has begun goes on to its end."""
        for task in self._waiting:
            task.cancel()

    async def run(self, due: Sequence[DueDelivery], send: SendDelivery, concurrency: int) -> None:
        recording = asyncio.create_task(self._record_results())
        limit = asyncio.Semaphore(concurrency)
        tasks = [asyncio.create_task(self._deliver(item, send, limit)) for item in due]
        self._waiting.update(tasks)
        await asyncio.wait(tasks, timeout=ROUND_SECONDS, return_when=asyncio.FIRST_EXCEPTION)
        self.stop()
        outcomes = await asyncio.gather(*tasks, return_exceptions=True)
        self._results.put_nowait(None)
        await recording
        for outcome in outcomes:
            if isinstance(outcome, BaseException) and not isinstance(outcome, asyncio.CancelledError):
                raise outcome

    async def _deliver(self, item: DueDelivery, send: SendDelivery, limit: asyncio.Semaphore) -> None:
        async with self._sender.turn(item.channel_key) as send_now, limit:
            task = asyncio.current_task()
            assert task is not None
            self._waiting.discard(task)
            if await self._note(item.delivery_id):
                self._results.put_nowait(await send(item, send_now))

    async def _note(self, delivery_id: int) -> bool:
        """Note that it is about to be tried. Whoever comes first notes all that gathered meanwhile."""
        self._unnoted.append(delivery_id)
        async with self._noting:
            group, self._unnoted = self._unnoted, []
            if group:
                self._wanted |= set(await self._ledger.note_tries(group, self._now()))
        return delivery_id in self._wanted

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
