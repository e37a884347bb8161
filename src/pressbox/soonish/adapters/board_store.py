"""The organiser's board in PostgreSQL: announcements, subscribers, and the ledger as people read it."""

from collections import Counter
from collections.abc import Mapping, Sequence

from sqlalchemy import ColumnElement, Integer, String, case, cast, func, select
from sqlalchemy.ext.asyncio import AsyncSession

from pressbox.core.accounts.rows import UserRow
from pressbox.core.db.database import Database
from pressbox.core.errors import ConflictError, NotFoundError
from pressbox.soonish.adapters import access, messages, outbox
from pressbox.soonish.adapters.recipients import Addresses, load_addresses, one_of, targets
from pressbox.soonish.adapters.rows import (
    ChannelRow,
    ContactRow,
    DeliveryRow,
    EventRow,
    NotificationRow,
    RecipientRow,
    SubscriptionRow,
)
from pressbox.soonish.contracts import ManualNotificationSent
from pressbox.soonish.domain.delivery import PERSONAL, Cause, DeliveryState, Level
from pressbox.soonish.domain.events import EventStatus, FieldChange, Visibility
from pressbox.soonish.domain.messages import MessageText
from pressbox.soonish.domain.reminders import SubscriptionState
from pressbox.soonish.domain.views import Counts, DeliveryView, MessageView, Reach, SubscriberView, WhyView

# What people see for the place of a delivery that went nowhere.
_NO_CHANNEL = ""
_HOST_FOLLOWS = " · "
_EMAIL = "email"


class SqlBoardStore:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def announce(
        self,
        organiser_id: int,
        slug: str,
        version: str,
        level: Level,
        text: MessageText,
        subscription_ids: Sequence[int] | None,
    ) -> MessageView:
        async with self._database.unit_of_work() as work:
            event = await access.organised(work.session, organiser_id, slug, lock=True)
            if event.status != EventStatus.ACTIVE:
                raise ConflictError(f"This event is {event.status}: nothing can be announced.")
            known = await _known(work.session, event.id, version)
            if known is None:
                chosen = messages.everybody()
                if subscription_ids is not None:
                    chosen &= messages.only(subscription_ids)
                known = await messages.accept(
                    work.session, event.id, Cause.ANNOUNCEMENT, version, level, text, chosen, created_by=organiser_id
                )
                await outbox.put(work.session, event.id, ManualNotificationSent, notification_id=known)
                work.changed(messages.NOTIFICATION_CHANGED, str(known))
                work.changed(messages.EVENT_CHANGED, slug)
            return await _message(work.session, await work.session.get_one(NotificationRow, known), slug)

    async def reach(self, organiser_id: int, slug: str, subscription_ids: Sequence[int] | None) -> Reach:
        async with self._database.unit_of_work() as work:
            event = await access.organised(work.session, organiser_id, slug)
            statement = select(SubscriptionRow.id).where(
                SubscriptionRow.event_id == event.id,
                SubscriptionRow.state.in_(messages.HEARING),
                messages.everybody(),
            )
            if subscription_ids is not None:
                statement = statement.where(messages.only(subscription_ids))
            people = (await work.session.scalars(statement)).all()
            kinds = await _kinds(work.session, people)
            reached, by_kind = 0, Counter[str]()
            addresses = await load_addresses(work.session, people)
            for subscription_id in people:
                going = _going(subscription_id, addresses, kinds)
                reached += bool(going)
                by_kind.update(going)
        return Reach(people=reached, unreachable=len(people) - reached, by_kind=dict(sorted(by_kind.items())))

    async def messages(self, organiser_id: int, slug: str, limit: int, *, personal: bool) -> Sequence[MessageView]:
        async with self._database.unit_of_work() as work:
            event = await access.organised(work.session, organiser_id, slug)
            statement = (
                select(NotificationRow)
                .where(NotificationRow.event_id == event.id)
                .order_by(NotificationRow.id.desc())
                .limit(limit)
            )
            if not personal:
                statement = statement.where(NotificationRow.cause.not_in(PERSONAL))
            rows = (await work.session.scalars(statement)).all()
            ids = [row.id for row in rows]
            recipients, counts = await _recipients(work.session, ids), await _counts(work.session, ids)
        return [_message_view(row, slug, recipients.get(row.id, 0), counts.get(row.id, Counts())) for row in rows]

    async def message(self, notification_id: int, organiser_id: int | None) -> MessageView:
        async with self._database.unit_of_work() as work:
            row, event = await _owned(work.session, notification_id, organiser_id)
            return await _message(work.session, row, event.slug)

    async def deliveries(
        self, organiser_id: int, notification_id: int, state: DeliveryState | None, after: int, limit: int
    ) -> Sequence[DeliveryView]:
        async with self._database.unit_of_work() as work:
            await _owned(work.session, notification_id, organiser_id)
            statement = (
                select(DeliveryRow, _who(), _place(of_owner=False))
                .outerjoin(SubscriptionRow, SubscriptionRow.id == DeliveryRow.subscription_id)
                .outerjoin(UserRow, UserRow.id == SubscriptionRow.user_id)
                .outerjoin(ContactRow, ContactRow.id == SubscriptionRow.contact_id)
                .outerjoin(ChannelRow, _CHANNEL_OF_DELIVERY)
                .where(DeliveryRow.notification_id == notification_id, DeliveryRow.id > after)
                .order_by(DeliveryRow.id)
                .limit(limit)
            )
            if state is not None:
                statement = statement.where(DeliveryRow.state == state)
            found = (await work.session.execute(statement)).tuples().all()
        return [
            DeliveryView(
                id=row.id,
                subscription_id=row.subscription_id,
                name=who,
                channel=place,
                state=DeliveryState(row.state),
                reason=row.reason,
                tries=row.tries,
                maybe_twice=row.maybe_twice,
                next_try_at=row.next_try_at,
                created_at=row.created_at,
                finished_at=row.finished_at,
            )
            for row, who, place in found
        ]

    async def subscribers(self, organiser_id: int, slug: str, after: int, limit: int) -> Sequence[SubscriberView]:
        async with self._database.unit_of_work() as work:
            event = await access.organised(work.session, organiser_id, slug)
            statement = (
                select(SubscriptionRow, _who())
                .outerjoin(UserRow, UserRow.id == SubscriptionRow.user_id)
                .outerjoin(ContactRow, ContactRow.id == SubscriptionRow.contact_id)
                .where(
                    SubscriptionRow.event_id == event.id,
                    SubscriptionRow.id > after,
                    SubscriptionRow.state.in_(messages.HEARING),
                    messages.everybody(),
                )
                .order_by(SubscriptionRow.id)
                .limit(limit)
            )
            found = (await work.session.execute(statement)).tuples().all()
            people = [row.id for row, _ in found]
            addresses, kinds = await load_addresses(work.session, people), await _kinds(work.session, people)
        views = []
        for row, who in found:
            going = _going(row.id, addresses, kinds)
            views.append(
                SubscriberView(
                    subscription_id=row.id,
                    name=who,
                    kinds=tuple(sorted(going)),
                    state=SubscriptionState(row.state),
                    reachable=bool(going),
                    since=row.created_at,
                )
            )
        return views

    async def why(self, delivery_id: int) -> WhyView:
        statement = (
            select(DeliveryRow, NotificationRow, EventRow, SubscriptionRow.state, _place(of_owner=True))
            .join(NotificationRow, NotificationRow.id == DeliveryRow.notification_id)
            .join(EventRow, EventRow.id == DeliveryRow.event_id)
            .outerjoin(SubscriptionRow, SubscriptionRow.id == DeliveryRow.subscription_id)
            .outerjoin(ContactRow, ContactRow.id == SubscriptionRow.contact_id)
            .outerjoin(ChannelRow, _CHANNEL_OF_DELIVERY)
            .where(DeliveryRow.id == delivery_id)
        )
        async with self._database.unit_of_work() as work:
            found = (await work.session.execute(statement)).tuples().one_or_none()
        if found is None:
            raise NotFoundError("This message is too old: nothing is kept about it any more.")
        delivery, message, event, state, place = found
        return WhyView(
            delivery_id=delivery.id,
            subscription_id=delivery.subscription_id,
            event_name=event.name,
            event_slug=event.slug,
            event_visible=event.deleted_at is None and event.visibility == Visibility.PUBLIC,
            cause=Cause(message.cause),
            level=Level(message.level),
            title=message.title,
            rule=delivery.rule,
            channel=place,
            state=DeliveryState(delivery.state),
            reason=delivery.reason,
            tries=delivery.tries,
            maybe_twice=delivery.maybe_twice,
            created_at=delivery.created_at,
            finished_at=delivery.finished_at,
            subscription_state=SubscriptionState(state) if state else None,
        )


_CHANNEL_OF_DELIVERY = DeliveryRow.channel_key == func.concat("channel:", cast(ChannelRow.id, String))


def _going(subscription_id: int, addresses: Addresses, kinds: Mapping[str, str]) -> set[str]:
    """The kinds of channel over which a message would go to this subscriber."""
    found = targets(subscription_id, addresses)
    return {kinds.get(target.channel_key, "") for target in found if target.skipped is None}


def _who() -> ColumnElement[str]:
    """A name, or what may be shown of an address; never the e-mail address of an account."""
    return case(
        (UserRow.name != "", UserRow.name),
        (UserRow.id.is_not(None), func.concat(func.left(UserRow.email, 1), "***")),
        else_=func.coalesce(ContactRow.shown, ""),
    )


def _place(*, of_owner: bool) -> ColumnElement[str]:
    """The channel: by its own name for its owner; for the organiser by its kind, without the host of anybody."""
    whole = func.concat(ChannelRow.name, " (", ChannelRow.kind, ")")
    channel = whole if of_owner else func.split_part(ChannelRow.kind, _HOST_FOLLOWS, 1)
    return case(
        (ChannelRow.id.is_not(None), channel),
        (DeliveryRow.channel_key.like("contact:%"), func.coalesce(ContactRow.shown, "")),
        else_=_NO_CHANNEL,
    )


async def _known(session: AsyncSession, event_id: int, version: str) -> int | None:
    found: int | None = await session.scalar(
        select(NotificationRow.id).where(
            NotificationRow.event_id == event_id,
            NotificationRow.cause == Cause.ANNOUNCEMENT,
            NotificationRow.version == version,
        )
    )
    return found


async def _kinds(session: AsyncSession, subscription_ids: Sequence[int]) -> Mapping[str, str]:
    """The kind of every channel key that these subscribers could use."""
    mine = SubscriptionRow.id == one_of(subscription_ids)
    channels = await session.execute(
        select(ChannelRow.id, ChannelRow.kind)
        .join(SubscriptionRow, SubscriptionRow.user_id == ChannelRow.user_id)
        .where(mine)
    )
    contacts = await session.execute(
        select(ContactRow.id, ContactRow.kind, ContactRow.shown)
        .join(SubscriptionRow, SubscriptionRow.contact_id == ContactRow.id)
        .where(mine)
    )
    return {
        **{f"channel:{number}": kind.partition(_HOST_FOLLOWS)[0] for number, kind in channels.tuples()},
        **{
            f"contact:{number}": kind if kind == _EMAIL else shown.partition(_HOST_FOLLOWS)[0]
            for number, kind, shown in contacts.tuples()
        },
    }


async def _owned(
    session: AsyncSession, notification_id: int, organiser_id: int | None
) -> tuple[NotificationRow, EventRow]:
    statement = (
        select(NotificationRow, EventRow)
        .join(EventRow, EventRow.id == NotificationRow.event_id)
        .where(NotificationRow.id == notification_id)
    )
    found = (await session.execute(statement)).one_or_none()
    if found is None or (organiser_id is not None and found[1].organiser_id != organiser_id):
        raise NotFoundError("There is no such message.")
    return found[0], found[1]


async def _recipients(session: AsyncSession, ids: Sequence[int]) -> Mapping[int, int]:
    statement = (
        select(RecipientRow.notification_id, cast(func.count(), Integer))
        .where(RecipientRow.notification_id.in_(ids))
        .group_by(RecipientRow.notification_id)
    )
    return {key: count for key, count in (await session.execute(statement)).tuples()}


async def _counts(session: AsyncSession, ids: Sequence[int]) -> Mapping[int, Counts]:
    statement = (
        select(DeliveryRow.notification_id, DeliveryRow.state, cast(func.count(), Integer))
        .where(DeliveryRow.notification_id.in_(ids))
        .group_by(DeliveryRow.notification_id, DeliveryRow.state)
    )
    found: dict[int, dict[str, int]] = {}
    for key, state, count in (await session.execute(statement)).tuples():
        found.setdefault(key, {})[state] = count
    return {key: Counts(**by_state) for key, by_state in found.items()}


async def _message(session: AsyncSession, row: NotificationRow, slug: str) -> MessageView:
    recipients, counts = await _recipients(session, [row.id]), await _counts(session, [row.id])
    return _message_view(row, slug, recipients.get(row.id, 0), counts.get(row.id, Counts()))


def _message_view(row: NotificationRow, slug: str, recipients: int, counts: Counts) -> MessageView:
    return MessageView(
        id=row.id,
        event_id=row.event_id,
        event_slug=slug,
        cause=Cause(row.cause),
        level=Level(row.level),
        title=row.title,
        body=row.body,
        changes=tuple(FieldChange(item["label"], item["old"], item["new"]) for item in row.changes),
        recipients=recipients,
        counts=counts,
        created_at=row.created_at,
        finished_at=row.finished_at,
        cancelled_at=row.cancelled_at,
    )
