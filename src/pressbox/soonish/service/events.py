"""Events: create, change, cancel, end, see, invite."""

from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta

from pressbox.core.accounts.opaque import fingerprint, new_secret
from pressbox.core.errors import NotFoundError
from pressbox.core.logs import get_logger
from pressbox.soonish.domain.events import EventStatus
from pressbox.soonish.domain.links import Purpose, SignedLinks
from pressbox.soonish.domain.views import (
    CalendarEntry,
    EventView,
    InvitationView,
    NewInvitation,
    Viewer,
    calendar_entry,
)
from pressbox.soonish.service.inputs import EventInput
from pressbox.soonish.service.stores import EventStore, InvitationStore
from pressbox.soonish.service.telling import Teller

log = get_logger(__name__)

INVITATION_LIFE = timedelta(days=7)
MOST_LISTED = 200


def utc_now() -> datetime:
    return datetime.now(UTC)


class EventService:
    """A slug that a viewer may not know is a NotFoundError; one that is not theirs to change a ForbiddenError."""

    def __init__(
        self,
        events: EventStore,
        invitations: InvitationStore,
        links: SignedLinks,
        teller: Teller,
        now: Callable[[], datetime] = utc_now,
    ) -> None:
        self._events = events
        self._invitations = invitations
        self._links = links
        self._teller = teller
        self._now = now

    async def create(self, organiser_id: int, stated: EventInput) -> EventView:
        facts = stated.facts(self._now())
        status = EventStatus.DRAFT if stated.draft else EventStatus.ACTIVE
        event = await self._events.create(organiser_id, facts, stated.visibility, status)
        log.info("event_created", msg="An event was created", event_id=event.id, status=event.status)
        await self._teller.tell(event.id)
        return event

    async def edit(self, organiser_id: int, slug: str, stated: EventInput) -> EventView:
        """Replace what the event states. People hear of it when something changed that they can see."""
        event = await self._events.edit(organiser_id, slug, stated.facts(self._now()), stated.visibility)
        await self._teller.tell(event.id)
        return event

    async def activate(self, organiser_id: int, slug: str) -> EventView:
        """Make a draft an event."""
        event = await self._events.activate(organiser_id, slug, self._now())
        log.info("event_activated", msg="A draft became an event", event_id=event.id)
        await self._teller.tell(event.id)
        return event

    async def cancel(self, organiser_id: int, slug: str) -> EventView:
        event = await self._events.cancel(organiser_id, slug)
        log.info("event_cancelled", msg="An event was cancelled", event_id=event.id)
        await self._teller.tell(event.id)
        return event

    async def complete(self, organiser_id: int, slug: str) -> EventView:
        """End an event before its time, without a message to anybody."""
        event = await self._events.complete(organiser_id, slug)
        log.info("event_completed", msg="An event was ended by its organiser", event_id=event.id)
        await self._teller.tell(event.id)
        return event

    async def delete(self, organiser_id: int, slug: str) -> None:
        """Cancel it if it is to come, then hide it from everybody; its rows go once its messages are out."""
        event = await self._events.delete(organiser_id, slug)
        log.info("event_deleted", msg="An event was deleted", event_id=event.id)
        await self._teller.tell(event.id)

    async def get(self, viewer: Viewer, slug: str) -> EventView:
        return await self._events.find(viewer, slug)

    async def organised(self, organiser_id: int) -> Sequence[EventView]:
        """Newest start first; drafts and past ones too."""
        return await self._events.organised(organiser_id)

    async def followed(self, user_id: int) -> Sequence[EventView]:
        """Events to which somebody subscribed, the next one first."""
        return await self._events.followed(user_id)

    async def public(self, limit: int = MOST_LISTED) -> Sequence[EventView]:
        """Public events that are not over, the next one first."""
        return await self._events.public(self._now(), min(limit, MOST_LISTED))

    async def everything(self, limit: int = MOST_LISTED) -> Sequence[EventView]:
        """All events of the instance, for whoever runs it."""
        return await self._events.everything(limit)

    async def organiser_of(self, slug: str) -> int:
        """For whoever runs the instance, and may act for an organiser."""
        return await self._events.organiser_of(slug)

    async def invite(self, organiser_id: int, slug: str) -> NewInvitation:
        """A link for a private event: good for a week, shown once."""
        token = new_secret()
        view = await self._invitations.add(organiser_id, slug, fingerprint(token), INVITATION_LIFE)
        return NewInvitation(token, view)

    async def invitations(self, organiser_id: int, slug: str) -> Sequence[InvitationView]:
        return await self._invitations.all(organiser_id, slug)

    async def revoke_invitation(self, organiser_id: int, slug: str, invitation_id: int) -> None:
        await self._invitations.revoke(organiser_id, slug, invitation_id)

    async def calendar_of_event(self, viewer: Viewer, slug: str) -> CalendarEntry:
        return calendar_entry(await self._events.find(viewer, slug))

    async def calendar(self, user_id: int) -> Sequence[CalendarEntry]:
        """What somebody organises or follows."""
        return await self._events.calendar(user_id)

    async def calendar_by_token(self, token: str) -> Sequence[CalendarEntry]:
        user_id = self._links.read(Purpose.CALENDAR, token)
        if user_id is None:
            raise NotFoundError("There is no such calendar. Copy its address again from your subscriptions.")
        return await self._events.calendar(user_id)

    def calendar_url(self, user_id: int) -> str:
        """The private address of somebody's calendar."""
        return self._links.calendar(user_id)
