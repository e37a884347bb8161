"""Messages, deliveries and subscribers as organisers and recipients see them; used inside a unit of work."""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence

from sqlalchemy import ColumnElement, Integer, String, case, cast, func, select
from sqlalchemy.ext.asyncio import AsyncSession

from pressbox.core.accounts.rows import UserRow
from pressbox.core.errors import NotFoundError
from pressbox.delivery.adapters.rows import ChannelRow, ContactRow
from pressbox.delivery.domain.attempts import DeliveryState, Level
from pressbox.soonish.adapters import messages
from pressbox.soonish.adapters.recipients import Addresses, find_targets, load_addresses, one_of
from pressbox.soonish.adapters.rows import DeliveryRow, EventRow, NotificationRow, RecipientRow, SubscriptionRow
from pressbox.soonish.domain.delivery import PERSONAL, Cause, DeliveryCounts, judge_message
from pressbox.soonish.domain.events import OPEN_VISIBILITIES, FieldChange
from pressbox.soonish.domain.reminders import SubscriptionState
from pressbox.soonish.domain.views import DeliveryView, MessageView, Reach, SubscriberView, WhyView

_EMAIL = "email"
_NO_DELIVERIES = DeliveryCounts.from_states({})
_CHANNEL_OF_DELIVERY = DeliveryRow.channel_key == func.concat("channel:", cast(ChannelRow.id, String))


async def load_message(session: AsyncSession, row: NotificationRow, slug: str) -> MessageView:
    recipients, counts = await _count_recipients(session, [row.id]), await _count_deliveries(session, [row.id])
    return _to_view(row, slug, recipients.get(row.id, 0), counts.get(row.id, _NO_DELIVERIES))


async def load_messages(session: AsyncSession, event: EventRow, limit: int, *, personal: bool) -> Sequence[MessageView]:
    """The messages of an event, newest first; without `personal`, reminders are left out."""
    statement = (
        select(NotificationRow)
        .where(NotificationRow.event_id == event.id)
        .order_by(NotificationRow.id.desc())
        .limit(limit)
    )
    if not personal:
        statement = statement.where(NotificationRow.cause.not_in(PERSONAL))
    rows = (await session.scalars(statement)).all()
    ids = [row.id for row in rows]
    recipients, counts = await _count_recipients(session, ids), await _count_deliveries(session, ids)
    return [_to_view(row, event.slug, recipients.get(row.id, 0), counts.get(row.id, _NO_DELIVERIES)) for row in rows]


async def load_owned(
    session: AsyncSession, notification_id: int, organiser_id: int, *, lock: bool = False
) -> tuple[NotificationRow, EventRow]:
    """A message and its event, for the organiser of the event."""
    statement = (
        select(NotificationRow, EventRow)
        .join(EventRow, EventRow.id == NotificationRow.event_id)
        .where(NotificationRow.id == notification_id, EventRow.organiser_id == organiser_id)
    )
    if lock:
        statement = statement.with_for_update(of=NotificationRow)
    found = (await session.execute(statement)).one_or_none()
    if found is None:
        raise NotFoundError("There is no such message.")
    return found[0], found[1]


async def load_deliveries(
    session: AsyncSession, notification_id: int, state: DeliveryState | None, after: int, limit: int
) -> Sequence[DeliveryView]:
    statement = (
        select(DeliveryRow, _person(), _channel(for_owner=False))
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
    return [
        DeliveryView(
            id=row.id,
            subscription_id=row.subscription_id,
            name=name,
            channel=channel,
            state=DeliveryState(row.state),
            reason=row.reason,
            tries=row.earlier_tries + row.tries,
            maybe_twice=row.maybe_twice,
            next_try_at=row.next_try_at,
            created_at=row.created_at,
            finished_at=row.finished_at,
        )
        for row, name, channel in (await session.execute(statement)).tuples()
    ]


async def load_reach(session: AsyncSession, event: EventRow, recipients: ColumnElement[bool]) -> Reach:
    statement = select(SubscriptionRow.id).where(
        SubscriptionRow.event_id == event.id,
        SubscriptionRow.state.in_(messages.RECIPIENT_STATES),
        recipients,
    )
    subscription_ids = (await session.scalars(statement)).all()
    addresses, kinds = await load_addresses(session, subscription_ids), await _load_kinds(session, subscription_ids)
    reached, by_kind = 0, Counter[str]()
    for subscription_id in subscription_ids:
        used = _used_kinds(subscription_id, addresses, kinds)
        reached += bool(used)
        by_kind.update(used)
    unreachable = len(subscription_ids) - reached
    return Reach(people=reached, unreachable=unreachable, by_kind=dict(sorted(by_kind.items())))


async def load_subscribers(
    session: AsyncSession,
    event: EventRow,
    after: int,
    limit: int,
    *,
    words: str = "",
    only: Collection[int] | None = None,
) -> Sequence[SubscriberView]:
    """Those whose name has these words, or only these; in the order in which they joined."""
    statement = (
        select(SubscriptionRow, _person())
        .outerjoin(UserRow, UserRow.id == SubscriptionRow.user_id)
        .outerjoin(ContactRow, ContactRow.id == SubscriptionRow.contact_id)
        .where(
            SubscriptionRow.event_id == event.id,
            SubscriptionRow.id > after,
            SubscriptionRow.state.in_(messages.RECIPIENT_STATES),
            messages.everybody(),
        )
        .order_by(SubscriptionRow.id)
        .limit(limit)
    )
    if words:
        statement = statement.where(_person().icontains(words, autoescape=True))
    if only is not None:
        statement = statement.where(SubscriptionRow.id == one_of(only))
    found = (await session.execute(statement)).tuples().all()
    subscription_ids = [row.id for row, _ in found]
    addresses, kinds = await load_addresses(session, subscription_ids), await _load_kinds(session, subscription_ids)
    views = []
    for row, name in found:
        used = _used_kinds(row.id, addresses, kinds)
        views.append(
            SubscriberView(
                subscription_id=row.id,
                name=name,
                kinds=tuple(sorted(used)),
                state=SubscriptionState(row.state),
                reachable=bool(used),
                since=row.created_at,
            )
        )
    return views


async def load_why(session: AsyncSession, delivery_id: int) -> WhyView:
    statement = (
        select(DeliveryRow, NotificationRow, EventRow, SubscriptionRow.state, _channel(for_owner=True))
        .join(NotificationRow, NotificationRow.id == DeliveryRow.notification_id)
        .join(EventRow, EventRow.id == DeliveryRow.event_id)
        .outerjoin(SubscriptionRow, SubscriptionRow.id == DeliveryRow.subscription_id)
        .outerjoin(ContactRow, ContactRow.id == SubscriptionRow.contact_id)
        .outerjoin(ChannelRow, _CHANNEL_OF_DELIVERY)
        .where(DeliveryRow.id == delivery_id)
    )
    found = (await session.execute(statement)).tuples().one_or_none()
    if found is None:
        raise NotFoundError("This message is too old: nothing about it is kept any more.")
    delivery, message, event, state, channel = found
    return WhyView(
        delivery_id=delivery.id,
        subscription_id=delivery.subscription_id,
        event_name=event.name,
        event_slug=event.slug,
        event_visible=event.deleted_at is None and event.visibility in OPEN_VISIBILITIES,
        cause=Cause(message.cause),
        level=Level(message.level),
        title=message.title,
        rule=delivery.rule,
        channel=channel,
        state=DeliveryState(delivery.state),
        reason=delivery.reason,
        tries=delivery.earlier_tries + delivery.tries,
        maybe_twice=delivery.maybe_twice,
        created_at=delivery.created_at,
        finished_at=delivery.finished_at,
        subscription_state=SubscriptionState(state) if state else None,
    )


def _used_kinds(subscription_id: int, addresses: Addresses, kinds: Mapping[str, str]) -> set[str]:
    """The kinds of channel over which a message would be sent to this subscriber."""
    targets = find_targets(subscription_id, addresses)
    return {kinds.get(target.channel_key, "") for target in targets if target.skipped is None}


def _person() -> ColumnElement[str]:
    """A name, or what may be shown of an address; never the e-mail address of an account."""
    return case(
        (UserRow.name != "", UserRow.name),
        (UserRow.id.is_not(None), func.concat(func.left(UserRow.email, 1), "***")),
        else_=func.coalesce(ContactRow.shown, ""),
    )


def _channel(*, for_owner: bool) -> ColumnElement[str]:
    """The channel of a delivery: its owner sees its name, the organiser only its kind.

    Empty for a delivery that had no usable channel.
    """
    named = func.concat(ChannelRow.name, " (", ChannelRow.kind, ")")
    channel = named if for_owner else ChannelRow.kind
    return case(
        (ChannelRow.id.is_not(None), channel),
        (DeliveryRow.channel_key.like("contact:%"), func.coalesce(ContactRow.shown, "")),
        else_="",
    )


async def _load_kinds(session: AsyncSession, subscription_ids: Sequence[int]) -> Mapping[str, str]:
    """The kind of every channel key that these subscribers could use."""
    own = SubscriptionRow.id == one_of(subscription_ids)
    channels = await session.execute(
        select(ChannelRow.id, ChannelRow.kind)
        .join(SubscriptionRow, SubscriptionRow.user_id == ChannelRow.user_id)
        .where(own)
    )
    contacts = await session.execute(
        select(ContactRow.id, ContactRow.kind, ContactRow.shown)
        .join(SubscriptionRow, SubscriptionRow.contact_id == ContactRow.id)
        .where(own)
    )
    return {
        **{f"channel:{number}": kind for number, kind in channels.tuples()},
        **{f"contact:{number}": kind if kind == _EMAIL else shown for number, kind, shown in contacts.tuples()},
    }


async def _count_recipients(session: AsyncSession, ids: Sequence[int]) -> Mapping[int, int]:
    statement = (
        select(RecipientRow.notification_id, cast(func.count(), Integer))
        .where(RecipientRow.notification_id.in_(ids))
        .group_by(RecipientRow.notification_id)
    )
    return {key: count for key, count in (await session.execute(statement)).tuples()}


async def _count_deliveries(session: AsyncSession, ids: Sequence[int]) -> Mapping[int, DeliveryCounts]:
    statement = (
        select(DeliveryRow.notification_id, DeliveryRow.state, cast(func.count(), Integer))
        .where(DeliveryRow.notification_id.in_(ids))
        .group_by(DeliveryRow.notification_id, DeliveryRow.state)
    )
    found: dict[int, dict[str, int]] = {}
    for key, state, count in (await session.execute(statement)).tuples():
        found.setdefault(key, {})[state] = count
    return {key: DeliveryCounts.from_states(by_state) for key, by_state in found.items()}


def _to_view(row: NotificationRow, slug: str, recipients: int, counts: DeliveryCounts) -> MessageView:
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
        state=judge_message(counts, is_finished=row.finished_at is not None, is_stopped=row.cancelled_at is not None),
        counts=counts,
        created_at=row.created_at,
        finished_at=row.finished_at,
        cancelled_at=row.cancelled_at,
    )
