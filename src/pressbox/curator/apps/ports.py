"""What people's own apps need from storage. A method is one transaction; what is not the person's is NotFoundError."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Protocol

from pressbox.curator.apps.domain.apps import AppPasswordView, AppPerson, StoredPassword, StoredView
from pressbox.curator.apps.domain.streams import Contents, References, Stream, StreamQuery


class AppAccess(Protocol):
    """Passwords made for one app each, and the tokens that apps got for them."""

    async def create(self, user_id: int, name: str, hint: str, password_hash: str, most: int) -> AppPasswordView: ...

    async def all(self, user_id: int) -> Sequence[AppPasswordView]: ...

    async def revoke(self, user_id: int, password_id: int) -> None: ...

    async def candidates(self, email: str, hint: str) -> Sequence[StoredPassword]:
        """Those of a person who is not locked out; at most a few."""
        ...

    async def begin(self, password_id: int, digest: str, keep: int) -> None:
        """A token for this password; of older ones so many stay."""
        ...

    async def find(self, digest: str) -> AppPerson | None: ...


class ViewFeeds(Protocol):
    """Views that can be read as feeds by whoever knows the address."""

    async def create(self, user_id: int, token: str, view: Mapping[str, Any], most: int) -> StoredView: ...

    async def all(self, user_id: int) -> Sequence[StoredView]: ...

    async def revoke(self, user_id: int, view_id: int) -> None: ...

    async def find(self, token: str) -> StoredView | None: ...


class Streams(Protocol):
    """Entries as apps synchronise them: in the order in which they came, every copy of a story."""

    async def references(self, user_id: int, query: StreamQuery) -> References: ...

    async def contents(self, user_id: int, query: StreamQuery) -> Contents: ...

    async def some(self, user_id: int, entry_ids: Sequence[int]) -> Contents:
        """Those of these that the person may see, in the order given."""
        ...

    async def star(self, user_id: int, entry_ids: Sequence[int], starred: bool, now: datetime) -> None: ...

    async def label(self, user_id: int, entry_ids: Sequence[int], name: str, *, add: bool) -> None: ...

    async def feed_id(self, user_id: int, stream: Stream) -> int: ...
