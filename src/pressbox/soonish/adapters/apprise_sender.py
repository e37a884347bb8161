"""Sends one message to one Apprise URL, in a process of its own behind the guarded proxy, and reports the result.

Apprise answers yes or no. What a no means (never, later, or perhaps it arrived) follows from what the plugin did, which
the process observed. The URL is a credential: neither it nor a text that may quote it leaves this module.
"""

import asyncio
import re
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from functools import cache

from pressbox.core.errors import TransientError
from pressbox.core.http.proxy import GuardedProxy, Lease
from pressbox.core.processes.calls import CallFailedError, Limits
from pressbox.core.processes.forks import ForkServer
from pressbox.soonish.adapters.apprise_child import (
    SendJob,
    Service,
    describe_target,
    list_services,
    load_plugins,
    send_message,
)
from pressbox.soonish.adapters.send_limits import DEFAULT_LIMITS, ConcurrencyLimit, RateLimit, SendLimits
from pressbox.soonish.adapters.send_results import NO_CONNECTION, SendReport, judge_send
from pressbox.soonish.domain.delivery import AttemptResult
from pressbox.soonish.domain.pacing import LIMITED_BY_ADDRESS, PER_TARGET, SHARED, Pace
from pressbox.soonish.domain.targets import Audience, scheme_of
from pressbox.soonish.ports import AddressFacts, Attempt, OutgoingMessage

# A message with the answers to it; plugins with a login need a few exchanges.
MAX_BYTES = 4_000_000
PROCESS_LIMITS = Limits(seconds=60, result_bytes=200_000, memory_bytes=300_000_000, processor_seconds=10, file_bytes=0)
GRACE_SECONDS = 1.0
# What plugins put around a text.
ROOM_FOR_MARKUP = 40
MIN_BODY = 100
# Above this ntfy makes an attachment of a text.
_SCHEME_LIMITS = {"ntfy": 4096, "ntfys": 4096}
# Plain web addresses that Apprise takes for a service.
_WEB_LIMITS = {"discord.com": 2000, "discordapp.com": 2000, "ntfy.sh": 4096}
_HOST = re.compile(r"^[^:]+://(?:[^/?#]*@)?([^/?#:]*)")
_PRIVATE = "Its address is not on the public internet. An administrator can allow it with PRESSBOX_HTTP_ALLOW."


@cache
def fork_server() -> ForkServer:
    """One for this process, whatever sends: what it has loaded is large. It starts with the first address."""
    return ForkServer("The sender", setup=load_plugins, limits=PROCESS_LIMITS)


@dataclass(frozen=True)
class Lane:
    """What messages to one host share, and how fast one target of it is sent to."""

    host: str = field(repr=False)
    shared: Pace
    per_target: Pace
    is_limited_by_address: bool


class AppriseSender:
    """One per process. `local_schemes` are those that an administrator allows for members."""

    def __init__(
        self, proxy: GuardedProxy, limits: SendLimits = DEFAULT_LIMITS, local_schemes: frozenset[str] = frozenset()
    ) -> None:
        self._proxy = proxy
        self._limits = limits
        self._local_schemes = local_schemes
        self._slots = ConcurrencyLimit(limits.at_once, limits.at_once_per_host)
        self._channels = RateLimit()
        self._hosts = RateLimit()
        self._services: Mapping[str, Service] | None = None

    async def close(self) -> None:
        await self._proxy.close()

    async def describe(self, url: str, audience: Audience) -> AddressFacts:
        """What this URL leads to, or an error that says what is wrong without repeating it."""
        async with self._slots.slot("describe"):
            return await fork_server().run(describe_target, url, audience, self._local_schemes)

    async def send(self, channel_key: str, url: str, message: OutgoingMessage, audience: Audience) -> Attempt:
        """Wait for a turn, then send."""
        async with self.turn(channel_key, url):
            return await self.send_now(channel_key, url, message, audience)

    @asynccontextmanager
    async def turn(self, channel_key: str, url: str) -> AsyncIterator[None]:
        """Inside the block a message may leave for this URL. Waiting for it holds up nobody else's target.

        `channel_key` is the key of the rate limits, because the URL is secret.
        """
        lane = await self._find_lane(url)

        async def wait() -> None:
            await self._channels.wait_turn(channel_key, lane.per_target)
            await self._hosts.wait_turn(lane.host, lane.shared)

        async with self._slots.slot(lane.host, wait):
            yield

    async def send_now(self, channel_key: str, url: str, message: OutgoingMessage, audience: Audience) -> Attempt:
        """Send inside a turn."""
        pause = self._channels.blocked_for(f"asked {channel_key}")
        if pause:
            return Attempt(AttemptResult.UNAVAILABLE, "The target asked us to wait.", pause)
        lane = await self._find_lane(url)
        attempt = await self._send(url, message, audience)
        if attempt.retry_after:
            self._channels.block(f"asked {channel_key}", attempt.retry_after)
            if lane.is_limited_by_address:
                self._hosts.block(lane.host, attempt.retry_after)
        if attempt.result is AttemptResult.UNCONFIRMED:
            self._hosts.note_miss(lane.host)
        else:
            self._hosts.note_answer(lane.host)
        return attempt

    async def find_limit(self, url: str, title: str) -> int | None:
        """How many bytes of a body this service takes; None when nothing is known of it."""
        service = (await self._load_services()).get(scheme_of(url))
        if service is None:
            known = _WEB_LIMITS.get(_host_of(url))
            return known - len(title.encode()) - ROOM_FOR_MARKUP if known else None
        used = len(title.encode()) if service.title_in_body else 0
        limit = min(service.body_limit, _SCHEME_LIMITS.get(scheme_of(url), service.body_limit))
        return max(MIN_BODY, limit - used - ROOM_FOR_MARKUP)

    async def _load_services(self) -> Mapping[str, Service]:
        if self._services is None:
            self._services = await fork_server().run(list_services)
        return self._services

    async def _find_lane(self, url: str) -> Lane:
        scheme = scheme_of(url)
        service = (await self._load_services()).get(scheme)
        host = _host_of(url) if service is None or service.names_host else scheme
        known = scheme if scheme in SHARED or scheme in PER_TARGET else host
        return Lane(
            host=host,
            shared=SHARED.get(known, Pace(1 / self._limits.per_host_per_second)),
            per_target=PER_TARGET.get(known, Pace(service.spacing if service else 0.0)),
            is_limited_by_address=known in LIMITED_BY_ADDRESS,
        )

    async def _send(self, url: str, message: OutgoingMessage, audience: Audience) -> Attempt:
        seconds = self._limits.seconds
        async with self._proxy.lease(MAX_BYTES, timedelta(seconds=seconds + GRACE_SECONDS)) as lease:
            job = SendJob(
                url=url,
                audience=audience,
                allowed_schemes=self._local_schemes,
                title=message.title,
                body=message.body,
                level=message.level,
                proxy=lease.url,
                seconds=seconds,
            )
            report = await _run(job)
            return _judge(report, lease)


# Our own process could not be made or ended itself: that says nothing about the target.
OWN_TROUBLE = SendReport(accepted=False, refused="")


async def _run(job: SendJob) -> SendReport | None:
    """None when its time was over before it could report."""
    try:
        async with asyncio.timeout(job.seconds + GRACE_SECONDS):
            return await fork_server().run(send_message, job)
    except TimeoutError:
        return None
    except (TransientError, CallFailedError):
        return OWN_TROUBLE


def _judge(report: SendReport | None, lease: Lease) -> Attempt:
    if report is not None and report.accepted:
        return Attempt(AttemptResult.ACCEPTED)
    if lease.refused is not None:
        return Attempt(AttemptResult.REFUSED, _PRIVATE)
    if report is OWN_TROUBLE and not lease.connected:
        return Attempt(AttemptResult.UNAVAILABLE, "This Pressbox could not send it.", is_own_fault=True)
    if report is not None and report is not OWN_TROUBLE:
        return judge_send(report, connected=lease.connected)
    if lease.connected:
        return Attempt(AttemptResult.UNCONFIRMED, "Sent, but it did not end in time.")
    return Attempt(AttemptResult.UNAVAILABLE, NO_CONNECTION)


def _host_of(url: str) -> str:
    """What stands in the place of the host, for limits only: it may be a secret."""
    found = _HOST.match(url)
    if found and scheme_of(url) in ("ntfy", "ntfys") and not url[found.end() :].strip("/"):
        # Without a path the name is a topic of the public server.
        return "ntfy.sh"
    return found[1].lower() if found else ""
