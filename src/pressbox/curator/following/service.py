"""Feeds, categories, labels and stories that a person may follow, by the ids that pages and programs know."""

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Select, select

from pressbox.core.db.arrays import one_of_texts
from pressbox.core.db.database import Database
from pressbox.core.errors import InvalidInputError, NotFoundError
from pressbox.core.notices.follows import PersonalFollows
from pressbox.core.notices.rows import FollowRow
from pressbox.core.spoilers.store import load_guarded
from pressbox.core.spoilers.titles import cover_title
from pressbox.curator.library.rows import CategoryRow, EntryRow, FeedRow, LabelRow, SubscriptionRow
from pressbox.curator.library.store import feed_name, visible_to
from pressbox.curator.library.subjects import FollowedKind, entry_path, search_path, search_subject, search_words


@dataclass(frozen=True)
class Followable:
    """Something that a person can follow, and what it is called."""

    subject: str
    name: str
    path: str


class ArticleFollows:
    """Only what is theirs, or what they read. A story is named by any entry of it."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._follows = PersonalFollows(database)

    async def follow(self, user_id: int, kind: FollowedKind, number: int) -> None:
        found = await self._find(user_id, kind, number)
        await self._follows.follow(user_id, found.subject, found.name, found.path)

    async def unfollow(self, user_id: int, kind: FollowedKind, number: int) -> None:
        found = await self._find(user_id, kind, number)
        await self._follows.unfollow(user_id, found.subject)

    async def follow_search(self, user_id: int, query: str) -> None:
        """Hear of new articles, in whatever they read, that have these words."""
        words = search_words(query)
        if not words:
            raise InvalidInputError("Write words to search for.", field="q")
        await self._follows.follow(user_id, search_subject(words), words, search_path(words))

    async def unfollow_search(self, user_id: int, query: str) -> None:
        await self._follows.unfollow(user_id, search_subject(query))

    async def find_told(self, user_id: int, subjects: Collection[str]) -> frozenset[str]:
        """Those of these subjects that they follow and have not muted."""
        if not subjects:
            return frozenset()
        mine = (FollowRow.user_id == user_id, FollowRow.subject == one_of_texts(subjects), FollowRow.muted_at.is_(None))
        async with self._database.unit_of_work() as work:
            return frozenset(await work.session.scalars(select(FollowRow.subject).where(*mine)))

    async def _find(self, user_id: int, kind: FollowedKind, number: int) -> Followable:
        async with self._database.unit_of_work() as work:
            row = (await work.session.execute(_select_own(user_id, kind, number))).tuples().one_or_none()
            own, name = row or (None, "")
            if kind is FollowedKind.STORY:
                name = cover_title(name, await load_guarded(work.session, user_id))
        if own is None:
            raise NotFoundError("This cannot be followed: it is not there, or not among what you read.")
        path = entry_path(number) if kind is FollowedKind.STORY else kind.path(own)
        return Followable(kind.subject(own), name, path)


def _select_own(user_id: int, kind: FollowedKind, number: int) -> Select[Any]:
    """Select the id by which it is followed, and its name."""
    match kind:
        case FollowedKind.FEED:
            mine = (SubscriptionRow.feed_id == FeedRow.id) & (SubscriptionRow.user_id == user_id)
            named = select(FeedRow.id, feed_name(SubscriptionRow.title)).join(SubscriptionRow, mine)
            return named.where(FeedRow.id == number)
        case FollowedKind.CATEGORY:
            return select(CategoryRow.id, CategoryRow.name).where(
                CategoryRow.id == number, CategoryRow.user_id == user_id
            )
        case FollowedKind.LABEL:
            return select(LabelRow.id, LabelRow.name).where(LabelRow.id == number, LabelRow.user_id == user_id)
        case FollowedKind.STORY:
            return select(EntryRow.story_id, EntryRow.title).where(EntryRow.id == number, visible_to(user_id))
