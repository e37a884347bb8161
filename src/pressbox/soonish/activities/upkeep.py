"""The effects of upkeep: owners hear of channels that stopped working, deleted events go in the end."""

from datetime import timedelta

from temporalio import activity

from pressbox.core.errors import PressboxError
from pressbox.core.temporal.heartbeat import Heartbeat
from pressbox.soonish.activities.post import Clock, utc_now
from pressbox.soonish.contracts import SweepInput, SweepResult
from pressbox.soonish.domain.delivery import Level
from pressbox.soonish.domain.messages import channel_broken
from pressbox.soonish.ports import BrokenChannel, BrokenChannels, Events, Mailer, Outgoing, Sender

# As long as that, the links in the last messages of a deleted event still say why they were sent.
KEEP_DELETED = timedelta(days=7)
AT_ONCE = 50


class UpkeepActivities:
    """Without a mail server, an owner who has no other channel sees it on the page only."""

    def __init__(
        self, events: Events, broken: BrokenChannels, sender: Sender, mailer: Mailer | None, now: Clock = utc_now
    ) -> None:
        self._events = events
        self._broken = broken
        self._sender = sender
        self._mailer = mailer
        self._now = now

    @activity.defn
    async def tell_owners_of_broken_channels(self, input: SweepInput) -> SweepResult:
        """Once each, over their other channels or by mail."""
        async with Heartbeat(every_seconds=2):
            broken = await self._broken.claim(AT_ONCE)
            for channel in broken:
                await self._tell(channel)
        return SweepResult(broken=len(broken))

    @activity.defn
    async def purge_deleted_events(self, input: SweepInput) -> SweepResult:
        return SweepResult(purged=await self._events.purge_deleted(self._now() - KEEP_DELETED))

    async def _tell(self, channel: BrokenChannel) -> None:
        text = channel_broken(channel.name, channel.reason)
        message = Outgoing(text.title, text.body, Level.WARNING, why_url="", unsubscribe_url="")
        for key in channel.other_channels:
            await self._sender.send(key, message)
        if not channel.other_channels and self._mailer is not None:
            try:
                await self._mailer.send(channel.owner_email, text.title, text.body, {})
            except PressboxError as error:
                activity.logger.warning("Channel %s is broken; no mail to its owner: %s", channel.channel_id, error)
