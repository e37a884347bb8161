"""What the slice of sources needs of discovery."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from pressbox.curator.feeds.domain import ParsedFeed


class Discovery(Protocol):
    """Finds the feeds of a site, best first; the address of a feed finds itself.

    A site without feeds gives an empty result. One that cannot be read raises a TransientError or a PermanentError.
    """

    async def discover(self, url: str, owner: str = "") -> Sequence["FoundFeed"]: ...


@dataclass(frozen=True)
class FoundFeed:
    url: str
    title: str
    parsed: ParsedFeed | None = None
