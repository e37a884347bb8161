"""Sends one message to one Apprise URL, in a process of its own behind the guarded proxy, and reports the result.

Apprise answers yes or no. What a no means (never, later, or perhaps it arrived) follows from what the plugin did, which
the process observed. The URL is a credential: neither it nor a text that may quote it leaves this module.
"""

import asyncio
import re
from collections.abc import Mapping
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
from pressbox.soonish.adapters.send_results import SendReport, judge_send
from pressbox.soonish.domain.delivery import AttemptResult
from pressbox.soonish.domain.targets import Audience, scheme_of
from pressbox.soonish.ports import AddressFacts, Attempt, OutgoingMessage

# A message with the answers to it; plugins with a login need a few exchanges.
MAX_BYTES = 4_000_000
PROCESS_LIMITS = Limits(seconds=60, result_bytes=200_000, memory_bytes=300_000_000, processor_seconds=10, file_bytes=0)
GRACE_SECONDS = 1.0
_HOST = re.compile(r"^[^:]+://(?:[^/?#]*@)?([^/?#:]*)")
_PRIVATE = "Its address is not on the public internet. An administrator can allow it with PRESSBOX_HTTP_ALLOW."


@cache
def fork_server() -> ForkServer:
    """One for this process, whatever sends: what it has loaded is large. It starts with the first address."""
    return ForkServer("The sender", setup=load_plugins, limits=PROCESS_LIMITS)


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
        """`channel_key` is the key of the rate limits, because the URL is secret."""
        wait = self._channels.blocked_for(f"asked {channel_key}")
        if wait:
            return Attempt(AttemptResult.UNAVAILABLE, "The target asked us to wait.", wait)
        if self._services is None:
            self._services = await fork_server().run(list_services)
        service = self._services.get(scheme_of(url))
        host = _host_of(url) if service is None or service.names_host else scheme_of(url)
        await self._channels.wait_turn(channel_key, service.spacing if service else 0)
        await self._hosts.wait_turn(host, 1 / self._limits.per_host_per_second)
        async with self._slots.slot(host):
            attempt = await self._send(url, message, audience)
        if attempt.retry_after:
            self._channels.block(f"asked {channel_key}", attempt.retry_after)
        return attempt

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


async def _run(job: SendJob) -> SendReport | None:
    """None when its process was ended, or ended itself, before it could report."""
    try:
        async with asyncio.timeout(job.seconds + GRACE_SECONDS):
            return await fork_server().run(send_message, job)
    except (TimeoutError, TransientError, CallFailedError):
        return None


def _judge(report: SendReport | None, lease: Lease) -> Attempt:
    if report is not None and report.accepted:
        return Attempt(AttemptResult.ACCEPTED)
    if lease.refused is not None:
        return Attempt(AttemptResult.REFUSED, _PRIVATE)
    if report is not None:
        return judge_send(report, connected=lease.connected)
    if lease.connected:
        return Attempt(AttemptResult.UNCONFIRMED, "Sent, but it did not end in time.")
    return Attempt(AttemptResult.UNAVAILABLE, "No connection.")


def _host_of(url: str) -> str:
    """What stands in the place of the host, for limits only: it may be a secret."""
    found = _HOST.match(url)
    return found[1].lower() if found else ""
