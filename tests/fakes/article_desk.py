"""Two people who follow what the reader brings, and articles on their way to them."""

from collections.abc import Sequence
from datetime import timedelta
from typing import Any

from pressbox.core.app import Resources
from pressbox.core.clock import utc_now
from pressbox.core.notices.follows import PersonalFollows
from pressbox.curator.library.rows import EntryRow
from pressbox.curator.library.subjects import FollowedKind
from pressbox.curator.search.store import SqlIndexStore
from pressbox.inbox.store import InboxStore, Line
from tests.fakes.reader import Library


class Desk:
    """Two people, ada and ben, and what happens to articles."""

    def __init__(self, resources: Resources, people: Sequence[int]) -> None:
        self.library = Library(resources)
        self.database = resources.database
        self.follows = PersonalFollows(self.database)
        self.ada, self.ben = people

    async def follow(self, user_id: int, kind: FollowedKind, number: int, name: str = "The Paper") -> None:
        await self.follows.follow(user_id, kind.subject(number), name, kind.path(number))

    async def find(self, feed_id: int, title: str = "News", **more: Any) -> int:
        """An article that was just crawled."""
        now = utc_now() + timedelta(seconds=1)
        return await self.library.entry(feed_id, title, **{"at": now, "seen": now, **more})

    async def index(self, *entry_ids: int, shown: str = "a") -> None:
        await SqlIndexStore(self.database).mark_indexed(dict.fromkeys(entry_ids, shown))

    async def read(self, user_id: int) -> Sequence[Line]:
        return (await InboxStore(self.database).load(user_id)).lines

    async def titles(self, user_id: int) -> list[str]:
        return [line.title for line in await self.read(user_id)]

    async def story_of(self, entry_id: int) -> int:
        async with self.database.unit_of_work() as work:
            row = await work.session.get(EntryRow, entry_id)
        assert row is not None
        assert row.story_id is not None
        return row.story_id
