"""Sends the deliveries that are due: claimed by this round, many at once, each noted before and recorded after it."""

from datetime import timedelta
from uuid import uuid4

from temporalio import activity

from pressbox.core.clock import Clock, utc_now
from pressbox.delivery.activities.dispatch_round import DispatchRound, Page
from pressbox.delivery.domain.attempts import AttemptResult, Level, judge_attempt
from pressbox.delivery.ports import Attempt, Claim, DeliveryResult, OutgoingMessage, Sender, SendNow
from pressbox.soonish.ports import DueDelivery, Ledger, Links, Wording, Wordings

# What a worker that died or froze held is due again after this time; what it holds it renews three times as often.
LEASE = timedelta(seconds=30)
WINDOW = 500
UNWRITABLE = "This Pressbox could not write it; its log says why."


class Dispatcher:
    def __init__(
        self,
        ledger: Ledger,
        sender: Sender,
        links: Links,
        wordings: Wordings,
        now: Clock = utc_now,
        lease: timedelta = LEASE,
    ) -> None:
        self._ledger = ledger
        self._sender = sender
        self._links = links
        self._wordings = wordings
        self._now = now
        self._lease = lease

    async def send_due(
        self, notification_id: int, concurrency: int, *, window: int = WINDOW, opens: bool = False
    ) -> bool:
        """Try the deliveries that are due and that nobody else holds; return whether more are due at once.

        With `opens` also those of recipients who come next. Those whose target has no turn soon are put off: others do
        not wait for them. After a cancellation, or when the worker stops, nothing more is sent, but what is already
        under way is waited for and recorded: a result that is thrown away would become a second copy later.
        """
        claim = Claim(uuid4().hex, self._lease)
        text, level = await self._ledger.load_message(notification_id)

        async def take(limit: int) -> Page[DueDelivery]:
            due = await self._ledger.claim_due(notification_id, claim, limit, opens=opens)
            wording = await self._wordings.load(notification_id, text, due) if due else None

            async def send(item: DueDelivery, send_now: SendNow, not_after: float) -> DeliveryResult:
                assert wording is not None
                return await self._send(item, send_now, wording, level, not_after)

            return due, send

        round_: DispatchRound[DueDelivery] = DispatchRound(self._ledger, self._sender, claim)
        return await round_.run_to_its_end(take, concurrency, window)

    async def _send(
        self, item: DueDelivery, send: SendNow, wording: Wording, level: Level, not_after: float
    ) -> DeliveryResult:
        attempt = Attempt(AttemptResult.UNAVAILABLE, UNWRITABLE, is_own_fault=True)
        try:
            message = self._write(item, wording, level, not_after)
        # One person whose text cannot be written must not hold up everybody else's.
        except Exception:  # noqa: BLE001
            activity.logger.exception("The text of delivery %s could not be written", item.delivery_id)
        else:
            attempt = await send(message)
        own = attempt.is_own_fault
        verdict = judge_attempt(attempt.result, item.tries + 1, attempt.retry_after, is_own_fault=own)
        return DeliveryResult(item.delivery_id, verdict, attempt.reason, is_own_fault=own)

    def _write(self, item: DueDelivery, wording: Wording, level: Level, not_after: float) -> OutgoingMessage:
        text = wording.write(item, self._now())
        return OutgoingMessage(
            title=text.title,
            body=text.body,
            level=level,
            why_url=self._links.why_url(item.delivery_id),
            unsubscribe_url=self._links.unsubscribe_url(item.subscription_id),
            recipient_id=item.delivery_id,
            footer=wording.list_links(item),
            not_after=not_after,
        )
