"""Finds the address behind a `channel_key`: loaded for many at once, decrypted when it is used."""

import asyncio
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field

from sqlalchemy import select

from pressbox.core.db.database import Database
from pressbox.soonish.adapters.rows import ChannelRow, ContactRow, SubscriptionRow
from pressbox.soonish.domain.delivery import SkipReason
from pressbox.soonish.domain.reminders import SubscriptionState

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


# A channel key and, where only an active subscription may be sent to, its id.
Recipient = tuple[str, int | None]


class UnwantedError(Exception):
    """Its person has left or muted the event."""

    def __init__(self, reason: SkipReason) -> None:
        super().__init__(reason)
        self.reason = reason


class AddressBook:
    """Callers that ask at the same time share one statement: a broadcast asks for dozens at a time."""

    def __init__(self, database: Database, reveal: Reveal) -> None:
        self._database = database
        self._reveal = reveal
        self._pending: dict[Recipient, asyncio.Future[Destination | None]] = {}
        self._loading: set[asyncio.Task[None]] = set()

    async def find(self, channel_key: str, subscription_id: int | None = None) -> Destination | None:
        """Return None when the channel is gone or switched off; raise when the subscription is not active."""
        recipient = (channel_key, subscription_id)
        if recipient not in self._pending:
            self._pending[recipient] = asyncio.get_running_loop().create_future()
            if len(self._pending) == 1:
                task = asyncio.create_task(self._load())
                self._loading.add(task)
                task.add_done_callback(self._loading.discard)
        # Shielded: others may wait for the same address when this caller is cancelled.
        return await asyncio.shield(self._pending[recipient])

    async def _load(self) -> None:
        await asyncio.sleep(GATHER_SECONDS)
        pending, self._pending = self._pending, {}
        try:
            found = await self._load_rows(tuple({key for key, _ in pending}))
            states = await self._load_states([number for _, number in pending if number is not None])
            for (key, subscription_id), future in pending.items():
                row, state = found.get(key), states.get(subscription_id or 0)
                if subscription_id is not None and state != SubscriptionState.ACTIVE:
                    muted = state == SubscriptionState.MUTED
                    future.set_exception(UnwantedError(SkipReason.MUTED if muted else SkipReason.LEFT))
                else:
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
            ChannelRow.id.in_(row_ids(keys, "channel")), ChannelRow.is_active
        )
        contacts = select(ContactRow.id, ContactRow.kind, ContactRow.encrypted_address, ContactRow.key_id).where(
            ContactRow.id.in_(row_ids(keys, "contact"))
        )
        found: dict[str, tuple[str, bytes, str]] = {}
        async with self._database.unit_of_work() as work:
            for table, statement in (("channel", channels), ("contact", contacts)):
                if not row_ids(keys, table):
                    continue
                for number, kind, encrypted, key_id in (await work.session.execute(statement)).tuples():
                    found[f"{table}:{number}"] = (kind, encrypted, key_id)
        return found

    async def _load_states(self, subscription_ids: Sequence[int]) -> Mapping[int, str]:
        if not subscription_ids:
            return {}
        row = SubscriptionRow
        async with self._database.unit_of_work() as work:
            found = await work.session.execute(select(row.id, row.state).where(row.id.in_(subscription_ids)))
            return {number: state for number, state in found.tuples()}


def row_ids(keys: Collection[str], table: str) -> list[int]:
    """The ids of the rows of one table (`channel` or `contact`) among these channel keys."""
    return [int(number) for name, _, number in (key.partition(":") for key in keys) if name == table]
