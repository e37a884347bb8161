"""Fixtures and follows in PostgreSQL. The change log is the queue of what changed, with a cursor of our own."""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from sqlalchemy import func, select
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncSession

from pressbox.core.accounts.rows import UserRow
from pressbox.core.db.arrays import one_of_texts
from pressbox.core.db.changes import ChangeRow, ReaderRow
from pressbox.core.db.database import Database
from pressbox.core.errors import PermanentError
from pressbox.core.logs import get_logger
from pressbox.core.notices.follows import FOLLOW_CHANGED, list_subjects
from pressbox.core.notices.rows import FollowRow
from pressbox.footy.ids import FIXTURE_SUBJECT, FIXTURE_TOPIC, TEAM_SUBJECT
from pressbox.footy.service.coming import ComingFixtures
from pressbox.matchday.fixtures import FollowedBy, build_event, join_follows
from pressbox.soonish.service.kept_events import Follower, KeptEvent, KeptEvents

log = get_logger(__name__)

READER = "matchday"
READ_TOGETHER = 500
_KINDS = (FIXTURE_TOPIC, FOLLOW_CHANGED)


@dataclass(frozen=True)
class Changed:
    """Fixtures to look at, and up to where in the change log. `lost`: the log no longer says what changed.

    `follows`: among them are changes of follows, not only of fixtures.
    """

    fixture_ids: Sequence[int] = ()
    up_to: int = 0
    more: bool = False
    lost: bool = False
    follows: bool = False
    # Much else happened since: it is not read again and again.
    far: bool = False


class MatchdayStore:
    def __init__(self, database: Database, fixtures: ComingFixtures, events: KeptEvents) -> None:
        self._database = database
        self._fixtures = fixtures
        self._events = events

    async def find_changed(self) -> Changed:
        async with self._database.unit_of_work() as work:
            session = work.session
            read = await session.scalar(select(ReaderRow.read_up_to).where(ReaderRow.name == READER))
            oldest, newest = (await session.execute(select(func.min(ChangeRow.id), func.max(ChangeRow.id)))).one()
            if read is None or (oldest is not None and oldest > read + 1):
                return Changed(up_to=newest or 0, lost=True)
            rows = await session.execute(
                select(ChangeRow.id, ChangeRow.kind, ChangeRow.key)
                .where(ChangeRow.id > read, ChangeRow.kind.in_(_KINDS))
                .order_by(ChangeRow.id)
                .limit(READ_TOGETHER)
            )
            found = rows.tuples().all()
            more = len(found) == READ_TOGETHER
            numbers = {int(key) for _, kind, key in found if kind == FIXTURE_TOPIC}
            followed = {key for _, kind, key in found if kind == FOLLOW_CHANGED}
        if followed:
            numbers |= set(await self._fixtures.find(followed))
        up_to = found[-1][0] if more else max(newest or 0, read)
        return Changed(sorted(numbers), up_to, more, follows=bool(followed), far=up_to - read > READ_TOGETHER)

    async def note_read(self, up_to: int) -> None:
        """Never back: another reader may have come further."""
        statement = insert(ReaderRow).values(name=READER, read_up_to=up_to)
        further = func.greatest(ReaderRow.read_up_to, statement.excluded.read_up_to)
        async with self._database.unit_of_work() as work:
            await work.session.execute(
                statement.on_conflict_do_update(index_elements=["name"], set_={"read_up_to": further})
            )

    async def find_all(self, after: int, limit: int) -> Sequence[int]:
        """Fixtures to come that somebody follows, and those whose event is not over."""
        async with self._database.unit_of_work() as work:
            followed = [
                subject
                for prefix in (TEAM_SUBJECT, FIXTURE_SUBJECT)
                for subject in await list_subjects(work.session, prefix)
            ]
        kept = await self._events.list_open(FIXTURE_SUBJECT)
        return await self._fixtures.find_page(followed, kept, after, limit)

    async def keep(self, fixture_ids: Collection[int]) -> int:
        """Bring the events of these fixtures into step; returns how many could not be. One does not stop the others."""
        failed = 0
        for event, followers in await self._load(fixture_ids):
            try:
                await self._events.keep(event, followers)
            except PermanentError as error:
                failed += 1
                log.error("fixture_not_kept", msg=f"A fixture has no event: {error.message}", subject=event.subject)
        return failed

    async def is_due(self, changed: Changed) -> bool:
        """Whether there is anything to do. While matches are on, most changes are of minutes and scores."""
        if changed.lost or changed.follows:
            return True
        loaded = await self._load(changed.fixture_ids)
        return bool(await self._events.find_stale([event for event, followers in loaded if followers]))

    async def _load(self, fixture_ids: Collection[int]) -> Sequence[tuple[KeptEvent, Sequence[Follower]]]:
        if not fixture_ids:
            return []
        fixtures = await self._fixtures.load(fixture_ids)
        async with self._database.unit_of_work() as work:
            follows = await _load_follows(work.session, {one for fixture in fixtures for one in fixture.subjects})
        found = []
        for fixture in fixtures:
            event = build_event(fixture)
            if event is not None:
                own = (follow for subject in fixture.subjects for follow in follows.get(subject, ()))
                found.append((event, join_follows(own)))
        return found


async def _load_follows(session: AsyncSession, subjects: Collection[str]) -> Mapping[str, Sequence[FollowedBy]]:
    """Of people who have an account that is in use."""
    row = FollowRow
    found = await session.execute(
        select(row.subject, row.user_id, row.reminders, row.muted_at, row.timezone)
        .join(UserRow, UserRow.id == row.user_id)
        .where(row.subject == one_of_texts(subjects), UserRow.disabled_at.is_(None), UserRow.deleted_at.is_(None))
    )
    follows: dict[str, list[FollowedBy]] = defaultdict(list)
    for subject, user_id, reminders, muted_at, timezone in found.tuples():
        follows[subject].append(FollowedBy(user_id, reminders, muted_at is not None, timezone))
    return follows
