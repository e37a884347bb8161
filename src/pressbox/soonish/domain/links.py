"""Private links: tokens that carry an id, signed with the instance key and kept nowhere. Pure."""

import hashlib
import hmac
import re
from base64 import urlsafe_b64encode
from collections.abc import Sequence
from enum import StrEnum

_MAC_BYTES = 18
_TOKEN = re.compile(r"([0-9a-f]{1,16})\.([A-Za-z0-9_-]{24})")


class Purpose(StrEnum):
    """A token of one purpose is worth nothing for another."""

    CONFIRM = "confirm"
    MANAGE = "manage"
    UNSUBSCRIBE = "unsubscribe"
    WHY = "why"
    CALENDAR = "calendar"


class SignedLinks:
    """Makes and reads private links. The first key signs; older ones are still believed."""

    def __init__(self, base_url: str, keys: Sequence[str]) -> None:
        self._base_url = base_url.rstrip("/")
        self._keys = [hashlib.sha256(b"pressbox soonish links\0" + key.encode()).digest() for key in keys]

    def confirm(self, subscription_id: int) -> str:
        return self._address(Purpose.CONFIRM, subscription_id)

    def manage(self, subscription_id: int) -> str:
        return self._address(Purpose.MANAGE, subscription_id)

    def unsubscribe(self, subscription_id: int) -> str:
        return self._address(Purpose.UNSUBSCRIBE, subscription_id)

    def why(self, delivery_id: int) -> str:
        return self._address(Purpose.WHY, delivery_id)

    def calendar(self, user_id: int) -> str:
        """The calendar of one person, for programs that cannot sign in."""
        return self._address(Purpose.CALENDAR, user_id) + ".ics"

    def token(self, purpose: Purpose, number: int) -> str:
        return f"{number:x}.{_mac(self._keys[0], purpose, number)}"

    def read(self, purpose: Purpose, token: str) -> int | None:
        """The id inside, or None when the token was not made here for this purpose."""
        parts = _TOKEN.fullmatch(token)
        if parts is None:
            return None
        number = int(parts[1], 16)
        good = [hmac.compare_digest(_mac(key, purpose, number), parts[2]) for key in self._keys]
        return number if any(good) and f"{number:x}" == parts[1] else None

    def _address(self, purpose: Purpose, number: int) -> str:
        return f"{self._base_url}/events/{purpose}/{self.token(purpose, number)}"


def _mac(key: bytes, purpose: Purpose, number: int) -> str:
    digest = hmac.digest(key, f"{purpose}:{number}".encode(), "sha256")
    return urlsafe_b64encode(digest[:_MAC_BYTES]).decode()
