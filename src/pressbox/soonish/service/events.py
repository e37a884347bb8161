"""Events: create, change, cancel, complete, delete and see them. Workflows are signalled after the commit."""

import secrets
from collections.abc import Callable, Sequence
from dataclasses import replace

from sqlalchemy import Select, exists, or_, select
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.orm import aliased

from pressbox.core.clock import Clock, utc_now
from pressbox.core.db.database import Database, UnitOfWork
from pressbox.core.db.transaction import load_time
from pressbox.core.errors import ConflictError, NotFoundError
from pressbox.core.logs import get_logger
from pressbox.core.quotas.store import demand
from pressbox.core.today.contracts import TODAY_CHANGED
from pressbox.delivery.domain.attempts import Level
from pressbox.soonish.adapters import event_rows, messages
from pressbox.soonish.adapters.event_rows import load_organised, load_visible, read_facts, select_events
from pressbox.soonish.adapters.organiser_notices import tell_followers
from pressbox.soonish.adapters.outbox import add_signal
from pressbox.soonish.adapters.rows import EventRow, EventVersionRow, SubscriptionRow
from pressbox.soonish.contracts import EventCancelled, EventUpdated, ParticipantAdded
from pressbox.soonish.domain.agenda import sort_agenda
from pressbox.soonish.domain.delivery import Cause
from pressbox.soonish.domain.events import OPEN_VISIBILITIES, EventStatus, Visibility, list_changes
from pressbox.soonish.domain.messages import write_cancellation, write_creation
from pressbox.soonish.domain.reminders import SubscriptionState
from pressbox.soonish.domain.views import EventView, Viewer
from pressbox.soonish.service.inputs import EventInput
from pressbox.soonish.service.quotas import EVENTS, EVENTS_MADE, MESSAGES
from pressbox.soonish.service.relay import WorkflowRelay
from pressbox.soonish.service.reopening import reopen_event

log = get_logger(__name__)

MAX_LISTED = 200
_MAX_IN_CALENDAR = 1_000
# 96 random bits: nobody finds an event by guessing.
_SLUG_BYTES = 12


def new_slug() -> str:
    """Return a random slug that a command line does not take for an option."""
    while (slug := secrets.token_urlsafe(_SLUG_BYTES)).startswith("-"):
        pass
    return slug


class EventService:
    """An event that a viewer may not know of is a NotFoundError; one that is not theirs to change a ForbiddenError."""

    def __init__(self, database: Database, relay: WorkflowRelay, now: Clock = utc_now) -> None:
        self._database = database
        self._relay = relay
        self._now = now

    async def create(self, organiser_id: int, stated: EventInput) -> EventView:
        facts = stated.to_facts(self._now())
        status = EventStatus.DRAFT if stated.draft else EventStatus.ACTIVE
        async with self._database.unit_of_work() as work:
            row, is_new = await event_rows.insert_event(
                work.session,
                facts,
                slug=new_slug(),
                organiser_id=organiser_id,
                visibility=stated.visibility,
                status=status,
                version=1,
                request_key=stated.request_key,
            )
            if not is_new:
                return await event_rows.load_view(work.session, row, organiser_id)
            await event_rows.save_version(work.session, row)
            await demand(work.session, EVENTS, organiser_id)
            await demand(work.session, EVENTS_MADE, organiser_id)
            if status is EventStatus.ACTIVE:
                await _activate(work, row)
            await tell_followers(work, row, opened=True)
            event = await _save(work, row)
        log.info("event_created", msg="An event was created", event_id=event.id, status=event.status)
        await self._relay.send_signals(event.id)
        return event

    async def edit(self, organiser_id: int, slug: str, stated: EventInput) -> EventView:
        """Replace what the event states. Subscribers are told when something changed that they can see.

        One that was over by its time goes on with a later end: without an end nobody can know when it is over.

        A ConflictError when somebody else has changed it since the stated version; saying the same again is fine.
        """
        return await self.change(organiser_id, slug, lambda _: stated)

    async def change(self, organiser_id: int, slug: str, apply: Callable[[EventInput], EventInput]) -> EventView:
        """Change some of what the event states, as `edit` does.

        `apply` gets what it states once nobody else can change it, so that of two changes at once none is lost.
        """
        async with self._database.unit_of_work() as work:
            row = await load_organised(work.session, organiser_id, slug, lock=True)
            stated = apply(EventInput.of(read_facts(row), Visibility(row.visibility)))
            facts = stated.to_facts(self._now())
            if row.status == EventStatus.COMPLETED and read_facts(row).ends_at <= self._now():
                # Its time was over, and now it takes longer; one that its organiser has ended stays so.
                row.status = EventStatus.ACTIVE
                await demand(work.session, EVENTS, organiser_id)
            _refuse_over(row)
            changes = list_changes(read_facts(row), facts)
            was_open = row.visibility in OPEN_VISIBILITIES
            if changes or row.visibility != stated.visibility:
                if stated.version not in (None, row.version):
                    raise ConflictError("The event was changed after you opened this form. Nothing is saved yet.")
                row.version += 1
                row.visibility = stated.visibility
                event_rows.write_facts(row, facts)
                if changes and row.status == EventStatus.ACTIVE:
                    # Everybody who follows it is told.
                    await demand(work.session, MESSAGES, organiser_id)
                    await add_signal(work.session, row.id, EventUpdated, version=row.version)
                await event_rows.save_version(work.session, row)
                await tell_followers(work, row, opened=not was_open)
            event = await _save(work, row)
        await self._relay.send_signals(event.id)
        return event

    async def activate(self, organiser_id: int, slug: str) -> EventView:
        """Publish a draft."""
        async with self._database.unit_of_work() as work:
            row = await load_organised(work.session, organiser_id, slug, lock=True)
            _refuse_over(row)
            if row.status == EventStatus.DRAFT:
                if read_facts(row).ends_at <= self._now():
                    raise ConflictError("The event would already be over. Change its time first.")
                row.status = EventStatus.ACTIVE
                await _activate(work, row)
                await tell_followers(work, row, opened=True)
            event = await _save(work, row)
        log.info("event_activated", msg="A draft became an event", event_id=event.id)
        await self._relay.send_signals(event.id)
        return event

    async def cancel(self, organiser_id: int, slug: str) -> EventView:
        async with self._database.unit_of_work() as work:
            row = await load_organised(work.session, organiser_id, slug, lock=True)
            if row.status == EventStatus.COMPLETED:
                raise ConflictError("This event is over, so it cannot be cancelled.")
            await _cancel(work, row)
            await tell_followers(work, row)
            event = await _save(work, row)
        log.info("event_cancelled", msg="An event was cancelled", event_id=event.id)
        await self._relay.send_signals(event.id)
        return event

    async def reopen(self, organiser_id: int, slug: str) -> EventView:
        """Take back a cancellation: whoever was told of it is told that the event takes place."""
        async with self._database.unit_of_work() as work:
            row = await load_organised(work.session, organiser_id, slug, lock=True)
            if row.status == EventStatus.CANCELLED:
                if read_facts(row).ends_at <= self._now():
                    raise ConflictError("This event would already be over. Create a new one.")
                await reopen_event(work, row)
                await demand(work.session, EVENTS, organiser_id)
                await tell_followers(work, row)
            elif row.status == EventStatus.COMPLETED:
                raise ConflictError("This event is over.")
            event = await _save(work, row)
        log.info("event_reopened", msg="A cancelled event takes place after all", event_id=event.id)
        await self._relay.send_signals(event.id)
        return event

    async def complete(self, organiser_id: int, slug: str) -> EventView:
        """End an event before its time, without a message to anybody."""
        async with self._database.unit_of_work() as work:
            row = await load_organised(work.session, organiser_id, slug, lock=True)
            if row.status == EventStatus.DRAFT:
                raise ConflictError("A draft cannot be ended. Delete it.")
            _refuse_over(row)
            row.status = EventStatus.COMPLETED
            await add_signal(work.session, row.id, EventUpdated, version=row.version)
            event = await _save(work, row)
        log.info("event_completed", msg="An event was ended by its organiser", event_id=event.id)
        await self._relay.send_signals(event.id)
        return event

    async def delete(self, organiser_id: int, slug: str) -> None:
        """Cancel the event unless it is over, then hide it; its rows are removed once its messages are finished."""
        async with self._database.unit_of_work() as work:
            row = await load_organised(work.session, organiser_id, slug, lock=True)
            if row.status == EventStatus.COMPLETED:
                # Calendars take it for cancelled only with a higher version.
                row.version += 1
            else:
                await _cancel(work, row)
                await tell_followers(work, row)
            row.deleted_at = await load_time(work.session)
            event = await _save(work, row)
        log.info("event_deleted", msg="An event was deleted", event_id=event.id)
        await self._relay.send_signals(event.id)

    async def get(self, viewer: Viewer, slug: str) -> EventView:
        async with self._database.unit_of_work() as work:
            row = await load_visible(work.session, viewer, slug)
            return await event_rows.load_view(work.session, row, viewer.user_id)

    async def get_for_calendar(self, viewer: Viewer, slug: str) -> EventView:
        """An event for its feed; one that was deleted a few days ago is cancelled there."""
        async with self._database.unit_of_work() as work:
            row = await event_rows.load_for_calendar(work.session, viewer, slug)
            return await event_rows.load_view(work.session, row, viewer.user_id)

    async def get_organised(self, organiser_id: int, slug: str) -> EventView:
        """The event for its organiser; anybody else gets an error."""
        async with self._database.unit_of_work() as work:
            row = await load_organised(work.session, organiser_id, slug)
            return await event_rows.load_view(work.session, row, organiser_id)

    async def get_version(self, organiser_id: int, slug: str, version: int) -> EventView | None:
        """What the event stated at an earlier version, for its organiser; None when it never had that version."""
        async with self._database.unit_of_work() as work:
            row = await load_organised(work.session, organiser_id, slug)
            if not 0 < version < row.version:
                return None
            kept = await work.session.get(EventVersionRow, (row.id, version))
            view = await event_rows.load_view(work.session, row, organiser_id)
        if kept is None:
            return None
        facts = event_rows.facts_from_json(kept.facts)
        return replace(view, version=version, ends_at=facts.ends_at, **vars(facts))

    async def list_organised(self, organiser_id: int) -> Sequence[EventView]:
        """What comes next first, past and cancelled events at the end; with drafts."""
        own = EventRow.organiser_id == organiser_id
        return sort_agenda(await self._load(select_events(organiser_id).where(own), organiser_id), self._now())

    async def list_followed(self, user_id: int) -> Sequence[EventView]:
        """Events to which somebody is subscribed, what comes next first."""
        follows = SubscriptionRow.id.is_not(None)
        return sort_agenda(await self._load(select_events(user_id).where(follows), user_id), self._now())

    async def list_public(self, limit: int = MAX_LISTED) -> Sequence[EventView]:
        """Public events that are not over, earliest start first."""
        statement = select_events(None).where(
            EventRow.visibility.in_(OPEN_VISIBILITIES),
            EventRow.status == EventStatus.ACTIVE,
            event_rows.ends_at() > self._now(),
            # What the instance keeps is on its own pages: a season of matches would hide what people organise.
            EventRow.subject.is_(None),
        )
        return await self._load(statement.order_by(EventRow.start_date).limit(min(limit, MAX_LISTED)), None)

    async def list_agenda(self, *, for_calendar: bool = False) -> Sequence[EventView]:
        """What organisers show to everybody and is not over, with what was cancelled; earliest start first.

        A calendar also hears of what was deleted a few days ago.
        """
        # A cancelled draft was never published.
        subscription = aliased(SubscriptionRow)
        was_published = exists().where(subscription.event_id == EventRow.id)
        statement = select_events(None, with_deleted=for_calendar).where(
            EventRow.visibility == Visibility.LISTED,
            EventRow.status.in_((EventStatus.ACTIVE, EventStatus.CANCELLED)),
            event_rows.ends_at() > self._now(),
            was_published,
        )
        return await self._load(statement.order_by(EventRow.start_date).limit(MAX_LISTED), None)

    async def list_all(self, limit: int = MAX_LISTED) -> Sequence[EventView]:
        """All events of the instance, latest start first, for whoever runs it."""
        return await self._load(select_events(None).order_by(EventRow.start_date.desc()).limit(limit), None)

    async def list_for_calendar(self, user_id: int) -> Sequence[EventView]:
        """What somebody organises or follows, with what was deleted a few days ago, as cancelled."""
        concerned = or_(EventRow.organiser_id == user_id, SubscriptionRow.id.is_not(None))
        statement = select_events(user_id, with_deleted=True).where(concerned, EventRow.status != EventStatus.DRAFT)
        return await self._load(statement.order_by(EventRow.start_date.desc()).limit(_MAX_IN_CALENDAR), user_id)

    async def find_organiser(self, slug: str) -> int:
        """The organiser's user id, for whoever runs the instance and acts in their name."""
        statement = select(EventRow.organiser_id).where(EventRow.slug == slug, EventRow.deleted_at.is_(None))
        async with self._database.unit_of_work() as work:
            found = (await work.session.execute(statement)).tuples().one_or_none()
        if found is None:
            raise NotFoundError("There is no such event.")
        [organiser_id] = found
        if organiser_id is None:
            raise ConflictError("This event is kept by the instance itself: it has no organiser.")
        return organiser_id

    async def _load(self, statement: Select[tuple[EventRow, str, int]], user_id: int | None) -> Sequence[EventView]:
        async with self._database.unit_of_work() as work:
            return await event_rows.load_views(work.session, statement, user_id)


async def _activate(work: UnitOfWork, row: EventRow) -> None:
    """Subscribe the organiser, write the message about the creation, and let the workflow start."""
    values = {"event_id": row.id, "user_id": row.organiser_id, "state": SubscriptionState.ACTIVE}
    subscription_id = await work.session.scalar(
        insert(SubscriptionRow).values(**values, organiser_only=True, own_offsets=True).returning(SubscriptionRow.id)
    )
    assert subscription_id is not None, "a draft has no subscriptions"
    recipients = messages.only([subscription_id])
    text = write_creation(read_facts(row))
    await messages.accept_message(work.session, row.id, Cause.CREATED, "1", Level.INFO, text, recipients)
    await add_signal(work.session, row.id, ParticipantAdded, subscription_id=subscription_id)


async def _cancel(work: UnitOfWork, row: EventRow) -> None:
    if row.status == EventStatus.CANCELLED:
        return
    was_active = row.status == EventStatus.ACTIVE
    row.status = EventStatus.CANCELLED
    row.version += 1
    await event_rows.save_version(work.session, row)
    if not was_active:
        return
    notification_id = await messages.accept_message(
        work.session,
        row.id,
        Cause.CANCELLED,
        str(row.version),
        Level.CRITICAL,
        write_cancellation(read_facts(row)),
        messages.everybody(),
        created_by=row.organiser_id,
    )
    await add_signal(work.session, row.id, EventCancelled, notification_id=notification_id)
    work.changed(messages.NOTIFICATION_CHANGED, str(notification_id))


async def _save(work: UnitOfWork, row: EventRow) -> EventView:
    row.updated_at = await load_time(work.session)
    await work.session.flush()
    await work.session.refresh(row)
    work.changed(messages.EVENT_CHANGED, row.slug)
    work.changed(TODAY_CHANGED, str(row.organiser_id))
    return await event_rows.load_view(work.session, row, row.organiser_id)


def _refuse_over(row: EventRow) -> None:
    if EventStatus(row.status).is_over:
        raise ConflictError(f"This event is {row.status} and can no longer be changed.")
