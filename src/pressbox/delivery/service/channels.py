"""Channels: where a person with an account can be reached. Addresses come in and never go out again."""

from collections.abc import Callable, Sequence
from datetime import timedelta

from sqlalchemy import delete, select, update
from sqlalchemy.ext.asyncio import AsyncSession

from pressbox.core.accounts.limits import Limit, RateLimits
from pressbox.core.accounts.rows import UserRow
from pressbox.core.db.database import Database
from pressbox.core.errors import ConflictError, InvalidInputError, NotFoundError
from pressbox.core.logs import get_logger
from pressbox.core.notices.ways import channel_way, leave_ways
from pressbox.core.quotas.store import demand
from pressbox.core.web.languages import DEFAULT_LANGUAGE
from pressbox.delivery.adapters.address_book import find_audience
from pressbox.delivery.adapters.address_vault import AddressVault
from pressbox.delivery.adapters.channel_texts import write_test
from pressbox.delivery.adapters.rows import ChannelRow
from pressbox.delivery.domain.attempts import AttemptResult, Level
from pressbox.delivery.domain.channels import ChannelInput, ChannelView, clean_url
from pressbox.delivery.domain.services import EMAIL
from pressbox.delivery.ports import AddressCheck, Attempt, OutgoingMessage, SealedAddress, Sender
from pressbox.delivery.service.quotas import CHANNELS

log = get_logger(__name__)

TESTS_PER_USER = Limit("soonish-channel-test", 20, timedelta(minutes=10))


class ChannelService:
    def __init__(
        self,
        database: Database,
        vault: AddressVault,
        addresses: AddressCheck,
        sender: Sender,
        limits: RateLimits,
        *,
        sends_mail: bool = False,
    ) -> None:
        self.sends_mail = sends_mail
        self._database = database
        self._vault = vault
        self._addresses = addresses
        self._sender = sender
        self._limits = limits

    async def add(self, user_id: int, stated: ChannelInput) -> ChannelView:
        channel = stated.validate()
        if channel.url is None:
            raise InvalidInputError("An Apprise address is missing, such as ntfy://ntfy.sh/topic.", field="url")
        return await self._insert(user_id, channel, await self._seal(user_id, channel.url))

    async def add_email(self, user_id: int, stated: ChannelInput) -> ChannelView:
        """Add the address of the account itself: it is theirs already, so nothing is confirmed again."""
        channel = stated.validate()
        if not self.sends_mail:
            raise ConflictError("This Pressbox sends no e-mail. Choose another service.")
        async with self._database.unit_of_work() as work:
            email = (await work.session.get_one(UserRow, user_id)).email
        return await self._insert(user_id, channel, self._vault.seal(email, EMAIL, ""))

    async def _insert(self, user_id: int, channel: ChannelInput, address: SealedAddress) -> ChannelView:
        row = ChannelRow(user_id=user_id)
        _write(row, channel, address)
        async with self._database.unit_of_work() as work:
            # One after the other: of two clicks the second finds the channel of the first.
            await work.session.execute(select(UserRow.id).where(UserRow.id == user_id).with_for_update())
            if address.kind == EMAIL:
                await _renew_email(work.session, user_id, address)
            same = select(ChannelRow).where(
                ChannelRow.user_id == user_id, ChannelRow.name == channel.name, ChannelRow.target == address.target
            )
            if (found := await work.session.scalar(same.limit(1))) is not None:
                return _to_view(found)
            work.session.add(row)
            await work.session.flush()
            await work.session.refresh(row)
            await demand(work.session, CHANNELS, user_id)
        log.info("channel_added", msg="A channel was added", channel_id=row.id, kind=row.kind)
        return _to_view(row)

    async def change(self, user_id: int, channel_id: int, stated: ChannelInput) -> ChannelView:
        """Change a channel; with a new address it counts as healthy again."""
        channel = stated.validate()
        return await self.change_some(user_id, channel_id, channel.url, lambda _: channel)

    async def change_some(
        self, user_id: int, channel_id: int, url: str | None, apply: Callable[[ChannelView], ChannelInput]
    ) -> ChannelView:
        """Change some of a channel. `apply` gets the present state once nobody else can change it."""
        address = None if url is None else await self._seal(user_id, clean_url(url))
        async with self._database.unit_of_work() as work:
            row = await _load_own(work.session, user_id, channel_id, lock=True)
            _write(row, apply(_to_view(row)).validate(), address)
            return _to_view(row)

    async def remove(self, user_id: int, channel_id: int) -> None:
        row = ChannelRow
        statement = delete(row).where(row.id == channel_id, row.user_id == user_id).returning(row.id)
        async with self._database.unit_of_work() as work:
            if await work.session.scalar(statement) is None:
                raise _not_found()
            await leave_ways(work.session, user_id, [channel_way(channel_id)])
        log.info("channel_removed", msg="A channel was removed", channel_id=channel_id)

    async def list(self, user_id: int) -> Sequence[ChannelView]:
        statement = select(ChannelRow).where(ChannelRow.user_id == user_id).order_by(ChannelRow.id)
        async with self._database.unit_of_work() as work:
            return [_to_view(row) for row in await work.session.scalars(statement)]

    async def get(self, user_id: int, channel_id: int) -> ChannelView:
        async with self._database.unit_of_work() as work:
            return _to_view(await _load_own(work.session, user_id, channel_id))

    async def test(self, user_id: int, channel_id: int) -> Attempt:
        """Send a test message over a channel of one's own. If it arrives, the channel is healthy again."""
        channel = await self.get(user_id, channel_id)
        await self._limits.count(TESTS_PER_USER, str(user_id))
        text = write_test(await self._language(user_id), channel.name)
        message = OutgoingMessage(text.title, text.body, Level.INFO, why_url="", unsubscribe_url="")
        attempt = await self._sender.send(f"channel:{channel_id}", message)
        if attempt.result is AttemptResult.ACCEPTED and (channel.failures or channel.broken_at):
            async with self._database.unit_of_work() as work:
                _reset_failures(await _load_own(work.session, user_id, channel_id))
        return attempt

    async def _language(self, user_id: int) -> str:
        async with self._database.unit_of_work() as work:
            found = await work.session.scalar(select(UserRow.language).where(UserRow.id == user_id))
        return found or DEFAULT_LANGUAGE

    async def _seal(self, user_id: int, url: str) -> SealedAddress:
        async with self._database.unit_of_work() as work:
            role = await work.session.scalar(select(UserRow.role).where(UserRow.id == user_id))
        facts = await self._addresses.describe(url, find_audience(role))
        return self._vault.seal(url, facts.scheme, facts.service)


async def _load_own(session: AsyncSession, user_id: int, channel_id: int, *, lock: bool = False) -> ChannelRow:
    statement = select(ChannelRow).where(ChannelRow.id == channel_id, ChannelRow.user_id == user_id)
    row = await session.scalar(statement.with_for_update() if lock else statement)
    if row is None:
        raise _not_found()
    return row


async def _renew_email(session: AsyncSession, user_id: int, address: SealedAddress) -> None:
    """All channels to the mail of an account are one target, also those made before its address changed."""
    own = (ChannelRow.user_id == user_id, ChannelRow.kind == EMAIL)
    renewed = {"encrypted_url": address.encrypted, "key_id": address.key_id, "target": address.target}
    await session.execute(update(ChannelRow).where(*own).values(renewed))


def _not_found() -> NotFoundError:
    return NotFoundError("There is no such channel.")


def _write(row: ChannelRow, channel: ChannelInput, address: SealedAddress | None) -> None:
    row.name, row.tags, row.is_active = channel.name, list(channel.tags), channel.is_active
    if address is not None:
        row.encrypted_url, row.key_id, row.target = address.encrypted, address.key_id, address.target
        row.kind = address.shown or address.kind
        _reset_failures(row)


def _reset_failures(row: ChannelRow) -> None:
    row.failures, row.last_error = 0, ""
    row.broken_at = row.probe_at = row.owner_told_at = None


def _to_view(row: ChannelRow) -> ChannelView:
    return ChannelView(
        id=row.id,
        name=row.name,
        kind=row.kind,
        tags=tuple(row.tags),
        is_active=row.is_active,
        failures=row.failures,
        broken_at=row.broken_at,
        last_error=row.last_error,
        created_at=row.created_at,
    )
