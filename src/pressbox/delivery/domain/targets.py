"""Which Apprise addresses are used, and for whom: none through which somebody else would get messages. Pure.

Whoever has no account names only places of their own that confirm themselves, from a list of services and of their
harmless parameters. Members use every service that is reached over the web, with their own credentials; mail has its
own way, with a confirmation, for everybody.
"""

import re
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType
from urllib.parse import parse_qsl

from pressbox.core.errors import InvalidInputError, RefusedAddressError

NO_MAIL = (
    "Mail goes through the mail server of this Pressbox only: subscribe on the event's page with the e-mail address, "
    "which gets a link to confirm."
)
# What the owner of a channel hears who gave such an address before it was refused.
OWN_MAIL = (
    "Mail goes through the mail server of this Pressbox only. Choose e-mail on your channels page: it goes to the "
    "address of your account."
)
# These act on the machine itself.
LOCAL_SCHEMES = frozenset(
    {"blink1", "dbus", "gio", "glib", "gnome", "growl", "kde", "macosx", "qt", "syslog", "windows"}
)
# These do not speak HTTP, so they cannot go through the guarded proxy.
SOCKET_SCHEMES = frozenset(
    {"amqp", "amqps", "aprs", "irc", "ircs", "mqtt", "mqtts", "nostr", "rsyslog", "smpp", "smpps", "xmpp", "xmpps"}
)
MAIL_SCHEMES = frozenset({"mailto", "mailtos", "deltachat", "deltachats"})
# A service would send a copy to the address in it.
COPY_PARAMETERS = frozenset({"email", "cc", "bcc"})

_NONE: frozenset[str] = frozenset()
# What people without an account may use, and with which parameters. `mode`, `key` and `token` are part of addresses
# that are copied from the service itself.
OPEN_SERVICES = MappingProxyType(
    {
        "ntfy": frozenset({"priority", "xtags", "mode"}),
        "gotify": frozenset({"priority"}),
        "discord": frozenset({"thread"}),
        "slack": _NONE,
        "matrix": _NONE,
        "tgram": frozenset({"silent", "thread"}),
        "pover": frozenset({"priority", "sound"}),
        "gchat": frozenset({"key", "token"}),
        "mmost": _NONE,
        "nctalk": _NONE,
        "lametric": _NONE,
        "bark": frozenset({"sound", "level"}),
        "pushdeer": _NONE,
        "prowl": frozenset({"priority"}),
        "notica": _NONE,
        "synology": frozenset({"token"}),
        "json": _NONE,
        "xml": _NONE,
        "form": _NONE,
    }
)


class Audience(StrEnum):
    """Who gave an address."""

    ANYBODY = "anybody"
    MEMBER = "member"
    ADMINISTRATOR = "administrator"


@dataclass(frozen=True)
class TargetFacts:
    """What an Apprise address says: the scheme of its service, its parameters and how many places it leads to."""

    scheme: str
    parameters: frozenset[str]
    places: int


def scheme_of(url: str) -> str:
    return url.partition("://")[0].strip().lower()


def check_scheme(scheme: str, audience: Audience, allowed: frozenset[str] = frozenset()) -> None:
    """Refuse a scheme before anything of its address is read.

    `allowed` are schemes of the machine that its settings allow: for administrators only.
    """
    if scheme in MAIL_SCHEMES:
        raise InvalidInputError(NO_MAIL, field="url")
    if scheme in (LOCAL_SCHEMES | SOCKET_SCHEMES) - (allowed if audience is Audience.ADMINISTRATOR else frozenset()):
        raise RefusedAddressError(
            f"{scheme}:// acts on the machine that runs Pressbox, or goes past its guard. "
            "Use a service that is reached over the web."
        )


def check_target(facts: TargetFacts, audience: Audience) -> None:
    """Refuse what could reach somebody who did not ask."""
    copies = sorted(facts.parameters & COPY_PARAMETERS)
    if copies:
        raise InvalidInputError(f"Leave out “{copies[0]}”: a copy would go to somebody else.", field="url")
    if audience is not Audience.ANYBODY:
        return
    harmless = OPEN_SERVICES.get(facts.scheme) or OPEN_SERVICES.get(facts.scheme.removesuffix("s"))
    if harmless is None:
        raise InvalidInputError(
            "This service needs an account here. Without one, use your e-mail address or an address of ntfy, Gotify, "
            "Discord, Slack, Matrix, Telegram, Pushover, Mattermost, Nextcloud Talk, Google Chat or a webhook.",
            field="url",
        )
    unknown = sorted(facts.parameters - harmless)
    if unknown:
        raise InvalidInputError(f"Leave out “{unknown[0][:40]}”: it needs an account here.", field="url")
    if facts.places != 1:
        raise InvalidInputError("Give one place only: each has to confirm for itself.", field="url")


def find_refusal(url: str, audience: Audience, allowed: frozenset[str] = frozenset()) -> str:
    """Why an address that was taken once can be used no longer; empty if it can.

    By its scheme and parameters only: what it leads to is looked at whenever something is sent there.
    """
    scheme = scheme_of(url)
    parameters = frozenset(name.lower() for name, _ in parse_qsl(url.partition("?")[2], keep_blank_values=True))
    try:
        check_scheme(scheme, audience, allowed)
        check_target(TargetFacts(scheme, parameters, 1), audience)
    except (InvalidInputError, RefusedAddressError) as error:
        return OWN_MAIL if scheme in MAIL_SCHEMES else error.message
    return ""


_CREDENTIALS = re.compile(r"^([a-z0-9]+)://(?:[^/?#]*@)?")


def normalise_target(url: str) -> str:
    """One spelling for the place behind an address, for counting: without parameters, credentials and TLS."""
    place = url.partition("?")[0].lower().rstrip("/")
    place = _CREDENTIALS.sub(lambda found: f"{found[1].removesuffix('s')}://", place)
    return place.replace("ntfy://ntfy.sh/", "ntfy://")


def normalise_mailbox(email: str) -> str:
    """One spelling for a mailbox, for counting: many servers ignore dots, and what follows a plus."""
    local, _, domain = email.lower().rpartition("@")
    local = local.partition("+")[0].replace(".", "") or local
    return f"{local}@{'gmail.com' if domain == 'googlemail.com' else domain}"
