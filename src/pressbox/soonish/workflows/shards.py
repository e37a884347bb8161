"""Sends one message in shards: page activities side by side, which take what is due from one queue of rows."""

import asyncio
from collections.abc import Awaitable, Callable
from datetime import datetime, timedelta

from temporalio import workflow

from pressbox.core.temporal.calls import call
from pressbox.soonish.activities.deliveries import DeliveryActivities
from pressbox.soonish.contracts import NotificationReference, SendNotificationResult, SoonishPolicy
from pressbox.soonish.domain.lifecycle import count_shards

MIN_PAUSE = timedelta(seconds=1)


class Shards:
    """`send_page` sends one page of the message, on whichever worker is free.

    `go_on` is awaited when everybody's turn has come and something is to be tried again.
    """

    def __init__(
        self,
        notification_id: int,
        policy: SoonishPolicy,
        send_page: Callable[[], Awaitable[SendNotificationResult]],
        go_on: Callable[[], Awaitable[None]] | None = None,
    ) -> None:
        self._reference = NotificationReference(notification_id=notification_id)
        self._policy = policy
        self._send_page = send_page
        self._go_on = go_on
        self._newest: SendNotificationResult | None = None
        self.recipients = 0

    async def run(self) -> None:
        """Return when every delivery is final."""
        await self._send_side_by_side()
        if self._go_on is not None and self._find_next_try() is not None:
            await self._go_on()
        while (next_try_at := self._find_next_try()) is not None:
            await workflow.sleep(max(next_try_at - workflow.now(), MIN_PAUSE))
            await self._send_pages()

    def _find_next_try(self) -> datetime | None:
        return self._newest.next_try_at if self._newest else None

    async def _send_side_by_side(self) -> None:
        """The first page does not wait until it is known how many others join it."""
        parts = [asyncio.create_task(self._send_pages())]
        try:
            size = await call(DeliveryActivities.measure_notification, self._reference)
            self.recipients = size.recipients
            others = count_shards(size.recipients, self._policy.batch_size, self._policy.shards) - 1
            parts += [asyncio.create_task(self._send_pages()) for _ in range(others)]
            for part in parts:
                await part
        finally:
            # Whoever counts after this must not count beside pages that still send.
            for part in parts:
                part.cancel()
            await asyncio.gather(*parts, return_exceptions=True)

    async def _send_pages(self) -> None:
        more = True
        while more:
            result = await self._send_page()
            more = result.more
            # Pages end in any order. One that looked while another still sent would wait for the claims of the other.
            if self._newest is None or not result.counts.is_older_than(self._newest.counts):
                self._newest = result
            if workflow.cancellation_reason() is not None:
                # The page ended before it noticed the cancellation, which must not be lost.
                raise asyncio.CancelledError
