"""The organiser's board: announcements, their recipients, and the result of every delivery."""

import secrets
from collections.abc import Collection, Sequence

from sqlalchemy import ColumnElement, select
from sqlalchemy.ext.asyncio import AsyncSession

from pressbox.core.db.database import Database
from pressbox.core.db.transaction import load_time
from pressbox.core.errors import ConflictError, NotFoundError
from pressbox.core.logs import get_logger
from pressbox.core.quotas.store import demand
from pressbox.delivery.domain.attempts import DeliveryState
from pressbox.soonish.adapters import message_views, messages
from pressbox.soonish.adapters.event_rows import load_organised
from pressbox.soonish.adapters.ledger import SqlLedger
from pressbox.soonish.adapters.outbox import add_signal
from pressbox.soonish.adapters.resending import open_failures
from pressbox.soonish.adapters.rows import EventRow, NotificationRow
from pressbox.soonish.contracts import ManualNotificationSent, MessageResent
from pressbox.soonish.domain.delivery import PERSONAL, Cause
from pressbox.soonish.domain.events import EventStatus
from pressbox.soonish.domain.views import DeliveryView, MessageView, Reach, ResendView, SubscriberView, WhyView
from pressbox.soonish.service.inputs import Announcement
from pressbox.soonish.service.quotas import MESSAGES
from pressbox.soonish.service.relay import WorkflowRelay

log = get_logger(__name__)

MAX_LISTED = 500
STILL_BEING_SENT = "This message is still being sent."
NOTHING_TO_RESEND = (
    "There is nothing to send again: nobody is left to whom it failed and who still wants it. "
    "What may have arrived is sent again only when you confirm it."
)


class BoardService:
    def __init__(self, database: Database, relay: WorkflowRelay) -> None:
        self._database = database
        self._relay = relay

    async def announce(self, organiser_id: int, slug: str, stated: Announcement) -> MessageView:
        version = stated.request_key or secrets.token_hex(8)
        async with self._database.unit_of_work() as work:
            event = await load_organised(work.session, organiser_id, slug, lock=True)
            text = stated.to_message(event.name)
            if event.status != EventStatus.ACTIVE:
                raise ConflictError(f"This event is {event.status}: nothing can be announced.")
            notification_id = await _find_announcement(work.session, event.id, version)
            if notification_id is None:
                await demand(work.session, MESSAGES, organiser_id)
                notification_id = await messages.accept_message(
                    work.session,
                    event.id,
                    Cause.ANNOUNCEMENT,
                    version,
                    stated.level,
                    text,
                    _recipients(stated.subscription_ids),
                    created_by=organiser_id,
                )
                await add_signal(work.session, event.id, ManualNotificationSent, notification_id=notification_id)
                work.changed(messages.NOTIFICATION_CHANGED, str(notification_id))
                work.changed(messages.EVENT_CHANGED, slug)
            row = await work.session.get_one(NotificationRow, notification_id)
            message = await message_views.load_message(work.session, row, slug)
        log.info(
            "announcement_accepted",
            msg="An announcement was accepted",
            event_id=event.id,
            notification_id=message.id,
            recipients=message.recipients,
        )
        await self._relay.send_signals(event.id)
        return message

    async def stop(self, organiser_id: int, notification_id: int) -> None:
        """Stop a message while it is being sent: those who have not got it are skipped."""
        message = await self.get_message(organiser_id, notification_id)
        if message.finished_at is not None:
            raise ConflictError("This message has already been sent to everybody.", notification_id=notification_id)
        # The ledger decides, so that it works without Temporal too: no more tries begin from here on.
        await SqlLedger(self._database).cancel(notification_id)
        await self._relay.cancel_broadcast(message.event_id, notification_id)
        log.info("message_stopped", msg="A message was stopped", notification_id=notification_id)

    async def resend(
        self,
        organiser_id: int,
        notification_id: int,
        delivery_ids: tuple[int, ...] | None = None,
        *,
        with_uncertain: bool = False,
    ) -> ResendView:
        """Send a finished message again to those to whom it failed; None means all of them.

        Only `with_uncertain` sends again what may have arrived, which may then arrive twice. Two requests at once send
        once: the second finds the message being sent.
        """
        states = (DeliveryState.FAILED, DeliveryState.UNCERTAIN) if with_uncertain else (DeliveryState.FAILED,)
        async with self._database.unit_of_work() as work:
            message, event = await message_views.load_owned(work.session, notification_id, organiser_id, lock=True)
            _refuse_resend(message, event)
            await demand(work.session, MESSAGES, organiser_id)
            opened = await open_failures(work.session, message, delivery_ids, states, await load_time(work.session))
            if not opened.deliveries:
                raise ConflictError(NOTHING_TO_RESEND, notification_id=notification_id)
            message.finished_at = None
            await add_signal(work.session, event.id, MessageResent, notification_id=notification_id)
            work.changed(messages.NOTIFICATION_CHANGED, str(notification_id))
            work.changed(messages.EVENT_CHANGED, event.slug)
        log.info(
            "message_resent",
            msg="Failed deliveries of a message are sent again",
            notification_id=notification_id,
            deliveries=opened.deliveries,
        )
        await self._relay.send_signals(event.id)
        return opened

    async def preview_reach(
        self, organiser_id: int, slug: str, subscription_ids: tuple[int, ...] | None = None
    ) -> Reach:
        """Whom an announcement would reach; None means everybody, an empty choice nobody."""
        async with self._database.unit_of_work() as work:
            event = await load_organised(work.session, organiser_id, slug)
            return await message_views.load_reach(work.session, event, _recipients(subscription_ids))

    async def list_messages(
        self, organiser_id: int, slug: str, limit: int = MAX_LISTED, *, personal: bool = True
    ) -> Sequence[MessageView]:
        """Newest first; without `personal`, reminders are left out."""
        async with self._database.unit_of_work() as work:
            event = await load_organised(work.session, organiser_id, slug)
            return await message_views.load_messages(work.session, event, min(limit, MAX_LISTED), personal=personal)

    async def get_message(self, organiser_id: int, notification_id: int) -> MessageView:
        async with self._database.unit_of_work() as work:
            row, event = await message_views.load_owned(work.session, notification_id, organiser_id)
            return await message_views.load_message(work.session, row, event.slug)

    async def list_deliveries(
        self,
        organiser_id: int,
        notification_id: int,
        *,
        state: DeliveryState | None = None,
        after: int = 0,
        limit: int = 100,
    ) -> Sequence[DeliveryView]:
        """The ledger of one message, by id; `after` is the last id of the page before."""
        async with self._database.unit_of_work() as work:
            await message_views.load_owned(work.session, notification_id, organiser_id)
            return await message_views.load_deliveries(
                work.session, notification_id, state, after, min(limit, MAX_LISTED)
            )

    async def list_subscribers(
        self,
        organiser_id: int,
        slug: str,
        *,
        after: int = 0,
        limit: int = 100,
        words: str = "",
        only: Collection[int] | None = None,
    ) -> Sequence[SubscriberView]:
        async with self._database.unit_of_work() as work:
            event = await load_organised(work.session, organiser_id, slug)
            most = min(limit, MAX_LISTED)
            return await message_views.load_subscribers(work.session, event, after, most, words=words, only=only)

    async def explain(self, delivery_id: int) -> WhyView:
        """Why somebody got a message; for whoever has its private link, or runs the instance."""
        async with self._database.unit_of_work() as work:
            return await message_views.load_why(work.session, delivery_id)


def _refuse_resend(message: NotificationRow, event: EventRow) -> None:
    if event.deleted_at is not None:
        raise NotFoundError("There is no such message.")
    if message.finished_at is None:
        raise ConflictError(STILL_BEING_SENT, notification_id=message.id)
    if message.cause in PERSONAL:
        raise ConflictError("A reminder is not sent again: it would no longer be true.", notification_id=message.id)
    if message.cause == Cause.CANCELLED and event.status != EventStatus.CANCELLED:
        raise ConflictError("The event takes place after all, so this message is not true any more.")
    if message.cause == Cause.REOPENED and event.status != EventStatus.ACTIVE:
        raise ConflictError("The event does not take place any more, so this message is not true.")


def _recipients(subscription_ids: Sequence[int] | None) -> ColumnElement[bool]:
    if subscription_ids is None:
        return messages.everybody()
    return messages.everybody() & messages.only(subscription_ids)


async def _find_announcement(session: AsyncSession, event_id: int, version: str) -> int | None:
    found: int | None = await session.scalar(
        select(NotificationRow.id).where(
            NotificationRow.event_id == event_id,
            NotificationRow.cause == Cause.ANNOUNCEMENT,
            NotificationRow.version == version,
        )
    )
    return found
