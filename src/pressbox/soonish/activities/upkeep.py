"""Activities of upkeep: tell people about broken channels, and remove deleted events for good."""

from datetime import timedelta

from temporalio import activity

from pressbox.core.clock import Clock, utc_now
from pressbox.core.errors import PressboxError
from pressbox.core.temporal.calls import call_with
from pressbox.core.temporal.options import LONG
from pressbox.delivery.activities.heartbeats import heartbeat
from pressbox.delivery.domain.attempts import Level
from pressbox.delivery.ports import BrokenChannel, BrokenChannels, Mailer, OutgoingMessage, Sender
from pressbox.soonish.contracts import SweepInput, SweepResult
from pressbox.soonish.ports import Events

# For this long the links in the last messages of a deleted event still explain why they were sent.
KEEP_DELETED = timedelta(days=7)
# For this long an address that did not confirm is kept: its links still say what became of it.
KEEP_UNCONFIRMED = timedelta(days=7)
# And for this long after they left, or after the event was over.
KEEP_GONE = timedelta(days=30)
CHANNELS_PER_SWEEP = 50


class UpkeepActivities:
    """Without a mail server, an owner without another channel sees a broken channel only on the channels page."""

    def __init__(
        self, events: Events, broken: BrokenChannels, sender: Sender, mailer: Mailer | None, now: Clock = utc_now
    ) -> None:
        self._events = events
        self._broken = broken
        self._sender = sender
        self._mailer = mailer
        self._now = now

    @activity.defn
    @call_with(LONG)
    async def tell_owners_of_broken_channels(self, input: SweepInput) -> SweepResult:
        """Tell each owner once, over their other channels or by mail."""
        async with heartbeat():
            broken = await self._broken.claim(CHANNELS_PER_SWEEP)
            for channel in broken:
                await self._tell_owner(channel)
        return SweepResult(broken=len(broken))

    @activity.defn
    @call_with(LONG)
    async def purge_deleted_events(self, input: SweepInput) -> SweepResult:
        """Also remove the addresses of people without an account who are gone."""
        now = self._now()
        async with heartbeat():
            strangers = await self._events.purge_strangers(now - KEEP_UNCONFIRMED, now - KEEP_GONE)
            if strangers:
                activity.logger.info("Removed %s addresses that nobody uses any more", strangers)
            return SweepResult(purged=await self._events.purge_deleted(now - KEEP_DELETED))

    async def _tell_owner(self, channel: BrokenChannel) -> None:
        message = OutgoingMessage(channel.title, channel.body, Level.WARNING, why_url="", unsubscribe_url="")
        for key in channel.other_channels:
            await self._sender.send(key, message)
        if not channel.other_channels and self._mailer is not None:
            try:
                await self._mailer.send(channel.owner_email, channel.title, channel.body, {})
            except PressboxError as error:
                activity.logger.warning("Channel %s is broken; no mail to its owner: %s", channel.channel_id, error)
