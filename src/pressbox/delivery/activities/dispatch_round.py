"""One round of sending: takes what is due, refills as messages leave, and ends after a while."""

import asyncio
import math
from collections.abc import Awaitable, Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta
from typing import Generic, TypeVar

from temporalio import activity

from pressbox.core.clock import machine_seconds
from pressbox.core.errors import TransientError
from pressbox.delivery.domain.attempts import AttemptResult, judge_attempt
from pressbox.delivery.ports import Claim, ClaimedRows, DeliveryResult, DueSend, NoTurnError, Sender, SendNow

# After this time nothing more begins; the rest goes with the next round. A few targets that do not answer, or are sent
# to slowly, must not hold up the next recipients.
ROUND_SECONDS = 15.0
RENEWALS_PER_LEASE = 3
# Long enough to note many tries by one statement, too short for anybody to notice.
GATHER_SECONDS = 0.02
# A message may leave until shortly before its claim lapses.
MARGIN_SECONDS = 5.0
RECORD_ATTEMPTS = 20
RECORD_PAUSE_SECONDS = 1.0
BROKE_OFF = "This Pressbox failed while it sent this; its log says why."
FROZEN = "This Pressbox stood still for too long to send it."

Item = TypeVar("Item", bound=DueSend)
# Sends one delivery, unless the machine's time is past the given one.
SendDelivery = Callable[[Item, SendNow, float], Awaitable[DeliveryResult]]
Page = tuple[Sequence[Item], SendDelivery[Item]]
TakePage = Callable[[int], Awaitable[Page[Item]]]


@dataclass(frozen=True)
class _Postponed:
    """A delivery whose target has no turn soon."""

    delivery_id: int
    wait: timedelta


class DispatchRound(Generic[Item]):
    """A task per delivery waits for its turn and sends, one records results in groups, one renews what is held."""

    def __init__(self, ledger: ClaimedRows, sender: Sender, claim: Claim) -> None:
        self._ledger = ledger
        self._sender = sender
        self._claim = claim
        self._tasks: set[asyncio.Task[None]] = set()
        self._waiting: set[asyncio.Task[None]] = set()
        self._held: set[int] = set()
        self._unnoted: list[int] = []
        self._noted: dict[int, float] = {}
        self._noting = asyncio.Lock()
        self._results: asyncio.Queue[DeliveryResult | _Postponed | None] = asyncio.Queue()
        self._stirred = asyncio.Event()
        # When the first of those that this round put off is due again, in seconds of the loop.
        self._due_again = math.inf
        self._stopped = False
        self._failure: BaseException | None = None

    def stop(self) -> None:
        """Begin no more; what has begun goes on to its end."""
        self._stopped = True
        self._stirred.set()
        for task in self._waiting:
            task.cancel()

    async def run_to_its_end(self, take: TakePage[Item], concurrency: int, window: int) -> bool:
        """As `run`. After a cancellation, or when the worker stops, nothing more is sent, but what is already under way
        is waited for and recorded: a result that is thrown away would become a second copy later.
        """
        work = asyncio.create_task(self.run(take, concurrency, window))
        stopping = asyncio.create_task(self._stop_with_worker())
        try:
            return await asyncio.shield(work)
        except asyncio.CancelledError:
            self.stop()
            await work
            raise
        finally:
            stopping.cancel()

    async def _stop_with_worker(self) -> None:
        """A worker that is told to end begins nothing more, so that its grace is for what is under way."""
        if activity.in_activity():
            await activity.wait_for_worker_shutdown()
            self.stop()

    async def run(self, take: TakePage[Item], concurrency: int, window: int) -> bool:
        """Return whether more was due when the time was over.

        What becomes due again while somebody slow still holds the round up is sent by it too.
        """
        recording = asyncio.create_task(self._record_results())
        renewing = asyncio.create_task(self._keep_renewing())
        limit = asyncio.Semaphore(concurrency)
        loop = asyncio.get_running_loop()
        end, more = loop.time() + ROUND_SECONDS, True
        try:
            while (more or self._tasks) and not self._stopped and loop.time() < end:
                self._due_again = math.inf
                room = max(1, window - len(self._held))
                due, send = await take(room)
                self._begin(due, send, limit)
                more = len(due) == room
                await self._wait_until_few(window // 2 if more else 0, end)
        finally:
            self.stop()
            await asyncio.gather(*self._tasks, return_exceptions=True)
            renewing.cancel()
            self._results.put_nowait(None)
            await recording
            await self._release()
        if self._failure is not None:
            raise self._failure
        return more

    def _begin(self, due: Iterable[Item], send: SendDelivery[Item], limit: asyncio.Semaphore) -> None:
        for item in due:
            self._held.add(item.delivery_id)
            task = asyncio.create_task(self._deliver(item, send, limit))
            self._tasks.add(task)
            self._waiting.add(task)
            task.add_done_callback(self._note_end)
        if self._stopped:
            self.stop()

    def _note_end(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        self._waiting.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            self._failure = self._failure or error
            self.stop()
        self._stirred.set()

    async def _wait_until_few(self, few: int, end: float) -> None:
        """Wait until few are left, something is due again, the time is over, or the round is stopped."""
        loop = asyncio.get_running_loop()
        while len(self._tasks) > few and not self._stopped and loop.time() < min(end, self._due_again):
            self._stirred.clear()
            with suppress(TimeoutError):
                async with asyncio.timeout_at(min(end, self._due_again)):
                    await self._stirred.wait()

    async def _deliver(self, item: Item, send: SendDelivery[Item], limit: asyncio.Semaphore) -> None:
        try:
            async with self._sender.turn(item.channel_key) as send_now, limit:
                task = asyncio.current_task()
                assert task is not None
                self._waiting.discard(task)
                not_after = await self._note(item.delivery_id)
                if not_after is not None:
                    self._results.put_nowait(await self._try(item, send, send_now, not_after))
        except NoTurnError as error:
            self._results.put_nowait(_Postponed(item.delivery_id, error.wait))

    async def _try(self, item: Item, send: SendDelivery[Item], send_now: SendNow, not_after: float) -> DeliveryResult:
        if machine_seconds() > not_after:
            verdict = judge_attempt(AttemptResult.UNAVAILABLE, item.tries + 1, is_own_fault=True)
            return DeliveryResult(item.delivery_id, verdict, FROZEN, is_own_fault=True)
        try:
            return await send(item, send_now, not_after)
        except TransientError:
            raise
        # One row that breaks our own code must not hold up everybody else's. It may have left before that.
        except Exception:  # noqa: BLE001
            activity.logger.exception("Delivery %s was broken off", item.delivery_id)
            verdict = judge_attempt(AttemptResult.UNCONFIRMED, item.tries + 1)
            return DeliveryResult(item.delivery_id, verdict, BROKE_OFF, is_own_fault=True)

    async def _note(self, delivery_id: int) -> float | None:
        """Note that it is about to be tried. Whoever comes first waits a moment and notes all that gathered.

        Returns until when it may leave; None when it is no longer wanted, or no longer ours.
        """
        self._unnoted.append(delivery_id)
        async with self._noting:
            if delivery_id in self._unnoted:
                await asyncio.sleep(GATHER_SECONDS)
                group, self._unnoted = self._unnoted, []
                until = machine_seconds() + self._claim.lease.total_seconds() - self._margin
                noted = await self._ledger.note_tries(group, self._claim)
                self._noted.update(dict.fromkeys(noted, until))
        return self._noted.pop(delivery_id, None)

    @property
    def _margin(self) -> float:
        return min(MARGIN_SECONDS, self._claim.lease.total_seconds() / 4)

    async def _keep_renewing(self) -> None:
        while True:
            await asyncio.sleep(self._claim.lease.total_seconds() / RENEWALS_PER_LEASE)
            if self._held:
                try:
                    await self._ledger.renew(tuple(self._held), self._claim)
                except TransientError as error:
                    activity.logger.warning("Claims of %s deliveries wait for the database: %s", len(self._held), error)

    async def _record_results(self) -> None:
        """Write results in groups: while one group is being written, the next one gathers. None ends it."""
        ended = False
        while not ended:
            group = [await self._results.get()]
            while not self._results.empty():
                group.append(self._results.get_nowait())
            ended = None in group
            if results := [item for item in group if isinstance(item, DeliveryResult)]:
                await self._write(results)
            if waits := {item.delivery_id: item.wait for item in group if isinstance(item, _Postponed)}:
                await self._ledger.postpone(waits, self._claim)
            self._held.difference_update(item.delivery_id for item in group if item is not None)
            self._look_again([item.verdict.pause for item in results] + list(waits.values()))

    def _look_again(self, pauses: Iterable[timedelta | None]) -> None:
        seconds = [pause.total_seconds() for pause in pauses if pause is not None]
        if seconds:
            self._due_again = min(self._due_again, asyncio.get_running_loop().time() + min(seconds))
            self._stirred.set()

    async def _write(self, results: Sequence[DeliveryResult]) -> None:
        for attempt in range(1, RECORD_ATTEMPTS + 1):
            try:
                return await self._ledger.record_results(results, self._claim)
            except TransientError as error:
                # A lost result becomes a second copy for somebody, so the database gets time to come back.
                if attempt == RECORD_ATTEMPTS:
                    raise
                activity.logger.warning("Results of %s tries wait for the database: %s", len(results), error)
                await asyncio.sleep(RECORD_PAUSE_SECONDS)

    async def _release(self) -> None:
        """Give back what was not begun. What this fails for is due again when the claim lapses."""
        if self._held:
            try:
                await self._ledger.release(tuple(self._held), self._claim)
            except TransientError as error:
                activity.logger.warning("%s deliveries stay claimed for a moment: %s", len(self._held), error)
