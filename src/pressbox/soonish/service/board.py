"""The organiser's board: announcements, who hears them, and what became of every message."""

import secrets
from collections.abc import Sequence

from pressbox.core.errors import ConflictError, NotFoundError
from pressbox.core.logs import get_logger
from pressbox.soonish.domain.delivery import DeliveryState
from pressbox.soonish.domain.links import Purpose, SignedLinks
from pressbox.soonish.domain.reminders import SubscriptionState
from pressbox.soonish.domain.views import DeliveryView, MessageView, Reach, SubscriberView, Viewer, WhyView
from pressbox.soonish.ports import Holder, Ledger
from pressbox.soonish.service.inputs import Announcement
from pressbox.soonish.service.stores import BoardStore, EventStore, SubscriptionStore
from pressbox.soonish.service.telling import Teller

log = get_logger(__name__)

MOST_LISTED = 500


class BoardService:
    def __init__(
        self,
        events: EventStore,
        board: BoardStore,
        subscriptions: SubscriptionStore,
        links: SignedLinks,
        teller: Teller,
        ledger: Ledger,
    ) -> None:
        self._events = events
        self._board = board
        self._ledger = ledger
        self._subscriptions = subscriptions
        self._links = links
        self._teller = teller

    async def announce(self, organiser_id: int, slug: str, stated: Announcement) -> MessageView:
        event = await self._events.find(Viewer(organiser_id), slug)
        text = stated.message(event.name)
        version = stated.request_key or secrets.token_hex(8)
        message = await self._board.announce(organiser_id, slug, version, stated.level, text, stated.subscription_ids)
        log.info(
            "announcement_accepted",
            msg="An announcement was accepted",
            event_id=event.id,
            notification_id=message.id,
            recipients=message.recipients,
        )
        await self._teller.tell(event.id)
        return message

    async def reach(self, organiser_id: int, slug: str, subscription_ids: tuple[int, ...] | None = None) -> Reach:
        """Whom an announcement would reach; None means everybody, an empty choice nobody."""
        return await self._board.reach(organiser_id, slug, subscription_ids)

    async def stop(self, organiser_id: int, notification_id: int) -> None:
        """Stop a message half-way: who got it got it, the rest is skipped."""
        message = await self._board.message(notification_id, organiser_id)
        if message.finished_at is not None:
            raise ConflictError("It has been sent to everybody already.", notification_id=notification_id)
        if not await self._teller.stop_broadcast(message.event_id, notification_id):
            # It has not begun: when it does, it finds that nobody is left.
            await self._ledger.cancel(notification_id)
        log.info("message_stopped", msg="A message was stopped", notification_id=notification_id)

    async def messages(
        self, organiser_id: int, slug: str, limit: int = MOST_LISTED, *, personal: bool = True
    ) -> Sequence[MessageView]:
        """Newest first; without `personal`, only what went to many: reminders are each person's own."""
        return await self._board.messages(organiser_id, slug, min(limit, MOST_LISTED), personal=personal)

    async def message(self, organiser_id: int, notification_id: int) -> MessageView:
        return await self._board.message(notification_id, organiser_id)

    async def live_message(self, notification_id: int) -> MessageView | None:
        """For the live stream, which asks who may see it elsewhere."""
        try:
            return await self._board.message(notification_id, None)
        except NotFoundError:
            return None

    async def deliveries(
        self,
        organiser_id: int,
        notification_id: int,
        *,
        state: DeliveryState | None = None,
        after: int = 0,
        limit: int = 100,
    ) -> Sequence[DeliveryView]:
        """The ledger of one message, by id; `after` is the last id of the page before."""
        return await self._board.deliveries(organiser_id, notification_id, state, after, min(limit, MOST_LISTED))

    async def subscribers(
        self, organiser_id: int, slug: str, *, after: int = 0, limit: int = 100
    ) -> Sequence[SubscriberView]:
        return await self._board.subscribers(organiser_id, slug, after, min(limit, MOST_LISTED))

    async def why(self, token: str) -> WhyView:
        """From the link in a message."""
        return await self._board.why(self._read(token))

    async def why_of(self, delivery_id: int) -> WhyView:
        """For whoever runs the instance."""
        return await self._board.why(delivery_id)

    async def mute(self, token: str) -> WhyView:
        """Mute from the link in a message."""
        why = await self.why(token)
        if why.subscription_state is SubscriptionState.ACTIVE:
            event_id = await self._subscriptions.set_state(Holder(why.subscription_id), SubscriptionState.MUTED)
            await self._teller.tell(event_id)
        return await self.why(token)

    def _read(self, token: str) -> int:
        delivery_id = self._links.read(Purpose.WHY, token)
        if delivery_id is None:
            raise NotFoundError("This link is not valid. Copy it whole from the message.")
        return delivery_id
