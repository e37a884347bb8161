"""Which URLs are used at all: http and https, a plain host, no credentials inside."""

import re

import httpx

from pressbox.core.errors import InvalidInputError, RefusedAddressError
from pressbox.core.http.guard import is_name

MAX_URL_LENGTH = 8192
DEFAULT_PORTS = {"http": 80, "https": 443}
_IPV6_CHARACTERS = re.compile(r"[0-9a-f.]*+:[0-9a-f:.]*+")


def check_url(text: str | httpx.URL) -> httpx.URL:
    """The URL, or an error that says why it is not used. Its address is checked later, when we connect."""
    url = _parse_url(text)
    if url.scheme not in DEFAULT_PORTS:
        raise RefusedAddressError(
            f"Only http and https are fetched, not {url.scheme or 'an address without a scheme'}."
        )
    if url.userinfo:
        # It would travel on in logs, errors and histories. The text is therefore not repeated here either.
        raise RefusedAddressError("The address has a user name or password inside. Leave it out.")
    host = host_of(url)
    if not (is_name(host) or _IPV6_CHARACTERS.fullmatch(host)):
        raise InvalidInputError("The address has no usable host name.", field="url")
    if not 1 <= port_of(url) <= 65535:
        raise InvalidInputError("The port of the address is not between 1 and 65535.", field="url")
    return url


def host_of(url: httpx.URL) -> str:
    """The host as it is looked up: in ASCII, without the brackets of IPv6."""
    return url.raw_host.decode("ascii").lower()


def port_of(url: httpx.URL) -> int:
    return DEFAULT_PORTS[url.scheme] if url.port is None else url.port


def same_origin(one: httpx.URL, other: httpx.URL) -> bool:
    return (one.scheme, host_of(one), port_of(one)) == (other.scheme, host_of(other), port_of(other))


def _parse_url(text: str | httpx.URL) -> httpx.URL:
    if len(str(text)) > MAX_URL_LENGTH:
        raise InvalidInputError(f"The address is longer than {MAX_URL_LENGTH} characters.", field="url")
    try:
        return httpx.URL(text)
    except (httpx.InvalidURL, UnicodeError):
        # Its text quotes pieces of the address, among them what may be meant as a password.
        raise InvalidInputError("This is not an address of the web.", field="url") from None
