"""Channels: where a person with an account can be reached."""

from collections.abc import Sequence
from datetime import timedelta

from pressbox.core.accounts.limits import Limit, RateLimits
from pressbox.core.errors import InvalidInputError
from pressbox.core.logs import get_logger
from pressbox.soonish.domain.delivery import AttemptResult, Level
from pressbox.soonish.domain.views import ChannelView
from pressbox.soonish.ports import Attempt, Outgoing, Sealed, Sender
from pressbox.soonish.service.inputs import MOST_CHANNELS, ChannelInput
from pressbox.soonish.service.stores import AddressCheck, ChannelStore, Vault

log = get_logger(__name__)

TESTS_BY_USER = Limit("soonish-channel-test", 20, timedelta(minutes=10))


class ChannelService:
    """Addresses come in and never go out again."""

    def __init__(
        self, channels: ChannelStore, vault: Vault, addresses: AddressCheck, sender: Sender, limits: RateLimits
    ) -> None:
        self._channels = channels
        self._vault = vault
        self._addresses = addresses
        self._sender = sender
        self._limits = limits

    async def add(self, user_id: int, stated: ChannelInput) -> ChannelView:
        checked = stated.checked()
        if checked.url is None:
            raise InvalidInputError("An Apprise address is missing, such as ntfy://ntfy.sh/topic.", field="url")
        address = self._sealed(checked.url)
        channel = await self._channels.add(
            user_id, checked.name, checked.tags, checked.is_active, address, MOST_CHANNELS
        )
        log.info("channel_added", msg="A channel was added", channel_id=channel.id, kind=channel.kind)
        return channel

    async def change(self, user_id: int, channel_id: int, stated: ChannelInput) -> ChannelView:
        """Change name, tags and use; with a new address the channel is healthy again."""
        checked = stated.checked()
        address = self._sealed(checked.url) if checked.url is not None else None
        return await self._channels.change(user_id, channel_id, checked.name, checked.tags, checked.is_active, address)

    async def remove(self, user_id: int, channel_id: int) -> None:
        await self._channels.remove(user_id, channel_id)
        log.info("channel_removed", msg="A channel was removed", channel_id=channel_id)

    async def all(self, user_id: int) -> Sequence[ChannelView]:
        return await self._channels.all(user_id)

    async def get(self, user_id: int, channel_id: int) -> ChannelView:
        return await self._channels.get(user_id, channel_id)

    async def test(self, user_id: int, channel_id: int) -> Attempt:
        """Send one message over a channel of one's own and say what became of it. One that arrives mends it."""
        channel = await self._channels.get(user_id, channel_id)
        await self._limits.count(TESTS_BY_USER, str(user_id))
        text = f"This is a test of the channel {channel.name}. If you can read it, it works."
        message = Outgoing("Test from Pressbox", text, Level.INFO, why_url="", unsubscribe_url="")
        attempt = await self._sender.send(f"channel:{channel_id}", message)
        if attempt.result is AttemptResult.ACCEPTED and (channel.failures or channel.broken_at):
            await self._channels.mend(user_id, channel_id)
        return attempt

    def _sealed(self, url: str) -> Sealed:
        kind, shown = self._addresses.kind(url)
        return self._vault.seal(url, kind, shown)
