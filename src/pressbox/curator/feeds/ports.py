"""How sources are found and lists of them are read."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from pressbox.curator.feeds.outline import OutlineFeed, OutlineList
from pressbox.curator.library.domain.feeds import ParsedFeed


class Discovery(Protocol):
    """From the address of a site to its feeds, best first; a feed's own address gives itself.

    None found is an empty answer. A site that cannot be asked raises a TransientError, or a PermanentError with why.
    """

    async def discover(self, url: str) -> Sequence["FoundFeed"]: ...


@dataclass(frozen=True)
class FoundFeed:
    url: str
    title: str
    parsed: ParsedFeed | None = None


class Outlines(Protocol):
    """Lists of subscriptions (OPML). Reading raises InvalidInputError only when the whole is none."""

    def read(self, content: bytes) -> OutlineList: ...

    def write(self, feeds: Sequence[OutlineFeed], title: str, now: datetime) -> bytes: ...
