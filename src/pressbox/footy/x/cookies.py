"""Reads cookies that somebody exported from a browser: cookies.txt, or the JSON of a browser extension. Pure."""

import json
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

from pydantic import ValidationError

from pressbox.core.errors import InvalidInputError
from pressbox.footy.x.session import LOGIN_COOKIE, Cookie, is_logged_in

LARGEST_EXPORT = 1_000_000
NO_COOKIE = "There is no cookie of x.com in it. Export the cookies while x.com is open."
NO_LOGIN = f"The cookie {LOGIN_COOKIE} is missing or expired: sign in at x.com first, then export again."
NO_EXPORT = "This is neither a cookies.txt nor the JSON of a browser extension."
NO_JSON = "This is not the JSON of a browser extension."
# In this form a cookie that scripts cannot read looks like a comment.
_HTTP_ONLY = "#HttpOnly_"
_FIELDS = 7
# The end of the year 9999: browsers take nothing later.
_LAST_SECOND = 253_402_300_800
# Older exports have the cookies under the network's older name.
_OLD_HOST, _HOST = "twitter.com", "x.com"


def read_export(text: str, now: datetime) -> Sequence[Cookie]:
    """The cookies of X in an export. One without a valid login is refused in words."""
    parsed = _parse_json(text) if text.lstrip("\ufeff \t\r\n")[:1] in ("[", "{") else _parse_lines(text)
    own = [cookie for cookie in map(_rename, parsed) if cookie.domain.lstrip(".") == _HOST]
    if not own:
        raise InvalidInputError(NO_COOKIE, field="file")
    valid = [cookie for cookie in own if cookie.expires <= 0 or cookie.expires > now.timestamp()]
    if not is_logged_in(valid):
        raise InvalidInputError(NO_LOGIN, field="file")
    return valid


def write_netscape(cookies: Iterable[Cookie]) -> str:
    """Write cookies in the form that other programs read."""
    lines = ["# Netscape HTTP Cookie File"]
    for cookie in cookies:
        below = "TRUE" if cookie.domain.startswith(".") else "FALSE"
        secure, expires = "TRUE" if cookie.secure else "FALSE", str(max(0, int(cookie.expires)))
        prefix = _HTTP_ONLY if cookie.http_only else ""
        fields = (prefix + cookie.domain, below, cookie.path, secure, expires, cookie.name, cookie.value)
        lines.append("\t".join(fields))
    return "\n".join([*lines, ""])


def _rename(cookie: Cookie) -> Cookie:
    if cookie.domain.lstrip(".").lower() != _OLD_HOST:
        return cookie
    return cookie.model_copy(update={"domain": f".{_HOST}"})


def _parse_lines(text: str) -> list[Cookie]:
    found = []
    for line in text.lstrip("\ufeff").splitlines():
        http_only = line.startswith(_HTTP_ONLY)
        if not http_only and (line.startswith("#") or not line.strip()):
            continue
        fields = line.removeprefix(_HTTP_ONLY).rstrip("\r\n").split("\t")
        if len(fields) != _FIELDS:
            # Such a line is broken; the others may be whole.
            continue
        domain, _, path, secure, expires, name, value = fields
        found.append(
            Cookie(
                name=name,
                value=value,
                domain=domain.lower(),
                path=path or "/",
                expires=_seconds(expires),
                http_only=http_only,
                secure=secure.upper() == "TRUE",
            )
        )
    if not found:
        raise InvalidInputError(NO_EXPORT, field="file")
    return found


def _seconds(text: str) -> float:
    """A cookie of the session has 0 or nothing, which browsers call -1."""
    try:
        seconds = float(text)
    except ValueError:
        return -1
    return seconds if 0 < seconds < _LAST_SECOND else -1


def _parse_json(text: str) -> list[Cookie]:
    try:
        items = json.loads(text.lstrip("\ufeff"))
        items = items.get("cookies", ()) if isinstance(items, Mapping) else items
        return [_from_extension(item) for item in items]
    except (ValueError, ValidationError, TypeError, AttributeError, RecursionError) as error:
        raise InvalidInputError(NO_JSON, field="file") from error


def _from_extension(item: Mapping[str, Any]) -> Cookie:
    expires = item.get("expirationDate", item.get("expires"))
    return Cookie(
        name=item.get("name", ""),
        value=item.get("value", ""),
        domain=str(item.get("domain", "")).lower(),
        path=item.get("path") or "/",
        expires=_seconds(str(expires)),
        http_only=bool(item.get("httpOnly", False)),
        secure=bool(item.get("secure", True)),
    )
