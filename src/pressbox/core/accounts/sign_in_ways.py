"""Which ways to sign in the settings allow. Apart from the libraries that carry them out: `doctor` asks this too."""

import ipaddress
from dataclasses import dataclass
from urllib.parse import urlsplit

from pressbox.core.config import OidcSettings

LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})


@dataclass(frozen=True)
class RelyingParty:
    """The name that passkeys are bound to, and the only origin from which they are accepted."""

    id: str
    origin: str


def relying_party(public_url: str | None) -> RelyingParty | None:
    """None when browsers would refuse: no address, an IP address, or http other than on localhost."""
    try:
        parts = urlsplit((public_url or "").strip())
        host, port = (parts.hostname or "").lower(), parts.port
    except ValueError:
        return None
    if not host or _is_ip(host) or parts.scheme not in ("http", "https"):
        return None
    if parts.scheme == "http" and host != "localhost":
        return None
    usual = {"http": 80, "https": 443}[parts.scheme]
    return RelyingParty(host, f"{parts.scheme}://{host}" + ("" if port in (None, usual) else f":{port}"))


def _is_ip(host: str) -> bool:
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True


def find_oidc_problem(settings: OidcSettings, public_url: str | None) -> str | None:
    """What is missing or wrong, in words for whoever set it; None when it can be used or is off altogether."""
    if settings.issuer is None:
        return "PRESSBOX_OIDC_CLIENT_ID is set, but PRESSBOX_OIDC_ISSUER is not." if settings.client_id else None
    parts = urlsplit(settings.issuer)
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.query or parts.fragment:
        return "PRESSBOX_OIDC_ISSUER is not an address such as https://id.example.org."
    if parts.scheme == "http" and parts.hostname not in LOOPBACK:
        return "PRESSBOX_OIDC_ISSUER must begin with https://, unless the provider runs on this machine."
    if not settings.client_id:
        return "PRESSBOX_OIDC_ISSUER is set, but PRESSBOX_OIDC_CLIENT_ID is not."
    if not public_url:
        return "PRESSBOX_OIDC_ISSUER is set, but PRESSBOX_WEB_PUBLIC_URL, to which the provider sends back, is not."
    if "openid" not in settings.scopes:
        return "PRESSBOX_OIDC_SCOPES lacks openid, without which the provider does not say who somebody is."
    return None


def is_oidc_on(settings: OidcSettings, public_url: str | None) -> bool:
    return settings.issuer is not None and find_oidc_problem(settings, public_url) is None
