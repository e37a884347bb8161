"""What may be said of an address: its host. The rest of it may be a secret, such as the token of a feed."""

import re
from urllib.parse import urlsplit

_ADDRESS = re.compile(r"\b(?P<scheme>[a-z][a-z0-9+.-]{0,30})://(?P<rest>[^\s\"'<>\\]+)", re.IGNORECASE)


def host_of(address: str) -> str:
    """The host, without credentials, port and a leading “www.”; empty when there is none."""
    try:
        host = urlsplit(address.strip()).hostname or ""
    except ValueError:
        return ""
    return host.removeprefix("www.")


def hide_addresses(text: str) -> str:
    """Leave only the hosts of the addresses in a text: `https://example.org/feed?token=1` → `example.org`."""
    return _ADDRESS.sub(lambda found: host_of(found.group()) or "…", text) if "://" in text else text
