"""Where a message goes: the address behind a `channel_key`, loaded for many at once and decrypted when it is used."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from sqlalchemy import select

from pressbox.core.db.database import Database
from pressbox.soonish.adapters.rows import ChannelRow, ContactRow

EMAIL = "email"
# Nobody waits for a message so short a time, and a statement for many costs hardly more than one for a single one.
GATHER_SECONDS = 0.02

# Opens what is kept encrypted: the bytes and the id of the key with which they were written.
Reveal = Callable[[bytes, str], str]


@dataclass(frozen=True)
class Destination:
    """An address in the clear. It is a credential: it stays in the hands of the sender."""

    kind: str
    address: str = field(repr=False)


class AddressBook:
    """Callers that ask within the same moment share one statement: a broadcast asks for dozens at a time."""

    def __init__(self, database: Database, reveal: Reveal) -> None:
        self._database = database
        self._reveal = reveal
        self._asked: dict[str, asyncio.Future[Destination | None]] = {}
        self._loading: set[asyncio.Task[None]] = set()

    async def find(self, channel_key: str) -> Destination | None:
        """None when it is gone or switched off."""
        if channel_key not in self._asked:
            self._asked[channel_key] = asyncio.get_running_loop().create_future()
            if len(self._asked) == 1:
                task = asyncio.create_task(self._load())
                self._loading.add(task)
                task.add_done_callback(self._loading.discard)
        # Shielded: one of several that wait for it may be cancelled.
        return await asyncio.shield(self._asked[channel_key])

    async def _load(self) -> None:
        await asyncio.sleep(GATHER_SECONDS)
        asked, self._asked = self._asked, {}
        try:
            found = await self._rows(tuple(asked))
            for key, future in asked.items():
                row = found.get(key)
                future.set_result(None if row is None else Destination(row[0], self._reveal(row[1], row[2])))
        # Whatever it is belongs to those who asked: each of them raises it.
        except BaseException as error:
            for future in asked.values():
                if not future.done():
                    future.set_exception(error)
            if not isinstance(error, Exception):
                raise

    async def _rows(self, keys: Sequence[str]) -> Mapping[str, tuple[str, bytes, str]]:
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


def _ids(keys: Sequence[str], table: str) -> list[int]:
    return [int(number) for name, _, number in (key.partition(":") for key in keys) if name == table]
