"""Finds the address behind a `channel_key`: loaded for many at once, decrypted when it is used."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from sqlalchemy import select

from pressbox.core.db.database import Database
from pressbox.soonish.adapters.address_vault import AddressVault
from pressbox.soonish.adapters.rows import ChannelRow, ContactRow

EMAIL = "email"
# Long enough to gather many keys for one statement, too short for anybody to notice.
GATHER_SECONDS = 0.02

# Decrypts an address from its bytes and the id of the key with which it was encrypted.
Reveal = Callable[[bytes, str], str]


@dataclass(frozen=True)
class Destination:
    """A decrypted address. It is a credential: only the sender gets it."""

    kind: str
    address: str = field(repr=False)


class AddressBook:
    """Callers that ask at the same time share one statement: a broadcast asks for dozens at a time."""

    def __init__(self, database: Database, reveal: Reveal) -> None:
        self._database = database
        self._reveal = reveal
        self._pending: dict[str, asyncio.Future[Destination | None]] = {}
        self._loading: set[asyncio.Task[None]] = set()

    async def find(self, channel_key: str) -> Destination | None:
        """Return None when the channel is gone or switched off."""
        if channel_key not in self._pending:
            self._pending[channel_key] = asyncio.get_running_loop().create_future()
            if len(self._pending) == 1:
                task = asyncio.create_task(self._load())
                self._loading.add(task)
                task.add_done_callback(self._loading.discard)
        # Shielded: others may wait for the same address when this caller is cancelled.
        return await asyncio.shield(self._pending[channel_key])

    async def _load(self) -> None:
        await asyncio.sleep(GATHER_SECONDS)
        pending, self._pending = self._pending, {}
        try:
            found = await self._load_rows(tuple(pending))
            for key, future in pending.items():
                row = found.get(key)
                future.set_result(None if row is None else Destination(row[0], self._reveal(row[1], row[2])))
        # Every waiting caller raises it, whatever it is.
        except BaseException as error:
            for future in pending.values():
                if not future.done():
                    future.set_exception(error)
            if not isinstance(error, Exception):
                raise

    async def _load_rows(self, keys: Sequence[str]) -> Mapping[str, tuple[str, bytes, str]]:
        channels = select(ChannelRow.id, ChannelRow.kind, ChannelRow.encrypted_url, ChannelRow.key_id).where(
            ChannelRow.id.in_(_ids(keys, "channel")), ChannelRow.is_active
        )
        contacts = select(ContactRow.id, ContactRow.kind, ContactRow.encrypted_address, ContactRow.key_id).where(
            ContactRow.id.in_(_ids(keys, "contact"))
        )
        found: dict[str, tuple[str, bytes, str]] = {}
        async with self._database.unit_of_work() as work:
            for table, statement in (("channel", channels), ("contact", contacts)):
                if not _ids(keys, table):
                    continue
                for number, kind, encrypted, key_id in (await work.session.execute(statement)).tuples():
                    found[f"{table}:{number}"] = (kind, encrypted, key_id)
        return found


async def seal_again(database: Database, vault: AddressVault) -> int:
    """Encrypt every address that another key encrypted with the present key, all or none; returns how many."""
    async with database.unit_of_work() as work:
        channels = select(ChannelRow).where(ChannelRow.key_id != vault.key_id).with_for_update()
        contacts = select(ContactRow).where(ContactRow.key_id != vault.key_id).with_for_update()
        count = 0
        for channel in await work.session.scalars(channels):
            sealed = vault.seal(vault.reveal(channel.encrypted_url, channel.key_id), "", "")
            channel.encrypted_url, channel.key_id, channel.target = sealed.encrypted, sealed.key_id, sealed.target
            count += 1
        for contact in await work.session.scalars(contacts):
            sealed = vault.seal(vault.reveal(contact.encrypted_address, contact.key_id), "", "")
            contact.encrypted_address, contact.key_id, contact.target = sealed.encrypted, sealed.key_id, sealed.target
            count += 1
        return count


def _ids(keys: Sequence[str], table: str) -> list[int]:
    return [int(number) for name, _, number in (key.partition(":") for key in keys) if name == table]
