"""Sends one message to one Apprise URL, in its own threads, and reports the result.

Apprise answers yes or no. What a no means (never, later, or perhaps it arrived) follows from what the plugin did, which
`send_watch` observed. The URL is a credential: neither it nor a text that may quote it leaves this module.
"""

import asyncio
import logging
import sys
import warnings
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import timedelta
from functools import cache
from threading import Lock

import apprise
from apprise.exception import AppriseException
from apprise.plugins.base import NotifyBase

from pressbox.core.errors import InvalidInputError, RefusedAddressError
from pressbox.core.http.guard import AllowList
from pressbox.core.logs import get_logger
from pressbox.soonish.adapters.send_limits import DEFAULT_LIMITS, ConcurrencyLimit, RateLimit, SendLimits
from pressbox.soonish.adapters.send_watch import Exchange, Stage, Watch, watched
from pressbox.soonish.domain.delivery import AttemptResult, Level
from pressbox.soonish.ports import Attempt

log = get_logger(__name__)

GRACE_SECONDS = 2.0
SWITCH_SECONDS = 0.001
MAX_URL_LENGTH = 4_000

# These act on the machine itself.
LOCAL_SCHEMES = frozenset(
    {"blink1", "dbus", "gio", "glib", "gnome", "growl", "kde", "macosx", "qt", "syslog", "windows"}
)
# Their libraries connect from threads or in C, where the address guard sees nothing.
UNGUARDED_SCHEMES = frozenset({"amqp", "amqps", "mqtt", "mqtts", "smpp", "smpps", "xmpp", "xmpps"})

_KINDS = {
    Level.INFO: apprise.NotifyType.INFO,
    Level.WARNING: apprise.NotifyType.WARNING,
    Level.CRITICAL: apprise.NotifyType.FAILURE,
}
_loading = Lock()
_BUSY = frozenset({408, 425, 429})


@dataclass(frozen=True)
class Target:
    """What may be shown of an Apprise URL: its scheme, its service and the host of a server of one's own."""

    scheme: str
    service: str
    host: str


class AppriseSender:
    """One per process."""

    def __init__(
        self, allow: AllowList, limits: SendLimits = DEFAULT_LIMITS, local_schemes: frozenset[str] = frozenset()
    ) -> None:
        self._allow = allow
        self._limits = limits
        self._refused_schemes = (LOCAL_SCHEMES | UNGUARDED_SCHEMES) - local_schemes
        self._threads = ThreadPoolExecutor(limits.at_once, thread_name_prefix="apprise")
        self._slots = ConcurrencyLimit(limits.at_once, limits.at_once_per_host)
        self._channels = RateLimit()
        self._hosts = RateLimit()
        # Masking what is never logged would be a fifth of the work for a message.
        self._asset = apprise.AppriseAsset(app_id="Pressbox", app_desc="Pressbox", app_url="", secure_logging=False)
        # Their log lines quote addresses with tokens inside. What happened is in our own ledger.
        logging.getLogger("apprise").setLevel(logging.CRITICAL + 1)
        logging.getLogger("urllib3").setLevel(logging.ERROR)

    def prepare_to_send(self) -> None:
        """Let the event loop run often enough among many threads; for a worker, which sends much."""
        # With dozens of busy threads every step of the loop would wait for the usual five milliseconds.
        sys.setswitchinterval(SWITCH_SECONDS)

    def close(self) -> None:
        self._threads.shutdown(wait=False, cancel_futures=True)

    def parse(self, url: str) -> Target:
        """What this URL leads to, or an error that says what is wrong without repeating it."""
        plugin = self._make_plugin(url)
        return Target(_scheme(url), str(plugin.service_name), _own_host(plugin))

    def describe(self, url: str) -> tuple[str, str]:
        """The scheme, and what people may see of the address."""
        target = self.parse(url)
        return target.scheme, f"{target.service} · {target.host}" if target.host else target.service

    async def send(self, channel_key: str, url: str, title: str, body: str, level: Level) -> Attempt:
        """`channel_key` is the key of the rate limits, because the URL is secret."""
        wait = self._channels.blocked_for(f"asked {channel_key}")
        if wait:
            return Attempt(AttemptResult.UNAVAILABLE, "The target asked us to wait.", wait)
        if not _load_once.cache_info().currsize:
            # Loaded with the first message: an instance that sends nothing needs no memory for them.
            await asyncio.to_thread(_load_plugins)
        try:
            plugin = self._make_plugin(url)
        except (InvalidInputError, RefusedAddressError) as error:
            return Attempt(AttemptResult.REFUSED, error.message)
        host = _own_host(plugin) or _scheme(url)
        await self._channels.wait_turn(channel_key, float(plugin.request_rate_per_sec))
        await self._hosts.wait_turn(host, 1 / self._limits.per_host_per_second)
        async with self._slots.slot(host):
            attempt = await self._notify_in_thread(plugin, title, body, level)
        if attempt.retry_after:
            self._channels.block(f"asked {channel_key}", attempt.retry_after)
        return attempt

    async def _notify_in_thread(self, plugin: NotifyBase, title: str, body: str, level: Level) -> Attempt:
        watch = Watch(self._allow, timedelta(seconds=self._limits.seconds))
        working = asyncio.get_running_loop().run_in_executor(self._threads, _notify, plugin, watch, title, body, level)
        done, _ = await asyncio.wait({working}, timeout=self._limits.seconds)
        if not done:
            watch.cut()
            done, _ = await asyncio.wait({working}, timeout=GRACE_SECONDS)
        accepted = working.result() if done else False
        return judge_send(accepted, watch, targets=len(plugin))

    def _make_plugin(self, url: str) -> NotifyBase:
        """Make a new plugin for every message: one that is used again waits between its sends."""
        _load_plugins()
        scheme = _scheme(url)
        if scheme in self._refused_schemes:
            raise RefusedAddressError(
                f"{scheme}:// acts on the machine that runs Pressbox, or goes past its guard. "
                "Use a service that is reached over the web or by mail."
            )
        # Without time for connections: a plugin that opens one, or a file, before it sends cannot be used.
        watch = Watch(self._allow, timedelta())
        try:
            with watched(watch):
                plugin = apprise.Apprise.instantiate(url, asset=self._asset, suppress_exceptions=False)
        except (AppriseException, TypeError, ValueError, OSError):
            # Its text may quote the address.
            plugin = None
        if watch.refused:
            raise RefusedAddressError(watch.refused)
        if not isinstance(plugin, NotifyBase) or len(url) > MAX_URL_LENGTH:
            raise InvalidInputError("This is not an Apprise URL that can be used here.", field="url")
        return plugin


def _load_plugins() -> None:
    """Load all plugins before anything is watched: loading reads files."""
    with _loading:
        _load_once()


@cache
def _load_once() -> None:
    with warnings.catch_warnings():
        # Some of their libraries use modules that a later Python drops.
        warnings.simplefilter("ignore", DeprecationWarning)
        apprise.Apprise.instantiate("json://localhost")


def _notify(plugin: NotifyBase, watch: Watch, title: str, body: str, level: Level) -> bool:
    try:
        with watched(watch):
            answer = plugin.notify(
                body=body, title=title, notify_type=_KINDS[level], body_format=apprise.NotifyFormat.TEXT
            )
    # There are over a hundred plugins by many authors: whatever one raises means that it did not work.
    except Exception as error:  # noqa: BLE001
        log.warning("plugin_failed", msg="A plugin did not finish", kind=type(error).__name__)
        return False
    return bool(answer)


def judge_send(accepted: bool, watch: Watch, targets: int) -> Attempt:
    """Judge the plugin's answer together with what was observed of its work."""
    if accepted:
        return Attempt(AttemptResult.ACCEPTED)
    if watch.refused:
        return Attempt(AttemptResult.REFUSED, watch.refused)
    if not watch.exchanges:
        return _judge_without_http(watch)
    if targets > 1 and any(_succeeded(exchange) for exchange in watch.exchanges):
        return Attempt(AttemptResult.UNCONFIRMED, "Only some of the targets of this address accepted it.")
    return _judge_exchange(watch.exchanges[-1])


def _judge_exchange(last: Exchange) -> Attempt:
    if last.stage is Stage.UNCONNECTED:
        return Attempt(AttemptResult.UNAVAILABLE, f"No connection ({last.error}).")
    if last.status is None:
        return Attempt(AttemptResult.UNCONFIRMED, f"Sent, but no answer came ({last.error}).")
    if last.status in _BUSY or last.status >= 500:
        return Attempt(AttemptResult.UNAVAILABLE, f"It answered {last.status}.", last.retry_after)
    if _succeeded(last):
        return Attempt(AttemptResult.UNAVAILABLE, f"It answered {last.status}, but did not accept the message.")
    return Attempt(AttemptResult.REFUSED, f"It answered {last.status}.")


def _judge_without_http(watch: Watch) -> Attempt:
    """Mail and other protocols: only how far it came is known."""
    if watch.mail_handed_over:
        return Attempt(AttemptResult.UNCONFIRMED, "The mail was handed over, but not confirmed.")
    if watch.connected:
        return Attempt(AttemptResult.UNAVAILABLE, "It was reached, but did not accept the message.")
    return Attempt(AttemptResult.UNAVAILABLE, "No connection.")


def _succeeded(exchange: Exchange) -> bool:
    return exchange.status is not None and 200 <= exchange.status < 300


def _scheme(url: str) -> str:
    return url.partition("://")[0].strip().lower()


def _own_host(plugin: NotifyBase) -> str:
    """Return the host only where it really is one: many plugins keep a token in this field."""
    own = {str(name) for name in plugin.template_tokens if name == "host"}
    host = getattr(plugin, "host", None)
    return host.lower() if own and isinstance(host, str) else ""
