"""The activity that sends notices: a page of claimed rows, each noted before and recorded after it."""

from datetime import timedelta
from uuid import uuid4

from temporalio import activity
from temporalio.common import RetryPolicy
from temporalio.workflow import ActivityCancellationType, ActivityConfig

from pressbox.core.temporal.calls import call_with
from pressbox.delivery.activities.dispatch_round import DispatchRound, Page
from pressbox.delivery.activities.heartbeats import HEARTBEAT_TIMEOUT, heartbeat
from pressbox.delivery.contracts import SendPageInput, SendPageResult
from pressbox.delivery.domain.attempts import AttemptResult, DeliveryState, Verdict, judge_attempt
from pressbox.delivery.notice_ports import NoticeLedger, NoticeWording, PlannedSend
from pressbox.delivery.ports import Attempt, Claim, DeliveryResult, Sender, SendNow

# What a worker that died or froze held is due again after this time; what it holds it renews three times as often.
LEASE = timedelta(seconds=30)
UNWRITABLE = "This Pressbox could not write it; its log says why."
# The notice was rewritten while this waited for its turn: what it says now is sent instead, at once.
CHANGED = "changed"

SEND_PAGE = ActivityConfig(
    start_to_close_timeout=timedelta(minutes=5),
    heartbeat_timeout=HEARTBEAT_TIMEOUT,
    # Messages that are under way are waited for and recorded.
    cancellation_type=ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
    retry_policy=RetryPolicy(initial_interval=timedelta(seconds=1), maximum_interval=timedelta(seconds=10)),
)


class NoticeActivities:
    def __init__(self, ledger: NoticeLedger, sender: Sender, wording: NoticeWording, lease: timedelta = LEASE) -> None:
        self._ledger = ledger
        self._sender = sender
        self._wording = wording
        self._lease = lease

    @activity.defn
    @call_with(SEND_PAGE)
    async def send_notices(self, input: SendPageInput) -> SendPageResult:
        """Send what is due, for a quarter of a minute at most; tell how much of it is left."""
        async with heartbeat():
            sent = await self.send_due(input.at_once, input.page)
        return SendPageResult(sent=sent, waiting=await self._ledger.count_waiting())

    async def send_due(self, at_once: int, page: int) -> int:
        claim, sent = Claim(uuid4().hex, self._lease), 0

        async def send(item: PlannedSend, send_now: SendNow, not_after: float) -> DeliveryResult:
            nonlocal sent
            result = await self._send(item, send_now, not_after)
            sent += result.verdict.state is DeliveryState.SENT
            return result

        async def take(limit: int) -> Page[PlannedSend]:
            return await self._ledger.claim_due(claim, limit), send

        await DispatchRound[PlannedSend](self._ledger, self._sender, claim).run_to_its_end(take, at_once, page)
        return sent

    async def _send(self, item: PlannedSend, send: SendNow, not_after: float) -> DeliveryResult:
        attempt = Attempt(AttemptResult.UNAVAILABLE, UNWRITABLE, is_own_fault=True)
        try:
            message = self._wording.write(item, not_after)
        # One notice whose text cannot be written must not hold up all others.
        except Exception:  # noqa: BLE001
            activity.logger.exception("The text of notice %s could not be written", item.notice.id)
        else:
            attempt = await send(message)
        own = attempt.is_own_fault
        if attempt.result is AttemptResult.UNWANTED and attempt.reason == CHANGED:
            return DeliveryResult(item.delivery_id, Verdict(DeliveryState.PENDING, timedelta()), is_own_fault=True)
        verdict = judge_attempt(attempt.result, item.tries + 1, attempt.retry_after, is_own_fault=own)
        return DeliveryResult(item.delivery_id, verdict, attempt.reason, is_own_fault=own)
