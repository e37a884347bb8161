"""What the use cases need from outside. A method of a store is one transaction: the change and its outbox entry."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Protocol

from pressbox.soonish.domain.delivery import DeliveryState, Level
from pressbox.soonish.domain.events import EventFacts, EventStatus, Visibility
from pressbox.soonish.domain.messages import MessageText
from pressbox.soonish.domain.reminders import SubscriptionState
from pressbox.soonish.domain.views import (
    AskedReminderView,
    CalendarEntry,
    ChannelView,
    DeliveryView,
    EventView,
    InvitationView,
    MessageView,
    Reach,
    SubscriberView,
    SubscriptionView,
    Viewer,
    WhyView,
)
from pressbox.soonish.ports import Holder, Sealed


class Vault(Protocol):
    """Seals addresses, which are credentials."""

    def seal(self, address: str, kind: str, shown: str) -> Sealed: ...


class AddressCheck(Protocol):
    """Knows which Apprise addresses can be used, without sending anything."""

    def kind(self, url: str) -> tuple[str, str]:
        """The scheme and what may be shown; an InvalidInputError for `url` otherwise."""
        ...


class EventStore(Protocol):
    async def create(
        self, organiser_id: int, facts: EventFacts, visibility: Visibility, status: EventStatus
    ) -> EventView: ...

    async def edit(self, organiser_id: int, slug: str, facts: EventFacts, visibility: Visibility) -> EventView: ...

    async def activate(self, organiser_id: int, slug: str, now: datetime) -> EventView: ...

    async def cancel(self, organiser_id: int, slug: str) -> EventView: ...

    async def complete(self, organiser_id: int, slug: str) -> EventView: ...

    async def delete(self, organiser_id: int, slug: str) -> EventView: ...

    async def find(self, viewer: Viewer, slug: str) -> EventView: ...

    async def organised(self, organiser_id: int) -> Sequence[EventView]: ...

    async def followed(self, user_id: int) -> Sequence[EventView]: ...

    async def public(self, now: datetime, limit: int) -> Sequence[EventView]: ...

    async def everything(self, limit: int) -> Sequence[EventView]: ...

    async def organiser_of(self, slug: str) -> int: ...

    async def calendar(self, user_id: int) -> Sequence[CalendarEntry]: ...


class InvitationStore(Protocol):
    async def add(self, organiser_id: int, slug: str, token_hash: bytes, life: timedelta) -> InvitationView: ...

    async def all(self, organiser_id: int, slug: str) -> Sequence[InvitationView]: ...

    async def revoke(self, organiser_id: int, slug: str, invitation_id: int) -> None: ...


class ChannelStore(Protocol):
    async def add(
        self, user_id: int, name: str, tags: Sequence[str], is_active: bool, address: Sealed, most: int
    ) -> ChannelView: ...

    async def change(
        self, user_id: int, channel_id: int, name: str, tags: Sequence[str], is_active: bool, address: Sealed | None
    ) -> ChannelView: ...

    async def remove(self, user_id: int, channel_id: int) -> None: ...

    async def mend(self, user_id: int, channel_id: int) -> None:
        """It works again."""
        ...

    async def all(self, user_id: int) -> Sequence[ChannelView]: ...

    async def get(self, user_id: int, channel_id: int) -> ChannelView: ...


class SubscriptionStore(Protocol):
    async def subscribe(
        self,
        viewer: Viewer,
        slug: str,
        channel_ids: Sequence[int],
        tags: Sequence[str],
        offsets: Sequence[timedelta] | None,
    ) -> int: ...

    async def subscribe_contact(
        self, viewer: Viewer, slug: str, address: Sealed, offsets: Sequence[timedelta] | None
    ) -> int:
        """With an address that needs no confirmation."""
        ...

    async def ask_confirmation(
        self, viewer: Viewer, slug: str, address: Sealed, offsets: Sequence[timedelta] | None, until: datetime
    ) -> tuple[int, SubscriptionState, bool]:
        """The subscription, what it is now, and whether a confirmation mail must go out."""
        ...

    async def forget_confirmation(self, subscription_id: int) -> None:
        """The mail did not go out, so that asking again may send it."""
        ...

    async def confirm(self, subscription_id: int) -> None: ...

    async def view(self, holder: Holder) -> SubscriptionView: ...

    async def of_user(self, user_id: int) -> Sequence[SubscriptionView]: ...

    async def change(
        self, holder: Holder, channel_ids: Sequence[int], tags: Sequence[str], offsets: Sequence[timedelta] | None
    ) -> None: ...

    async def set_state(self, holder: Holder, state: SubscriptionState) -> int:
        """Mute, unmute or leave; the event's id."""
        ...

    async def ask_reminder(self, holder: Holder, fire_at: datetime, most: int) -> AskedReminderView: ...

    async def cancel_reminder(self, holder: Holder, reminder_id: int) -> None: ...


class BoardStore(Protocol):
    async def announce(
        self,
        organiser_id: int,
        slug: str,
        version: str,
        level: Level,
        text: MessageText,
        subscription_ids: Sequence[int] | None,
    ) -> MessageView: ...

    async def reach(self, organiser_id: int, slug: str, subscription_ids: Sequence[int] | None) -> Reach: ...

    async def messages(self, organiser_id: int, slug: str, limit: int, *, personal: bool) -> Sequence[MessageView]: ...

    async def message(self, notification_id: int, organiser_id: int | None) -> MessageView:
        """None as the organiser is for the instance itself."""
        ...

    async def deliveries(
        self, organiser_id: int, notification_id: int, state: DeliveryState | None, after: int, limit: int
    ) -> Sequence[DeliveryView]: ...

    async def subscribers(self, organiser_id: int, slug: str, after: int, limit: int) -> Sequence[SubscriberView]: ...

    async def why(self, delivery_id: int) -> WhyView: ...
