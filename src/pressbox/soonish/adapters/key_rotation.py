"""Encrypts every address with the present instance key, after the key was changed."""

from sqlalchemy import delete, select, update
from sqlalchemy.ext.asyncio import AsyncSession

from pressbox.core.db.database import Database
from pressbox.delivery.adapters.address_vault import AddressVault
from pressbox.delivery.adapters.rows import ChannelRow, ContactRow
from pressbox.delivery.domain.attempts import DeliveryState
from pressbox.soonish.adapters.rows import DeliveryRow, SubscriptionRow


async def seal_again(database: Database, vault: AddressVault) -> int:
    """Encrypt every address that another key encrypted with the present key, all or none; returns how many."""
    async with database.unit_of_work() as work:
        return await _seal_channels(work.session, vault) + await _seal_contacts(work.session, vault)


async def _seal_channels(session: AsyncSession, vault: AddressVault) -> int:
    older = select(ChannelRow).where(ChannelRow.key_id != vault.key_id).with_for_update()
    rows = (await session.scalars(older)).all()
    for row in rows:
        sealed = vault.seal(vault.reveal(row.encrypted_url, row.key_id), "", "")
        row.encrypted_url, row.key_id, row.target = sealed.encrypted, sealed.key_id, sealed.target
    return len(rows)


async def _seal_contacts(session: AsyncSession, vault: AddressVault) -> int:
    older = select(ContactRow).where(ContactRow.key_id != vault.key_id).order_by(ContactRow.id).with_for_update()
    rows = (await session.scalars(older)).all()
    for row in rows:
        sealed = vault.seal(vault.reveal(row.encrypted_address, row.key_id), "", "")
        same = await session.scalar(select(ContactRow).where(ContactRow.target == sealed.target).with_for_update())
        if same is not None and same.id != row.id:
            await _merge_contacts(session, row, same)
            continue
        row.encrypted_address, row.key_id, row.target = sealed.encrypted, sealed.key_id, sealed.target
        await session.flush()
    return len(rows)


async def _merge_contacts(session: AsyncSession, old: ContactRow, kept: ContactRow) -> None:
    """One address has two rows: its subscriptions move to one of them. Of two to one event, the last change counts."""
    theirs = select(SubscriptionRow).where(SubscriptionRow.contact_id.in_((old.id, kept.id))).with_for_update()
    by_event: dict[int, list[SubscriptionRow]] = {}
    for subscription in await session.scalars(theirs):
        by_event.setdefault(subscription.event_id, []).append(subscription)
    for found in by_event.values():
        last = max(found, key=lambda item: item.changed_at)
        others = [item.id for item in found if item is not last]
        await session.execute(delete(SubscriptionRow).where(SubscriptionRow.id.in_(others)))
        last.contact_id = kept.id
        await session.flush()
    waiting = (DeliveryRow.channel_key == f"contact:{old.id}", DeliveryRow.state == DeliveryState.PENDING)
    await session.execute(update(DeliveryRow).where(*waiting).values(channel_key=f"contact:{kept.id}"))
    kept.verified_at = kept.verified_at or old.verified_at
    await session.execute(delete(ContactRow).where(ContactRow.id == old.id))
