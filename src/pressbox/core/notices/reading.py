"""What a notice says to one person now. Whatever shows or sends a notice reads it here and nowhere else.

Who sees scores at once reads the newest version; who wants them later the version of that many minutes ago; who hides
them the covered sentences until they look. What is not visible yet is not there.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import ColumnElement, Subquery, and_, case, func, or_, select, tuple_
from sqlalchemy.ext.asyncio import AsyncSession

from pressbox.core.notices.rows import InboxRow, NoticeRow, NoticeVersionRow
from pressbox.core.spoilers.choice import SpoilerMode
from pressbox.core.spoilers.rows import RevealRow, SpoilerChoiceRow


def is_visible() -> ColumnElement[bool]:
    return InboxRow.visible_at <= func.now()


def is_unread() -> ColumnElement[bool]:
    """Also again: something was taken back, and the person may know of it by now."""
    return or_(InboxRow.read_at.is_(None), and_(InboxRow.unread_at.is_not(None), InboxRow.unread_at <= func.now()))


def _shown_notices() -> Subquery:
    """One row for each notice that each person may read now, as they may read it."""
    notice, told, choice, version = NoticeRow, InboxRow, SpoilerChoiceRow, NoticeVersionRow
    looked = and_(RevealRow.user_id == told.user_id, RevealRow.subject == notice.subject)
    guarded = and_(choice.user_id == told.user_id, notice.spoiler, RevealRow.subject.is_(None))
    delayed, covered = choice.mode == SpoilerMode.DELAY, func.coalesce(choice.mode == SpoilerMode.HIDDEN, False)
    earlier = (
        select(version)
        .where(
            version.notice_id == notice.id,
            version.changed_at <= func.now() - func.make_interval(0, 0, 0, 0, 0, choice.minutes),
        )
        .order_by(version.version.desc())
        .limit(1)
        .lateral("earlier")
    )

    def said(name: str, under_cover: object) -> ColumnElement[object]:
        value = case((covered, under_cover), (delayed, earlier.c[name]), else_=getattr(notice, name))
        return value.label(name)

    return (
        select(
            told.user_id,
            told.notice_id,
            told.because,
            told.arrived_at,
            told.visible_at,
            is_unread().label("unread"),
            notice.key,
            notice.application,
            notice.kind,
            notice.subject,
            notice.heading,
            notice.occurred_at,
            said("title", notice.covered_title),
            said("detail", notice.covered_detail),
            said("path", notice.path),
            said("picture", ""),
            said("gist", notice.covered_title),
            said("state", "current"),
            said("version", notice.covered_version),
            said("changed_at", told.arrived_at),
            # Only what is no spoiler has a body.
            case((notice.spoiler, None), else_=notice.body).label("body"),
            covered.label("covered"),
        )
        .join(notice, notice.id == told.notice_id)
        .outerjoin(RevealRow, looked)
        .outerjoin(choice, guarded)
        .outerjoin(earlier, delayed)
        .where(is_visible(), or_(delayed.is_not(True), earlier.c.version.is_not(None)))
        .subquery("shown_notices")
    )


SHOWN = _shown_notices()


@dataclass(frozen=True)
class ShownNotice:
    """A notice in the words that one person may read. `version` rises when what this person may read of it changes."""

    user_id: int
    notice_id: int
    key: str
    application: str
    kind: str
    subject: str
    heading: str
    title: str
    detail: str
    path: str
    picture: str
    gist: str
    state: str
    version: int
    covered: bool
    unread: bool
    because: str
    occurred_at: datetime
    changed_at: datetime
    visible_at: datetime
    body: str | None


async def read_notices(
    session: AsyncSession, told: Collection[tuple[int, int]]
) -> Mapping[tuple[int, int], ShownNotice]:
    """By (user id, notice id) what these people may read of these notices now. What is missing they may not see yet."""
    if not told:
        return {}
    columns = [SHOWN.c[name] for name in ShownNotice.__dataclass_fields__]
    statement = select(*columns).where(tuple_(SHOWN.c.user_id, SHOWN.c.notice_id).in_(sorted(told)))
    shown = [ShownNotice(**row) for row in (await session.execute(statement)).mappings()]
    return {(one.user_id, one.notice_id): one for one in shown}
