"""Why a service refuses: the words of its answer, in whichever of the usual places they are. Pure.

Bluesky: `{"error": "ExpiredToken", "message": …}`. X: `{"title": …, "detail": …, "type": …}`. Reddit: `{"error": 403,
"reason": "private"}`, or nothing but the header `WWW-Authenticate`. Words of others are cut short.
"""

import json
import re
from dataclasses import dataclass

from pressbox.core.http.client import Response

_LONGEST = 160
_CODES = ("reason", "error", "type", "title", "code")
_TEXTS = ("detail", "error_description", "message", "explanation", "info", "title")
_HEADER = re.compile(r'error="([^"]{1,60})"')


@dataclass(frozen=True)
class Reason:
    """`code` is a word for programs, `text` one for people; both are empty when nothing is said."""

    code: str = ""
    text: str = ""


def read_reason(answer: Response) -> Reason:
    found = _read_body(answer.body)
    if found.code or found.text:
        return found
    header = _HEADER.search(answer.headers.get("www-authenticate", ""))
    return Reason(header[1], header[1]) if header else Reason()


def _read_body(body: bytes) -> Reason:
    try:
        given = json.loads(body)
    except (ValueError, RecursionError):
        return Reason()
    if not isinstance(given, dict):
        return Reason()
    if isinstance(given.get("error"), dict):
        given = given["error"]
    code = _first_words(given, _CODES)
    text = _first_words(given, _TEXTS)
    return Reason(code, f"{code}: {text}" if code and text and code != text and "/" not in code else text or code)


def _first_words(given: dict[str, object], names: tuple[str, ...]) -> str:
    values = (given.get(name) for name in names)
    # A number only repeats the status.
    return next((" ".join(value.split())[:_LONGEST] for value in values if isinstance(value, str) and value), "")
