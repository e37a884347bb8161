"""Private links: tokens that carry an id, signed with the instance key and not stored. Pure."""

import hashlib
import hmac
import re
from base64 import urlsafe_b64encode
from collections.abc import Sequence
from enum import StrEnum

from pressbox.core.errors import NotFoundError

_MAC_BYTES = 18
_TOKEN = re.compile(r"([0-9a-f]{1,16})\.([A-Za-z0-9_-]{24})")


class Purpose(StrEnum):
    """A token for one purpose is not valid for another."""

    CONFIRM = "confirm"
    MANAGE = "manage"
    UNSUBSCRIBE = "unsubscribe"
    WHY = "why"
    CALENDAR = "calendar"


class SignedLinks:
    """Makes and reads private links. The first key signs; links signed with older ones still work."""

    def __init__(self, base_url: str, keys: Sequence[str]) -> None:
        self._base_url = base_url.rstrip("/")
        self._keys = [hashlib.sha256(b"pressbox soonish links\0" + key.encode()).digest() for key in keys]

    def confirm_url(self, subscription_id: int) -> str:
        return self._url(Purpose.CONFIRM, subscription_id)

    def manage_url(self, subscription_id: int) -> str:
        return self._url(Purpose.MANAGE, subscription_id)

    def unsubscribe_url(self, subscription_id: int) -> str:
        return self._url(Purpose.UNSUBSCRIBE, subscription_id)

    def why_url(self, delivery_id: int) -> str:
        return self._url(Purpose.WHY, delivery_id)

    def calendar_url(self, user_id: int) -> str:
        """The calendar of one person, for programs that cannot sign in."""
        return self._url(Purpose.CALENDAR, user_id) + ".ics"

    def page_url(self, path: str) -> str:
        """A page that is not private, as it is reached from outside."""
        return f"{self._base_url}{path}"

    def make_token(self, purpose: Purpose, number: int) -> str:
        return f"{number:x}.{_mac(self._keys[0], purpose, number)}"

    def read_token(self, purpose: Purpose, token: str) -> int:
        """The id inside. A token that was not made here for this purpose is a NotFoundError."""
        parts = _TOKEN.fullmatch(token)
        if parts is not None:
            number = int(parts[1], 16)
            good = [hmac.compare_digest(_mac(key, purpose, number), parts[2]) for key in self._keys]
            if any(good) and f"{number:x}" == parts[1]:
                return number
        raise NotFoundError("This link is not valid. Copy the whole link from the message.")

    def _url(self, purpose: Purpose, number: int) -> str:
        return f"{self._base_url}/events/{purpose}/{self.make_token(purpose, number)}"


def _mac(key: bytes, purpose: Purpose, number: int) -> str:
    digest = hmac.digest(key, f"{purpose}:{number}".encode(), "sha256")
    return urlsafe_b64encode(digest[:_MAC_BYTES]).decode()
