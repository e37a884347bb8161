"""From recipients to deliveries: which channels of whom, in a handful of statements for a whole batch."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncSession

from pressbox.soonish.adapters.rows import ChannelRow, ContactRow, NotificationRow, SelectorRow, SubscriptionRow
from pressbox.soonish.domain.delivery import Channel, DeliveryState, Selector, SkipReason, chosen_channels
from pressbox.soonish.domain.reminders import SubscriptionState

NOWHERE = "none"
_SKIPPED_STATES = {SubscriptionState.MUTED: SkipReason.MUTED}


@dataclass(frozen=True)
class Addresses:
    """What is known of a batch of subscribers, by their ids."""

    subscriptions: Mapping[int, SubscriptionRow]
    selectors: Mapping[int, Sequence[Selector]]
    channels: Mapping[int, Sequence[Channel]]
    usable_contacts: Mapping[int, bool]


@dataclass(frozen=True)
class Target:
    """Where one message goes, or why it does not. `rule` says in words why this channel."""

    channel_key: str
    rule: str = ""
    skipped: SkipReason | None = None


def channel_of(row: ChannelRow) -> Channel:
    return Channel(
        channel_id=row.id,
        tags=frozenset(row.tags),
        target=row.target,
        is_active=row.is_active,
        broken=row.broken_at is not None,
    )


async def load_addresses(session: AsyncSession, subscription_ids: Sequence[int]) -> Addresses:
    found = await session.scalars(select(SubscriptionRow).where(SubscriptionRow.id.in_(subscription_ids)))
    subscriptions = {row.id: row for row in found}
    selectors: dict[int, list[Selector]] = defaultdict(list)
    for chosen in await session.scalars(select(SelectorRow).where(SelectorRow.subscription_id.in_(subscription_ids))):
        selectors[chosen.subscription_id].append(Selector(channel_id=chosen.channel_id, tag=chosen.tag))
    users = {row.user_id for row in subscriptions.values() if row.user_id is not None}
    channels: dict[int, list[Channel]] = defaultdict(list)
    for channel in await session.scalars(select(ChannelRow).where(ChannelRow.user_id.in_(users))):
        channels[channel.user_id].append(channel_of(channel))
    contacts = {row.contact_id for row in subscriptions.values() if row.contact_id is not None}
    usable = await session.execute(select(ContactRow.id, ContactRow.broken_at).where(ContactRow.id.in_(contacts)))
    return Addresses(subscriptions, selectors, channels, {key: broken is None for key, broken in usable.tuples()})


def targets(subscription_id: int, addresses: Addresses) -> Sequence[Target]:
    """Where a message for this subscription goes; never empty, so that nobody is missing from the ledger."""
    row = addresses.subscriptions.get(subscription_id)
    state = SubscriptionState(row.state) if row else SubscriptionState.LEFT
    if row is None or state is not SubscriptionState.ACTIVE:
        return (Target(NOWHERE, skipped=_SKIPPED_STATES.get(state, SkipReason.LEFT)),)
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
            "you organise this event" if row.organiser_only else _rule(channel, selectors),
            SkipReason.CHANNEL_BROKEN if channel.broken else None,
        )
        for channel in chosen_channels(selectors, own)
    ]
    return found or (Target(NOWHERE, skipped=SkipReason.NO_TARGETS),)


def deliveries(
    notification: NotificationRow, subscription_ids: Sequence[int], addresses: Addresses, now: datetime
) -> Iterator[dict[str, Any]]:
    """The rows to write before anything is sent."""
    for subscription_id in subscription_ids:
        for target in targets(subscription_id, addresses):
            yield {
                "notification_id": notification.id,
                "event_id": notification.event_id,
                "subscription_id": subscription_id,
                "cause": notification.cause,
                "version": notification.version,
                "channel_key": target.channel_key,
                "state": DeliveryState.SKIPPED if target.skipped else DeliveryState.PENDING,
                "reason": target.skipped or "",
                "rule": target.rule,
                "finished_at": now if target.skipped else None,
            }


def _rule(channel: Channel, selectors: Sequence[Selector]) -> str:
    if any(selector.channel_id == channel.channel_id for selector in selectors):
        return "you chose this channel"
    tags = sorted(channel.tags & {selector.tag for selector in selectors if selector.tag is not None})
    return f"you chose the tag {tags[0]}"
