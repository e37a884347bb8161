"""The inbox of one person in PostgreSQL: what they were told, newest first, and what of it they have read."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby

from sqlalchemy import RowMapping, Update, case, func, not_, select, update

from pressbox.core.db.arrays import one_of
from pressbox.core.db.database import Database
from pressbox.core.notices.publish import NOTICE_CHANGED, NoticeState
from pressbox.core.notices.reader import count_unread
from pressbox.core.notices.reading import SHOWN, is_unread, is_visible
from pressbox.core.notices.rows import FollowRow, InboxRow
from pressbox.delivery.service.ways import NoticeSend, load_sends

# What one page shows.
PAGE = 50


@dataclass(frozen=True)
class Line:
    """A notice as its reader may read it. `because` is the name of what they follow, empty when they no longer do.

    A `covered` one hides a score: the person shows it by looking at the subject. `sends` is where it went beside here.
    """

    id: int
    application: str
    kind: str
    subject: str
    heading: str
    title: str
    detail: str
    path: str
    picture: str
    withdrawn: bool
    read: bool
    because: str
    because_subject: str
    occurred_at: datetime
    changed_at: datetime
    covered: bool = False
    sends: Sequence[NoticeSend] = ()


# What a line and a shown notice call the same.
_SAME = (
    "application",
    "kind",
    "subject",
    "heading",
    "title",
    "detail",
    "path",
    "picture",
    "occurred_at",
    "changed_at",
    "covered",
)


@dataclass(frozen=True)
class Inbox:
    """One page of it. `older` is the cursor of the next page."""

    lines: Sequence[Line]
    unread: int
    older: int | None

    @property
    def groups(self) -> Sequence[Sequence[Line]]:
        """Lines of one subject together, in the order of their newest one."""
        order = {line.subject: place for place, line in reversed(list(enumerate(self.lines)))}
        ordered = sorted(self.lines, key=lambda line: order[line.subject])
        return [list(lines) for _, lines in groupby(ordered, key=lambda line: line.subject)]


class InboxStore:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def load(self, user_id: int, *, before: int | None = None, limit: int = PAGE) -> Inbox:
        statement = (
            select(SHOWN, func.coalesce(FollowRow.name, "").label("followed"))
            .outerjoin(FollowRow, (FollowRow.user_id == SHOWN.c.user_id) & (FollowRow.subject == SHOWN.c.because))
            .where(SHOWN.c.user_id == user_id)
            .order_by(SHOWN.c.notice_id.desc())
            .limit(limit + 1)
        )
        if before is not None:
            statement = statement.where(SHOWN.c.notice_id < before)
        async with self._database.unit_of_work() as work:
            rows = (await work.session.execute(statement)).mappings().all()
            unread = await count_unread(work.session, user_id)
            sends = await load_sends(work.session, user_id, [row["notice_id"] for row in rows[:limit]])
        lines = [_line(row, sends.get(row["notice_id"], ())) for row in rows[:limit]]
        return Inbox(lines, unread, lines[-1].id if len(rows) > limit else None)

    async def open(self, user_id: int, notice_id: int) -> str | None:
        """Mark it as read and return where it leads; None when this person was never told of it."""
        async with self._database.unit_of_work() as work:
            path = await work.session.scalar(
                select(SHOWN.c.path).where(SHOWN.c.user_id == user_id, SHOWN.c.notice_id == notice_id)
            )
            if path is not None:
                await work.session.execute(_mark(user_id, read=True).where(InboxRow.notice_id == notice_id))
                work.changed(NOTICE_CHANGED, str(notice_id))
        return path

    async def mark(self, user_id: int, notice_ids: Collection[int], *, read: bool) -> int:
        """Mark these as read or unread; returns how many that changed."""
        return await self._write(_mark(user_id, read=read).where(InboxRow.notice_id == one_of(notice_ids)))

    async def mark_all(self, user_id: int, up_to: int) -> int:
        """Mark everything as read up to the newest one that the person saw: what came since stays unread."""
        return await self._write(_mark(user_id, read=True).where(InboxRow.notice_id <= up_to))

    async def _write(self, statement: Update) -> int:
        async with self._database.unit_of_work() as work:
            changed = list(await work.session.scalars(statement.returning(InboxRow.notice_id)))
            # Other windows of the same person hear of one; they ask for all that they show.
            for number in sorted(changed)[-1:]:
                work.changed(NOTICE_CHANGED, str(number))
        return len(changed)


def _mark(user_id: int, *, read: bool) -> Update:
    """Touch only what differs, so that the count is true and a second click changes nothing."""
    statement = update(InboxRow).where(InboxRow.user_id == user_id, is_visible())
    if read:
        # What will be unread again later stays so: the person does not know of it yet.
        later = case((InboxRow.unread_at > func.now(), InboxRow.unread_at))
        return statement.where(is_unread()).values(read_at=func.now(), unread_at=later)
    return statement.where(not_(is_unread())).values(read_at=None)


def _line(row: RowMapping, sends: Sequence[NoticeSend]) -> Line:
    return Line(
        id=row["notice_id"],
        withdrawn=row["state"] == NoticeState.WITHDRAWN,
        read=not row["unread"],
        because=row["followed"],
        because_subject=row["because"],
        sends=sends,
        **{name: row[name] for name in _SAME},
    )
