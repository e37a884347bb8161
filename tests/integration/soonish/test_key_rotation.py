"""A change of the instance key, with everything in the database that the old one sealed."""

import pytest
from sqlalchemy import select, text

from pressbox.core.db.database import Database
from pressbox.delivery.adapters.address_vault import AddressVault
from pressbox.delivery.adapters.rows import ContactRow
from pressbox.soonish.adapters.key_rotation import seal_again
from pressbox.soonish.adapters.rows import SubscriptionRow
from pressbox.soonish.adapters.subscription_rows import save_contact
from tests.integration.soonish.service_world import KEY, House

URL, MAIL = "ntfy://example.org/k3y-of-nobody-else", "guest.person@example.org"


@pytest.fixture
def house(database: Database) -> House:
    return House(database)


async def subscribe(house: House, vault: AddressVault, event_id: int, address: str, state: str = "active") -> int:
    kind = "email" if "@" in address else "ntfy"
    async with house.database.unit_of_work() as work:
        contact_id = await save_contact(work.session, vault.seal(address, kind, kind))
        row = SubscriptionRow(event_id=event_id, contact_id=contact_id, state=state)
        work.session.add(row)
        await work.session.flush()
        return row.id


async def sealed_rows(house: House) -> list[tuple[bytes, str, bytes]]:
    async with house.database.unit_of_work() as work:
        rows = await work.session.execute(
            text(
                "SELECT encrypted_url, key_id, target FROM soonish.channels"
                " UNION ALL SELECT encrypted_address, key_id, target FROM soonish.contacts"
            )
        )
        return [(bytes(encrypted), key_id, bytes(target)) for encrypted, key_id, target in rows]


async def test_every_kind_of_address_is_sealed_again_however_often_the_key_changes(house: House) -> None:
    user = await house.person()
    await house.channel(user, url=URL)
    event, vault = await house.event(user), AddressVault([KEY])
    for address in (URL, MAIL):
        await subscribe(house, vault, event.id, address)
    keys = [KEY]
    for following in ("the next key", "the key after that"):
        keys.insert(0, following)
        vault = AddressVault(keys)
        assert await seal_again(house.database, vault) == 3
        assert await seal_again(house.database, vault) == 0
        alone = AddressVault([following])
        revealed = [(alone.reveal(sealed, key_id), target) for sealed, key_id, target in await sealed_rows(house)]
        assert sorted(address for address, _ in revealed) == [MAIL, URL, URL]
        assert all(alone.target(address) == target for address, target in revealed)


async def test_a_known_address_that_subscribes_elsewhere_before_the_rotation_stays_one_contact(house: House) -> None:
    user = await house.person()
    first, second = await house.event(user), await house.event(user)
    vault = AddressVault(["the next key", KEY])
    for address in (URL, MAIL):
        await subscribe(house, AddressVault([KEY]), first.id, address)
        await subscribe(house, vault, second.id, address)
    assert await seal_again(house.database, vault) == 0, "the second subscription has already sealed them again"
    async with house.database.unit_of_work() as work:
        strangers = SubscriptionRow.contact_id.is_not(None)
        rows = (await work.session.scalars(select(SubscriptionRow.contact_id).where(strangers))).all()
        assert len(rows) == 4
        assert len(set(rows)) == 2


async def test_two_rows_of_one_address_become_one_and_the_last_word_of_its_person_counts(house: House) -> None:
    """Rows that an earlier version left behind: it did not recognise an address under another key."""
    user = await house.person()
    both, only_old = await house.event(user), await house.event(user)
    old, new = AddressVault([KEY]), AddressVault(["the next key"])
    await subscribe(house, old, both.id, MAIL)
    kept = await subscribe(house, old, only_old.id, MAIL)
    left = await subscribe(house, new, both.id, MAIL, state="left")
    vault = AddressVault(["the next key", KEY])
    assert await seal_again(house.database, vault) == 1
    async with house.database.unit_of_work() as work:
        [contact] = await work.session.scalars(select(ContactRow))
        found = await work.session.execute(
            select(SubscriptionRow.id, SubscriptionRow.contact_id, SubscriptionRow.state).where(
                SubscriptionRow.contact_id.is_not(None)
            )
        )
        expected = {(kept, contact.id, "active"), (left, contact.id, "left")}
        assert {tuple(row) for row in found} == expected
    assert await seal_again(house.database, vault) == 0
