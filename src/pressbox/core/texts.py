"""Limits of texts that people type. Pure."""

import unicodedata

from pressbox.core.errors import InvalidInputError

MAX_NAME_LENGTH = 200
MAX_TEXT_LENGTH = 10_000

_WHITE_SPACE = "\n\r\t"


def require_displayable(text: str, field: str) -> str:
    """Return the text, or an error if there are control characters or half characters in it."""
    # PostgreSQL stores no NUL, half a surrogate pair cannot be sent to anybody, and a calendar takes no controls.
    if any(unicodedata.category(sign) in ("Cc", "Cs") and sign not in _WHITE_SPACE for sign in text):
        raise InvalidInputError("There are characters that cannot be shown.", field=field)
    return text


def require_line(text: str, field: str) -> str:
    """Return the text without spaces around it, or an error if it is more than one line."""
    line = require_displayable(text, field).strip()
    if any(sign in line for sign in "\n\r\u2028\u2029"):
        raise InvalidInputError("Write this on one line.", field=field)
    return line


def drop_controls(text: str) -> str:
    """The text as any program can read it: for what was stored before it was checked."""
    plain = text.replace("\r\n", "\n").replace("\r", "\n")
    return "".join(sign for sign in plain if sign in "\n\t" or unicodedata.category(sign) not in ("Cc", "Cs"))
