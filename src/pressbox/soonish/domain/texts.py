"""Limits of texts that people type. Pure."""

from pressbox.core.errors import InvalidInputError

MAX_NAME_LENGTH = 200
MAX_TEXT_LENGTH = 10_000


def require_displayable(text: str, field: str) -> str:
    # PostgreSQL stores no NUL, and half a surrogate pair cannot be sent to anybody.
    if "\x00" in text or any("\ud800" <= character <= "\udfff" for character in text):
        raise InvalidInputError("There are characters that cannot be shown.", field=field)
    return text
