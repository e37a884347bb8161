"""Addresses of requests: who the client is behind proxies, and which host names and origins are ours. Pure."""

import ipaddress
import re
from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import urlsplit

from pressbox.core.config import WebSettings
from pressbox.core.errors import ConfigurationError

Network = ipaddress.IPv4Network | ipaddress.IPv6Network

_LOOPBACK_NAMES = frozenset({"localhost", "127.0.0.1", "::1"})
_WILDCARD_ADDRESSES = frozenset({"0.0.0.0", "::"})  # noqa: S104 - named in order to leave them out
_HOST = re.compile(r"(?P<name>[A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\])(?::(?P<port>[0-9]{1,5}))?")


@dataclass(frozen=True)
class OwnAddresses:
    """The names under which this instance may be addressed."""

    names: frozenset[str]
    suffixes: tuple[str, ...]
    public_origin: str | None

    def knows(self, name: str) -> bool:
        return name in self.names or name.endswith(self.suffixes or ("\0",))


def own_addresses(settings: WebSettings) -> OwnAddresses:
    names, suffixes = set(_LOOPBACK_NAMES), []
    if settings.host not in _WILDCARD_ADDRESSES:
        names.add(settings.host.lower())
    for allowed in settings.allowed_hosts:
        name = host_name(allowed.removeprefix("*."))
        if name is None:
            raise ConfigurationError(f"PRESSBOX_WEB_ALLOWED_HOSTS: {allowed!r} is not a host name.")
        if allowed.startswith("*."):
            suffixes.append(f".{name}")
        else:
            names.add(name)
    public_origin = None
    if settings.public_url is not None:
        public_origin = origin_of(settings.public_url)
        if public_origin is None:
            raise ConfigurationError("PRESSBOX_WEB_PUBLIC_URL must be an address such as https://press.example.org.")
        names.add(urlsplit(public_origin).hostname or "")
    return OwnAddresses(frozenset(names), tuple(suffixes), public_origin)


def host_name(header: str) -> str | None:
    """The name in a Host header, without port, in lower case; None when it is not one."""
    match = _HOST.fullmatch(header)
    if match is None:
        return None
    return match["name"].lower().strip("[]").rstrip(".") or None


def origin_of(url: str) -> str | None:
    """Scheme, host and port of a URL, as a browser writes an origin; None when it has none."""
    try:
        parts = urlsplit(url.strip())
        port = parts.port
    except ValueError:
        return None
    if parts.scheme not in ("http", "https") or not parts.hostname:
        return None
    host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
    usual = {"http": 80, "https": 443}[parts.scheme]
    return f"{parts.scheme}://{host}" if port in (None, usual) else f"{parts.scheme}://{host}:{port}"


def trusted_networks(settings: WebSettings) -> tuple[Network, ...]:
    networks = []
    for entry in settings.trusted_proxies:
        try:
            networks.append(ipaddress.ip_network(entry, strict=False))
        except ValueError as error:
            raise ConfigurationError(
                f"PRESSBOX_WEB_TRUSTED_PROXIES: {entry!r} is neither an address nor a network."
            ) from error
    return tuple(networks)


def is_trusted(address: str, trusted: Sequence[Network]) -> bool:
    try:
        parsed = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return False
    mapped = getattr(parsed, "ipv4_mapped", None)
    return any((mapped or parsed) in network for network in trusted)


def client_address(peer: str, forwarded_for: Sequence[str], trusted: Sequence[Network]) -> str:
    """The nearest address that is not a trusted proxy. What lies further left, anybody can write."""
    nearest = peer
    hops = [hop.strip() for line in forwarded_for for hop in line.split(",")]
    for hop in reversed(hops):
        if not is_trusted(nearest, trusted):
            break
        try:
            nearest = str(ipaddress.ip_address(hop.strip("[]")))
        except ValueError:
            break
    return nearest


def untrusted_proxy(peer: str, forwarded: bool, trusted: Sequence[Network]) -> str | None:
    """The address of what looks like a proxy of ours that is not trusted. A stranger far away may send any header."""
    if not forwarded or is_trusted(peer, trusted):
        return None
    try:
        near = ipaddress.ip_address(peer.partition("%")[0]).is_private
    except ValueError:
        return None
    return peer if near else None
