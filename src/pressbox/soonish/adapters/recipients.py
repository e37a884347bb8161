"""Finds the channels of recipients and writes their deliveries, in a handful of statements for a whole batch."""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import ARRAY, BigInteger, ColumnElement, any_, func, literal, or_, select, text
from sqlalchemy.ext.asyncio import AsyncSession
from sqlalchemy.sql.elements import CollectionAggregate

from pressbox.delivery.adapters.rows import ChannelRow, ContactRow
from pressbox.delivery.domain.channels import Channel, Selector, choose_channels
from pressbox.soonish.adapters.rows import NotificationRow, SelectorRow, SubscriptionRow
from pressbox.soonish.domain.delivery import Cause, SkipReason
from pressbox.soonish.domain.reminders import SubscriptionState, delivery_version

NO_CHANNEL = "none"
_SKIPPED_STATES = {SubscriptionState.MUTED: SkipReason.MUTED}


@dataclass(frozen=True, slots=True)
class Recipient:
    state: str
    user_id: int | None
    contact_id: int | None
    organiser_only: bool


@dataclass(frozen=True)
class Addresses:
    """What is known of a batch of subscribers, by their ids."""

    subscriptions: Mapping[int, Recipient]
    selectors: Mapping[int, Sequence[Selector]]
    channels: Mapping[int, Sequence[Channel]]
    usable_contacts: Mapping[int, bool]


@dataclass(frozen=True)
class Target:
    """Where one message is sent, or why it is skipped. `rule` says why this channel was chosen."""

    channel_key: str
    rule: str = ""
    skipped: SkipReason | None = None


async def load_addresses(session: AsyncSession, subscription_ids: Sequence[int]) -> Addresses:
    """Load plain columns by array parameters: ten thousand mapped objects would cost seconds."""
    row = SubscriptionRow
    subscriptions = {
        found[0]: Recipient(*found[1:])
        for found in await session.execute(
            select(row.id, row.state, row.user_id, row.contact_id, row.organiser_only).where(
                row.id == one_of(subscription_ids)
            )
        )
    }
    selectors: dict[int, list[Selector]] = defaultdict(list)
    chosen = select(SelectorRow.subscription_id, SelectorRow.channel_id, SelectorRow.tag)
    for subscription_id, channel_id, tag in await session.execute(
        chosen.where(SelectorRow.subscription_id == one_of(subscription_ids))
    ):
        selectors[subscription_id].append(Selector(channel_id, tag))
    channels = await _load_channels(
        session, {item.user_id for item in subscriptions.values() if item.user_id is not None}
    )
    contacts = [item.contact_id for item in subscriptions.values() if item.contact_id is not None]
    usable = await session.execute(
        select(ContactRow.id, ~_is_given_up(ContactRow)).where(ContactRow.id == one_of(contacts))
    )
    return Addresses(subscriptions, selectors, channels, dict(usable.tuples().all()))


def one_of(numbers: Collection[int]) -> CollectionAggregate[bool]:
    """For `column == one_of(ids)`: one parameter, however many there are."""
    return any_(literal(list(numbers), ARRAY(BigInteger)))


async def _load_channels(session: AsyncSession, user_ids: Collection[int]) -> Mapping[int, Sequence[Channel]]:
    row = ChannelRow
    columns = select(row.user_id, row.id, row.tags, row.target, row.is_active, _is_given_up(row))
    found: dict[int, list[Channel]] = defaultdict(list)
    for user_id, channel_id, tags, target, is_active, broken in await session.execute(
        columns.where(row.user_id == one_of(user_ids))
    ):
        found[user_id].append(Channel(channel_id, frozenset(tags), target, is_active, broken))
    return found


def _is_given_up(row: type[ChannelRow] | type[ContactRow]) -> ColumnElement[bool]:
    """Broken, and not yet to be tried again."""
    return row.broken_at.is_not(None) & or_(row.probe_at.is_(None), row.probe_at > func.now())


def find_targets(subscription_id: int, addresses: Addresses) -> Sequence[Target]:
    """Where a message for this subscription is sent; never empty, so that nobody is missing from the ledger."""
    row = addresses.subscriptions.get(subscription_id)
    state = SubscriptionState(row.state) if row else SubscriptionState.LEFT
    if row is None or state is not SubscriptionState.ACTIVE:
        return (Target(NO_CHANNEL, skipped=_SKIPPED_STATES.get(state, SkipReason.LEFT)),)
    if row.contact_id is not None:
        usable = addresses.usable_contacts.get(row.contact_id, False)
        rule = "the address with which you subscribed"
        return (Target(f"contact:{row.contact_id}", rule, None if usable else SkipReason.CHANNEL_BROKEN),)
    assert row.user_id is not None, "the table allows either a user or a contact"
    own = addresses.channels.get(row.user_id, ())
    selectors = addresses.selectors.get(subscription_id, ())
    if row.organiser_only:
        selectors = [Selector(channel_id=channel.channel_id) for channel in own]
    found = [
        Target(
            f"channel:{channel.channel_id}",
            "you organise this event" if row.organiser_only else _explain_choice(channel, selectors),
            SkipReason.CHANNEL_BROKEN if channel.broken else None,
        )
        for channel in choose_channels(selectors, own)
    ]
    return found or (Target(NO_CHANNEL, skipped=SkipReason.NO_TARGETS),)


async def write_deliveries(
    session: AsyncSession, notification: NotificationRow, subscription_ids: Sequence[int], now: datetime
) -> None:
    """Write the rows of these recipients, before anything is sent."""
    addresses = await load_addresses(session, subscription_ids)
    rows = [(key, target) for key in subscription_ids for target in find_targets(key, addresses)]
    await session.execute(
        _WRITE,
        {
            "notification_id": notification.id,
            "event_id": notification.event_id,
            "cause": notification.cause,
            "now": now,
            "subscriptions": [key for key, _ in rows],
            "versions": [version_for(notification, key) for key, _ in rows],
            "channels": [target.channel_key for _, target in rows],
            "rules": [target.rule for _, target in rows],
            "reasons": [str(target.skipped or "") for _, target in rows],
        },
    )


def version_for(notification: NotificationRow, subscription_id: int) -> str:
    """A reminder to everybody has the version of each person's own: whoever got that one gets no second."""
    if notification.cause != Cause.REMINDER:
        return notification.version
    return delivery_version(notification.version, subscription_id)


# Arrays make it one statement; with a row per value it would be sent once per row.
_WRITE = text("""
    INSERT INTO soonish.deliveries
        (notification_id, event_id, cause, version, subscription_id, channel_key, rule, reason, state, finished_at)
    SELECT :notification_id, :event_id, :cause, item.version, item.subscription_id, item.channel_key, item.rule,
        item.reason, CASE WHEN item.reason = '' THEN 'pending' ELSE 'skipped' END,
        CASE WHEN item.reason <> '' THEN CAST(:now AS timestamptz) END
    FROM unnest(CAST(:subscriptions AS bigint[]), CAST(:channels AS text[]), CAST(:rules AS text[]),
        CAST(:reasons AS text[]), CAST(:versions AS text[]))
        AS item (subscription_id, channel_key, rule, reason, version)
    ON CONFLICT DO NOTHING
""")


def _explain_choice(channel: Channel, selectors: Sequence[Selector]) -> str:
    if any(selector.channel_id == channel.channel_id for selector in selectors):
        return "you chose this channel"
    tags = sorted(channel.tags & {selector.tag for selector in selectors if selector.tag is not None})
    return f"you chose the tag {tags[0]}"
