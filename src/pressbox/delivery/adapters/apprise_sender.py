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
from functools import cache, partial

from pressbox.core.errors import TransientError
from pressbox.core.http.proxy import GuardedProxy, Lease
from pressbox.core.processes.calls import CallFailedError, Limits
from pressbox.core.processes.forks import ForkServer
from pressbox.delivery.adapters.apprise_child import (
    SendJob,
    Service,
    describe_target,
    list_services,
    load_plugins,
    send_message,
)
from pressbox.delivery.adapters.send_lanes import SendLanes
from pressbox.delivery.adapters.send_limits import DEFAULT_LIMITS, MISSED_PAUSE, ConcurrencyLimit, Misses, SendLimits
from pressbox.delivery.adapters.send_results import NO_CONNECTION, SendReport, judge_send
from pressbox.delivery.domain.attempts import AttemptResult
from pressbox.delivery.domain.pacing import LIMITED_BY_ADDRESS, PER_TARGET, SHARED, Lane, Pace
from pressbox.delivery.domain.targets import Audience, scheme_of
from pressbox.delivery.ports import AddressFacts, Attempt, OutgoingMessage

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
class Route:
    """What messages to one host share, and how fast one target of it is sent to.

    Two services on one host have lanes of their own: the slow pace of one is not that of the other.
    """

    host: str = field(repr=False)
    service: str
    shared: Pace
    per_target: Pace
    is_limited_by_address: bool


class AppriseSender:
    """One per process. `local_schemes` are those of this machine that administrators may use."""

    def __init__(
        self,
        proxy: GuardedProxy,
        lanes: SendLanes,
        limits: SendLimits = DEFAULT_LIMITS,
        local_schemes: frozenset[str] = frozenset(),
    ) -> None:
        self._proxy = proxy
        self._lanes = lanes
        self._limits = limits
        self._local_schemes = local_schemes
        self._slots = ConcurrencyLimit(limits.at_once, limits.at_once_per_host)
        self._misses = Misses()
        self._services: Mapping[str, Service] | None = None
        self._asking = asyncio.Lock()

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

        `channel_key` names the target in the limits, because the URL is secret.
        """
        route = await self._find_route(url)
        lanes = (Lane(_target_lane(channel_key), route.per_target), Lane(_host_lane(route), route.shared))
        async with self._slots.slot(route.host, partial(self._lanes.wait_turn, lanes)):
            yield

    async def send_now(self, channel_key: str, url: str, message: OutgoingMessage, audience: Audience) -> Attempt:
        """Send inside a turn."""
        route = await self._find_route(url)
        attempt = await self._send(url, message, audience)
        if attempt.retry_after:
            lane = _host_lane(route) if route.is_limited_by_address else _target_lane(channel_key)
            await self._lanes.block(lane, attempt.retry_after)
        if self._misses.note(route.host, answered=attempt.result is not AttemptResult.UNCONFIRMED):
            await self._lanes.block(_host_lane(route), MISSED_PAUSE)
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
        # Hundreds of messages that are the first ones ask at the same moment; one process answers them all.
        async with self._asking:
            if self._services is None:
                self._services = await fork_server().run(list_services)
        return self._services

    async def _find_route(self, url: str) -> Route:
        scheme = scheme_of(url)
        service = (await self._load_services()).get(scheme)
        host = _host_of(url) if service is None or service.names_host else scheme
        known = scheme if scheme in SHARED or scheme in PER_TARGET else host
        return Route(
            host=host,
            service=known if known in SHARED else "",
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
                not_after=message.not_after,
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


def _target_lane(channel_key: str) -> str:
    return f"target {channel_key}"


def _host_lane(route: Route) -> str:
    return f"host {route.host} {route.service}"


def _host_of(url: str) -> str:
    """What stands in the place of the host, for limits only: it may be a secret."""
    found = _HOST.match(url)
    if found and scheme_of(url) in ("ntfy", "ntfys") and not url[found.end() :].strip("/"):
        # Without a path the name is a topic of the public server.
        return "ntfy.sh"
    return found[1].lower() if found else ""
