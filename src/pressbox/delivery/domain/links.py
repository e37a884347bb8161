"""Links by which somebody ends a way of notices without signing in: signed with the instance key, not stored. Pure."""

import hashlib
import hmac
import re
from base64 import urlsafe_b64encode
from collections.abc import Sequence
from dataclasses import dataclass

from pressbox.core.errors import NotFoundError

STOP_PATH = "/follows/stop"
_MAC_BYTES = 18
_TOKEN = re.compile(r"([0-9]{1,18})\.(account|channel)-([0-9]{1,18})\.([A-Za-z0-9_-]{24})", re.ASCII)


@dataclass(frozen=True)
class StoppedWay:
    user_id: int
    channel_key: str


class WayLinks:
    """The first key signs; links signed with older ones still work."""

    def __init__(self, base_url: str, keys: Sequence[str]) -> None:
        self._base_url = base_url.rstrip("/")
        self._keys = [hashlib.sha256(b"pressbox notice ways\0" + key.encode()).digest() for key in keys]

    def stop_url(self, way: StoppedWay) -> str:
        return f"{self._base_url}{STOP_PATH}/{self.make_token(way)}"

    def make_token(self, way: StoppedWay) -> str:
        return f"{way.user_id}.{way.channel_key.replace(':', '-')}.{_sign(self._keys[0], way)}"

    def read_token(self, token: str) -> StoppedWay:
        """Whose way it ends. A token that was not made here is a NotFoundError."""
        parts = _TOKEN.fullmatch(token)
        if parts is not None:
            way = StoppedWay(int(parts[1]), f"{parts[2]}:{int(parts[3])}")
            if any([hmac.compare_digest(_sign(key, way), parts[4]) for key in self._keys]):
                return way
        raise NotFoundError("This link is not valid. Copy the whole link from the message.")


def _sign(key: bytes, way: StoppedWay) -> str:
    digest = hmac.digest(key, f"{way.user_id} {way.channel_key}".encode(), "sha256")
    return urlsafe_b64encode(digest[:_MAC_BYTES]).decode()
