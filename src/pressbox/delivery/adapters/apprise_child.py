"""What runs in a process of its own, forked for one call: Apprise, with over a hundred plugins by many authors.

Nothing here is called in our own processes: plugins log out in destructors, start threads and repeat requests, and all
of that must end with the process. The URL is a credential: no answer and no error repeats it.
"""

import logging
import warnings
from contextlib import suppress
from typing import TYPE_CHECKING, Any, cast

from pydantic import BaseModel, ConfigDict, Field

from pressbox.core.clock import machine_seconds
from pressbox.core.errors import InvalidInputError, RefusedAddressError
from pressbox.core.processes.fork_server import after_answer
from pressbox.delivery.adapters.send_guard import SendGuard, limit_pauses
from pressbox.delivery.adapters.send_results import SendReport
from pressbox.delivery.domain.attempts import Level
from pressbox.delivery.domain.targets import (
    LOCAL_SCHEMES,
    SOCKET_SCHEMES,
    Audience,
    TargetFacts,
    check_scheme,
    check_target,
    normalise_target,
    scheme_of,
)
from pressbox.delivery.ports import AddressFacts

if TYPE_CHECKING:
    from apprise.plugins.base import NotifyBase

MAX_URL_LENGTH = 4_000
DEFAULT_BODY_LIMIT = 4_000


class Service(BaseModel):
    """What is known of all addresses of one scheme: whether they name a host, the pause between two messages, and how
    long a message can be.
    """

    model_config = ConfigDict(frozen=True)

    names_host: bool
    spacing: float
    body_limit: int
    # Its titles are put above the body and count as a part of it.
    title_in_body: bool


class SendJob(BaseModel):
    """One message to one address. `proxy` is a URL with the credentials of a lease."""

    model_config = ConfigDict(frozen=True)

    url: str = Field(repr=False)
    audience: Audience
    allowed_schemes: frozenset[str]
    title: str
    body: str
    level: Level
    proxy: str = Field(repr=False)
    seconds: float
    # In seconds of the machine: after it somebody else may send this.
    not_after: float | None = None


def load_plugins() -> None:
    """Load all plugins, once, in the process from which every call is forked."""
    limit_pauses()
    import apprise

    # Their log lines quote addresses with tokens inside. What happened is in our own ledger.
    logging.getLogger("apprise").setLevel(logging.CRITICAL + 1)
    logging.getLogger("urllib3").setLevel(logging.ERROR)
    with warnings.catch_warnings():
        # Some of their libraries use modules that a later Python drops.
        warnings.simplefilter("ignore", DeprecationWarning)
        apprise.Apprise.instantiate("json://localhost")


def list_services() -> dict[str, Service]:
    """What is known of every scheme, without an address."""
    from apprise.manager_plugins import NotificationManager

    found: dict[str, Service] = {}
    manager: Any = cast(Any, NotificationManager)()
    for plugin in manager.plugins():
        names_host = "host" in plugin.template_tokens
        service = Service(
            names_host=names_host,
            spacing=float(plugin.request_rate_per_sec),
            body_limit=_number(plugin.body_maxlen, DEFAULT_BODY_LIMIT),
            title_in_body=_number(plugin.title_maxlen, 0) <= 0,
        )
        found.update(dict.fromkeys(_schemes(plugin), service))
    return found


def _schemes(plugin: Any) -> frozenset[str]:
    """Those of this plugin alone: the manager gives out those of all."""
    named = (plugin.protocol, plugin.secure_protocol)
    groups = ((name,) if isinstance(name, str) else name or () for name in named)
    return frozenset(scheme for group in groups for scheme in group)


def _number(value: object, default: int) -> int:
    """A few plugins compute their limits from an address, which is not known here."""
    return value if isinstance(value, int) else default


def describe_target(url: str, audience: Audience, allowed_schemes: frozenset[str]) -> AddressFacts:
    """What this URL leads to, or an error that says what is wrong without repeating it."""
    guard = SendGuard("", 0)
    guard.confine()
    plugin, _ = _make_plugin(url, audience, allowed_schemes, guard)
    own_host = "host" in plugin.template_tokens and getattr(plugin, "mode", None) != "cloud"
    host = getattr(plugin, "host", None) if own_host else None
    return AddressFacts(
        scheme=scheme_of(url),
        service=str(plugin.service_name),
        host=host.lower() if isinstance(host, str) else "",
        place=normalise_target(cast(Any, plugin).url(privacy=False)),
    )


def send_message(job: SendJob) -> SendReport:
    """Send it and report what happened. Farewells of the plugin follow after the answer."""
    import apprise

    kinds = {
        Level.INFO: apprise.NotifyType.INFO,
        Level.WARNING: apprise.NotifyType.WARNING,
        Level.CRITICAL: apprise.NotifyType.FAILURE,
    }
    guard = SendGuard(job.proxy, job.seconds)
    if scheme_of(job.url) not in job.allowed_schemes & (LOCAL_SCHEMES | SOCKET_SCHEMES):
        guard.confine()
    try:
        plugin, facts = _make_plugin(job.url, job.audience, job.allowed_schemes, guard)
    except (InvalidInputError, RefusedAddressError) as error:
        return SendReport(accepted=False, refused=error.message)
    kept = [plugin]
    after_answer(kept.clear)
    accepted = False
    if job.not_after is not None and machine_seconds() > job.not_after:
        return SendReport(accepted=False)
    # There are over a hundred plugins by many authors: whatever one raises means that it did not work.
    with suppress(Exception):
        accepted = bool(
            plugin.notify(
                body=job.body, title=job.title, notify_type=kinds[job.level], body_format=apprise.NotifyFormat.TEXT
            )
        )
    return SendReport(accepted=accepted, exchanges=tuple(guard.exchanges), refused=guard.refused, places=facts.places)


def _make_plugin(
    url: str, audience: Audience, allowed_schemes: frozenset[str], guard: SendGuard
) -> "tuple[NotifyBase, TargetFacts]":
    import apprise
    from apprise.plugins import url_to_dict
    from apprise.plugins.base import NotifyBase

    check_scheme(scheme_of(url), audience, allowed_schemes)
    asset = apprise.AppriseAsset(
        app_id="Pressbox", app_desc="Pressbox", app_url="", secure_logging=False, storage_mode="memory"
    )
    plugin, facts = None, TargetFacts("", frozenset(), 0)
    # Its text may quote the address.
    with suppress(Exception):
        parsed = cast(Any, url_to_dict)(url, secure_logging=False) if len(url) <= MAX_URL_LENGTH else None
        if parsed is not None:
            found = apprise.Apprise.instantiate(url, asset=asset, suppress_exceptions=False)
            plugin = found if isinstance(found, NotifyBase) else None
            facts = TargetFacts(str(parsed["schema"]).lower(), frozenset(parsed["qsd"]), len(plugin or ""))
    if guard.refused:
        raise RefusedAddressError(guard.refused)
    if plugin is None:
        raise InvalidInputError("This is not an Apprise URL that can be used here.", field="url")
    # An address of the web can stand for a service: its scheme is checked too.
    check_scheme(facts.scheme, audience, allowed_schemes)
    check_target(facts, audience)
    return plugin, facts
