"""Finds the address behind a `channel_key`: loaded for many at once, decrypted when it is used."""

from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field

from sqlalchemy import Text, cast, literal, select

from pressbox.core.accounts.models import Role
from pressbox.core.accounts.rows import UserRow
from pressbox.core.db.database import Database
from pressbox.delivery.adapters.gathered import Gathered
from pressbox.delivery.adapters.rows import ChannelRow, ContactRow
from pressbox.delivery.domain.targets import Audience

EMAIL = "email"

# Decrypts an address from its bytes and the id of the key with which it was encrypted.
Reveal = Callable[[bytes, str], str]


@dataclass(frozen=True)
class Destination:
    """A decrypted address. It is a credential: only the sender gets it."""

    kind: str
    address: str = field(repr=False)
    audience: Audience = Audience.ANYBODY


# A channel key and, where it must be wanted still, the id of its recipient.
Recipient = tuple[str, int | None]
# Of these recipients those who want nothing any more, each with the reason.
FindUnwanted = Callable[[Collection[int]], Awaitable[Mapping[int, str]]]


async def find_nobody(_: Collection[int]) -> Mapping[int, str]:
    """For messages that have no recipients who could leave, such as tests of a channel."""
    return {}


# Its kind, the sealed address, the key with which it was sealed, and the role of its owner: None without an account.
SealedDestination = tuple[str, bytes, str, str | None]


def find_audience(role: str | None) -> Audience:
    """Who gives an address, by the role of their account; None is somebody without one."""
    if role is None:
        return Audience.ANYBODY
    return Audience.ADMINISTRATOR if role == Role.ADMIN else Audience.MEMBER


class UnwantedError(Exception):
    """Its person wants it no longer."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class AddressBook:
    """Callers that ask at the same time share one statement: a broadcast asks for dozens at a time."""

    def __init__(self, database: Database, reveal: Reveal, find_unwanted: FindUnwanted = find_nobody) -> None:
        self._database = database
        self._reveal = reveal
        self._find_unwanted = find_unwanted
        self._gathered = Gathered[Recipient, Destination | UnwantedError](self._load)

    async def find(self, channel_key: str, recipient_id: int | None = None) -> Destination | None:
        """Return None when the channel is gone or switched off; raise when the recipient wants nothing any more."""
        found = await self._gathered.get((channel_key, recipient_id))
        if isinstance(found, UnwantedError):
            raise UnwantedError(found.reason)
        return found

    async def _load(self, asked: Sequence[Recipient]) -> Mapping[Recipient, Destination | UnwantedError]:
        rows = await self._load_rows(tuple({key for key, _ in asked}))
        recipients = [number for _, number in asked if number is not None]
        unwanted = await self._find_unwanted(recipients) if recipients else {}
        found: dict[Recipient, Destination | UnwantedError] = {}
        for key, recipient_id in asked:
            if recipient_id is not None and recipient_id in unwanted:
                found[(key, recipient_id)] = UnwantedError(unwanted[recipient_id])
            elif key in rows:
                found[(key, recipient_id)] = self._open(rows[key])
        return found

    def _open(self, row: SealedDestination | Destination) -> Destination:
        if isinstance(row, Destination):
            return row
        kind, encrypted, key_id, role = row
        return Destination(kind, self._reveal(encrypted, key_id), find_audience(role))

    async def _load_rows(self, keys: Sequence[str]) -> Mapping[str, SealedDestination | Destination]:
        channel, contact = ChannelRow, ContactRow
        channels = (
            select(channel.id, channel.kind, channel.encrypted_url, channel.key_id, UserRow.role, UserRow.email)
            .join(UserRow, UserRow.id == channel.user_id)
            .where(channel.id.in_(row_ids(keys, "channel")), channel.is_active)
        )
        nobody = cast(literal(None), Text)
        contacts = select(contact.id, contact.kind, contact.encrypted_address, contact.key_id, nobody, nobody).where(
            contact.id.in_(row_ids(keys, "contact"))
        )
        found: dict[str, SealedDestination | Destination] = {}
        async with self._database.unit_of_work() as work:
            if accounts := row_ids(keys, "account"):
                active = (UserRow.disabled_at.is_(None), UserRow.deleted_at.is_(None))
                people = select(UserRow.id, UserRow.email).where(UserRow.id.in_(accounts), *active)
                for number, email in (await work.session.execute(people)).tuples():
                    found[f"account:{number}"] = Destination(EMAIL, email)
            for table, statement in (("channel", channels), ("contact", contacts)):
                if not row_ids(keys, table):
                    continue
                for number, kind, encrypted, key_id, role, email in (await work.session.execute(statement)).tuples():
                    # The mail of an account goes to the address it has now, not to the one it had when this was sealed.
                    own_mail = Destination(EMAIL, email) if kind == EMAIL and email is not None else None
                    found[f"{table}:{number}"] = own_mail or (kind, encrypted, key_id, role)
        return found


def row_ids(keys: Collection[str], table: str) -> list[int]:
    """The ids of the rows of one table (`channel`, `contact` or `account`) among these channel keys."""
    return [int(number) for name, _, number in (key.partition(":") for key in keys) if name == table]
