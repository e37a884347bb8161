"""Sends what the ledger says is due: many at once, each noted before it leaves and recorded when it is answered."""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from datetime import UTC, datetime

from temporalio import activity

from pressbox.core.errors import TransientError
from pressbox.soonish.domain.delivery import Level, after_attempt
from pressbox.soonish.domain.messages import MessageText
from pressbox.soonish.ports import Due, Ledger, Links, Outgoing, Recorded, Sender

# How many are noted as being tried in one transaction. After a crash that many may be repeated without having left.
BEGUN_TOGETHER = 16
RECORD_TRIES = 20
RECORD_PAUSE_SECONDS = 1.0

Clock = Callable[[], datetime]
Attempting = Callable[[Due], Awaitable[Recorded]]


def utc_now() -> datetime:
    return datetime.now(UTC)


class Post:
    def __init__(self, ledger: Ledger, sender: Sender, links: Links, now: Clock = utc_now) -> None:
        self._ledger = ledger
        self._sender = sender
        self._links = links
        self._now = now

    async def send_due(self, notification_id: int, concurrency: int) -> int:
        """Try every delivery that is due, once; how many were tried.

        When we are cancelled nothing more leaves, but what is on its way is waited for and recorded: a result that is
        thrown away would be a second copy later.
        """
        due = await self._ledger.due(notification_id, self._now())
        if not due:
            return 0
        text, level = await self._ledger.message(notification_id)
        round_ = _Round(self._ledger, self._now, due)
        work = asyncio.create_task(round_.run(lambda item: self._try(item, text, level), concurrency))
        try:
            await asyncio.shield(work)
        except asyncio.CancelledError:
            round_.stop()
            await work
            raise
        return len(due)

    async def _try(self, item: Due, text: MessageText, level: Level) -> Recorded:
        attempt = await self._sender.send(
            item.channel_key,
            Outgoing(
                title=text.title,
                body=text.body,
                level=level,
                why_url=self._links.why(item.delivery_id),
                unsubscribe_url=self._links.unsubscribe(item.subscription_id),
            ),
        )
        verdict = after_attempt(attempt.result, item.tries + 1, attempt.retry_after)
        return Recorded(item.delivery_id, verdict, attempt.reason)


class _Round:
    """One round over what is due: some tasks send, one task records in groups."""

    def __init__(self, ledger: Ledger, now: Clock, due: Sequence[Due]) -> None:
        self._ledger = ledger
        self._now = now
        self._waiting = deque(due)
        self._begun: deque[Due] = deque()
        self._beginning = asyncio.Lock()
        self._answered: asyncio.Queue[Recorded | None] = asyncio.Queue()

    def stop(self) -> None:
        """Begin no more."""
        self._waiting.clear()

    async def run(self, attempt: Attempting, concurrency: int) -> None:
        recording = asyncio.create_task(self._record())
        senders = [self._send(attempt) for _ in range(min(concurrency, len(self._waiting)))]
        ended = await asyncio.gather(*senders, return_exceptions=True)
        self._answered.put_nowait(None)
        await recording
        for outcome in ended:
            if isinstance(outcome, BaseException):
                raise outcome

    async def _send(self, attempt: Attempting) -> None:
        try:
            while item := await self._next():
                self._answered.put_nowait(await attempt(item))
        # Whatever it was is raised when everybody has ended; here it only keeps more from leaving.
        except BaseException:
            self.stop()
            raise

    async def _next(self) -> Due | None:
        async with self._beginning:
            if not self._begun and self._waiting:
                group = [self._waiting.popleft() for _ in range(min(BEGUN_TOGETHER, len(self._waiting)))]
                await self._ledger.begin([item.delivery_id for item in group], self._now())
                self._begun.extend(group)
        return self._begun.popleft() if self._begun else None

    async def _record(self) -> None:
        """While one group is being written the next one gathers; None is the end."""
        ended = False
        while not ended:
            group = [await self._answered.get()]
            while not self._answered.empty():
                group.append(self._answered.get_nowait())
            ended = None in group
            if results := [item for item in group if item is not None]:
                await self._write(results)

    async def _write(self, group: Sequence[Recorded]) -> None:
        for number in range(RECORD_TRIES):
            try:
                return await self._ledger.record_many(group, self._now())
            except TransientError as error:
                # A lost result is a second copy for somebody: the database gets time to come back.
                if number == RECORD_TRIES - 1:
                    raise
                activity.logger.warning("Results of %s tries wait for the database: %s", len(group), error)
                await asyncio.sleep(RECORD_PAUSE_SECONDS)
