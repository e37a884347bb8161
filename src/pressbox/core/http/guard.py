"""Which addresses may we connect to? Pure: decides over addresses, knows no socket and no resolver.

Only addresses of the public internet pass. Everything that IANA lists as special is refused, and so is every form
of IPv6 that carries an IPv4 address inside (mapped, NAT64, 6to4, Teredo, ISATAP), whatever that address is: nothing
that people read or watch lives there, and each is a way round a check. Clouds answer some public addresses from
inside, with the keys of the machine; those are refused as well. The allow-list is the only exception.
"""

import re
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network

from pressbox.core.errors import ConfigurationError

Address = IPv4Address | IPv6Address
Network = IPv4Network | IPv6Network

SETTING = "PRESSBOX_HTTP_ALLOW"
# An entry is for a network that an administrator knows. A wider one would be the off switch that we do not have.
SHORTEST_PREFIX = 8

# The order matters: the first that matches names the reason. From the special-purpose registries of IANA.
_SPECIAL_IPV4 = (
    ("0.0.0.0/8", "unspecified"),
    ("10.0.0.0/8", "private"),
    ("100.64.0.0/10", "shared by a provider"),
    ("127.0.0.0/8", "loopback"),
    ("169.254.0.0/16", "link-local"),
    ("172.16.0.0/12", "private"),
    ("192.0.0.0/24", "reserved"),
    ("192.0.2.0/24", "for documentation"),
    ("192.88.99.0/24", "reserved"),
    ("192.168.0.0/16", "private"),
    ("198.18.0.0/15", "for benchmarks"),
    ("198.51.100.0/24", "for documentation"),
    ("203.0.113.0/24", "for documentation"),
    ("224.0.0.0/4", "multicast"),
    ("240.0.0.0/4", "reserved"),
)
_SPECIAL_IPV6 = (
    ("::/128", "unspecified"),
    ("::1/128", "loopback"),
    ("::ffff:0:0/96", "IPv4 in disguise"),
    ("64:ff9b::/96", "IPv4 in disguise"),
    ("64:ff9b:1::/48", "IPv4 in disguise"),
    ("2001::/32", "IPv4 in disguise"),
    ("2001::/23", "reserved"),
    ("2001:db8::/32", "for documentation"),
    ("2002::/16", "IPv4 in disguise"),
    ("3fff::/20", "for documentation"),
    ("fc00::/7", "private"),
    ("fe80::/10", "link-local"),
    ("fec0::/10", "private"),
    ("ff00::/8", "multicast"),
)
# Public by number, and answered by the provider of the machine itself. The others are in the special networks above.
_CLOUD_IPV4 = (
    ("168.63.129.16/32", "a service of the cloud"),  # Azure's wire server
    ("161.26.0.0/16", "a service of the cloud"),  # IBM Cloud's own services
    ("166.8.0.0/14", "a service of the cloud"),  # IBM Cloud's private endpoints
)
_SPECIAL_NETWORKS: tuple[tuple[Network, str], ...] = tuple(
    (ip_network(network), reason) for network, reason in (*_SPECIAL_IPV4, *_CLOUD_IPV4, *_SPECIAL_IPV6)
)
# All that was ever handed out for the public internet; the rest of IPv6 belongs to nobody.
_GLOBAL_IPV6 = IPv6Network("2000::/3")

# The middle of an ISATAP address, in front of the IPv4 address that it carries.
_ISATAP = frozenset({0x0000_5EFE, 0x0200_5EFE})

_LABEL = r"[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?"
_NAME = re.compile(rf"{_LABEL}(?:\.{_LABEL})*")
_LONGEST_NAME = 253


def refusal(address: Address) -> str | None:
    """Why the guard does not let us connect there, in a word or two; None when it does."""
    for network, reason in _SPECIAL_NETWORKS:
        if address.version == network.version and address in network:
            return reason
    if isinstance(address, IPv4Address):
        return None
    if address not in _GLOBAL_IPV6:
        return "reserved"
    return "IPv4 in disguise" if int(address) >> 32 & 0xFFFF_FFFF in _ISATAP else None


def normal_host(host: str) -> str:
    """One spelling per name: lower case, without the dot that marks a full name."""
    return host.lower().removesuffix(".")


def endpoint(host: str, port: int) -> str:
    """As the allow-list spells it."""
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def is_name(host: str) -> bool:
    """Can this be looked up? Underscores are not allowed in host names, and common."""
    name = normal_host(host)
    return len(name) <= _LONGEST_NAME and _NAME.fullmatch(name) is not None


@dataclass(frozen=True)
class AllowList:
    """What an administrator lets through besides the public internet. An entry opens just what it names."""

    networks: tuple[Network, ...] = ()
    addresses: frozenset[tuple[Address, int]] = frozenset()
    names: frozenset[tuple[str, int]] = frozenset()

    @classmethod
    def parse(cls, entries: tuple[str, ...]) -> "AllowList":
        networks: list[Network] = []
        addresses: set[tuple[Address, int]] = set()
        names: set[tuple[str, int]] = set()
        for entry in entries:
            if "/" in entry:
                networks.append(_network(entry))
                continue
            host, port = _host_and_port(entry)
            if isinstance(host, str):
                names.add((host, port))
            else:
                addresses.add((host, port))
        return cls(tuple(networks), frozenset(addresses), frozenset(names))

    def allows(self, host: str, address: Address, port: int) -> bool:
        """`host` is the name as it was asked for, `address` what it resolved to."""
        return (
            (normal_host(host), port) in self.names
            or (address, port) in self.addresses
            or any(address.version == network.version and address in network for network in self.networks)
        )


def _network(entry: str) -> Network:
    try:
        network = ip_network(entry)
    except ValueError as error:
        raise _malformed_error(entry, f"{error}") from error
    if network.prefixlen < SHORTEST_PREFIX:
        raise _malformed_error(entry, f"a network needs a prefix of at least /{SHORTEST_PREFIX}")
    return network


def _host_and_port(entry: str) -> tuple[Address | str, int]:
    host, colon, port = entry.rpartition(":")
    if not (colon and port.isascii() and port.isdigit() and 1 <= int(port) <= 65535):
        raise _malformed_error(entry, "the port is missing or not between 1 and 65535")
    bracketed = host.startswith("[") and host.endswith("]")
    try:
        address = ip_address(host[1:-1] if bracketed else host)
    except ValueError as error:
        name = normal_host(host)
        # What looks like digits is an address with a typing error, not a name.
        if bracketed or not is_name(name) or name.rpartition(".")[2].isdigit():
            raise _malformed_error(entry, "the host is neither a name nor an address") from error
        return name, int(port)
    if address.version == 6 and not bracketed:
        raise _malformed_error(entry, "an IPv6 address stands in brackets, as [fd00::1]:8080")
    return address, int(port)


def _malformed_error(entry: str, problem: str) -> ConfigurationError:
    return ConfigurationError(
        f"{SETTING}: cannot use “{entry}”: {problem}. Write host:port or a network such as 10.0.0.0/24."
    )
