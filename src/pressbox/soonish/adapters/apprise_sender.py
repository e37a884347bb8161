"""Sends one message to one Apprise URL, in threads of our own, and says what came of it.

Apprise answers yes or no. What a no means (never, later, or perhaps it arrived) is read from what the plugin did,
which `send_watch` saw. The URL is a credential: neither it nor a text that may quote it leaves this module.
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
from pressbox.soonish.adapters.limits import DEFAULT_LIMITS, Pace, Places, SendLimits
from pressbox.soonish.adapters.send_watch import Exchange, Stage, Watch, watched
from pressbox.soonish.domain.delivery import AttemptResult, Level
from pressbox.soonish.ports import Attempt

log = get_logger(__name__)

GRACE_SECONDS = 2.0
SWITCH_SECONDS = 0.001
LONGEST_URL = 4_000

# They act on the machine itself.
LOCAL_SCHEMES = frozenset(
    {"blink1", "dbus", "gio", "glib", "gnome", "growl", "kde", "macosx", "qt", "syslog", "windows"}
)
# Their libraries connect from threads or in C, where no guard of ours looks.
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
    """What may be shown of an Apprise URL: its scheme, the name of the service and, of your own server, the host."""

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
        self._places = Places(limits.at_once, limits.at_once_per_host)
        self._channels = Pace()
        self._hosts = Pace()
        # Blotting out what is never logged would be a fifth of the work for a message.
        self._asset = apprise.AppriseAsset(app_id="Pressbox", app_desc="Pressbox", app_url="", secure_logging=False)
        # Their lines quote addresses with tokens inside. What happened is in our own ledger.
        logging.getLogger("apprise").setLevel(logging.CRITICAL + 1)
        logging.getLogger("urllib3").setLevel(logging.ERROR)

    def prepare_to_send(self) -> None:
        """For a worker, which sends much: give the event loop its turn among the threads."""
        # With dozens of busy threads the usual five milliseconds are what every step of the loop waits for.
        sys.setswitchinterval(SWITCH_SECONDS)

    def close(self) -> None:
        self._threads.shutdown(wait=False, cancel_futures=True)

    def checked(self, url: str) -> Target:
        """What this URL leads to, or an error that says what is wrong with it without repeating it."""
        plugin = self._plugin(url)
        return Target(_scheme(url), str(plugin.service_name), _own_host(plugin))

    def kind(self, url: str) -> tuple[str, str]:
        """The scheme, and what people may see of the address."""
        target = self.checked(url)
        return target.scheme, f"{target.service} · {target.host}" if target.host else target.service

    async def send(self, channel_key: str, url: str, title: str, body: str, level: Level) -> Attempt:
        """`channel_key` names the target in limits, because the URL must not."""
        wait = self._channels.wait_for(f"asked {channel_key}")
        if wait:
            return Attempt(AttemptResult.TROUBLED, "It asked us to wait, after another message.", wait)
        if not _load_once.cache_info().currsize:
            # The first message loads them: an instance that sends nothing spends no memory on them.
            await asyncio.to_thread(_load_plugins)
        try:
            plugin = self._plugin(url)
        except (InvalidInputError, RefusedAddressError) as error:
            return Attempt(AttemptResult.REFUSED, error.message)
        host = _own_host(plugin) or _scheme(url)
        await self._channels.turn(channel_key, float(plugin.request_rate_per_sec))
        await self._hosts.turn(host, 1 / self._limits.per_host_per_second)
        async with self._places.place(host):
            attempt = await self._in_thread(plugin, title, body, level)
        if attempt.retry_after:
            self._channels.hold(f"asked {channel_key}", attempt.retry_after)
        return attempt

    async def _in_thread(self, plugin: NotifyBase, title: str, body: str, level: Level) -> Attempt:
        watch = Watch(self._allow, timedelta(seconds=self._limits.seconds))
        working = asyncio.get_running_loop().run_in_executor(self._threads, _notify, plugin, watch, title, body, level)
        done, _ = await asyncio.wait({working}, timeout=self._limits.seconds)
        if not done:
            watch.cut()
            done, _ = await asyncio.wait({working}, timeout=GRACE_SECONDS)
        accepted = working.result() if done else False
        return judged(accepted, watch, targets=len(plugin))

    def _plugin(self, url: str) -> NotifyBase:
        """A fresh object for every message: one that is used again waits between its own sends."""
        _load_plugins()
        scheme = _scheme(url)
        if scheme in self._refused_schemes:
            raise RefusedAddressError(
                f"{scheme}:// acts on the machine that runs Pressbox, or goes past its guard. "
                "Use a service that is reached over the web or by mail."
            )
        # No time for connections: a plugin that would open one, or a file, before it sends is not for us.
        watch = Watch(self._allow, timedelta())
        try:
            with watched(watch):
                plugin = apprise.Apprise.instantiate(url, asset=self._asset, suppress_exceptions=False)
        except (AppriseException, TypeError, ValueError, OSError):
            # Its text may quote the address.
            plugin = None
        if watch.refused:
            raise RefusedAddressError(watch.refused)
        if not isinstance(plugin, NotifyBase) or len(url) > LONGEST_URL:
            raise InvalidInputError("This is not an Apprise URL that can be used here.", field="url")
        return plugin


def _load_plugins() -> None:
    """All of them, before anything is watched: loading reads files."""
    with _loading:
        _load_once()


@cache
def _load_once() -> None:
    with warnings.catch_warnings():
        # Some of their libraries use modules that a later Python drops; that is for them to mend.
        warnings.simplefilter("ignore", DeprecationWarning)
        apprise.Apprise.instantiate("json://localhost")


def _notify(plugin: NotifyBase, watch: Watch, title: str, body: str, level: Level) -> bool:
    try:
        with watched(watch):
            answer = plugin.notify(
                body=body, title=title, notify_type=_KINDS[level], body_format=apprise.NotifyFormat.TEXT
            )
    # Over a hundred plugins by many hands: whatever one raises is its way to say that it did not work.
    except Exception as error:  # noqa: BLE001
        log.warning("plugin_failed", msg="A plugin did not finish", kind=type(error).__name__)
        return False
    return bool(answer)


def judged(accepted: bool, watch: Watch, targets: int) -> Attempt:
    """What the plugin's answer means, with what was seen of its work."""
    if accepted:
        return Attempt(AttemptResult.ACCEPTED)
    if watch.refused:
        return Attempt(AttemptResult.REFUSED, watch.refused)
    if not watch.exchanges:
        return _judged_without_http(watch)
    if targets > 1 and any(_good(exchange) for exchange in watch.exchanges):
        return Attempt(AttemptResult.SILENT, "Only some of the targets of this address took it.")
    return _judged_exchange(watch.exchanges[-1])


def _judged_exchange(last: Exchange) -> Attempt:
    if last.stage is Stage.UNCONNECTED:
        return Attempt(AttemptResult.TROUBLED, f"No connection ({last.trouble}).")
    if last.status is None:
        return Attempt(AttemptResult.SILENT, f"Sent, but no answer came ({last.trouble}).")
    if last.status in _BUSY or last.status >= 500:
        return Attempt(AttemptResult.TROUBLED, f"It answered {last.status}.", last.retry_after)
    if _good(last):
        return Attempt(AttemptResult.TROUBLED, f"It answered {last.status}, but did not take the message.")
    return Attempt(AttemptResult.REFUSED, f"It answered {last.status}.")


def _judged_without_http(watch: Watch) -> Attempt:
    """Mail and other protocols: all that is known is how far it came."""
    if watch.mail_handed_over:
        return Attempt(AttemptResult.SILENT, "The mail was handed over, but not confirmed.")
    if watch.connected:
        return Attempt(AttemptResult.TROUBLED, "It was reached, but did not take the message.")
    return Attempt(AttemptResult.TROUBLED, "No connection.")


def _good(exchange: Exchange) -> bool:
    return exchange.status is not None and 200 <= exchange.status < 300


def _scheme(url: str) -> str:
    return url.partition("://")[0].strip().lower()


def _own_host(plugin: NotifyBase) -> str:
    """Only where the host is really one: many plugins keep a token in this field."""
    own = {str(name) for name in plugin.template_tokens if name == "host"}
    host = getattr(plugin, "host", None)
    return host.lower() if own and isinstance(host, str) else ""
