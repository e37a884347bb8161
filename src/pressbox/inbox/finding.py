"""Notices as the search of the top line and the first page show them."""

from collections.abc import Sequence
from functools import cache
from typing import Any

from sqlalchemy import Row, Select, select

from pressbox.core.app import Resources
from pressbox.core.audiences.members import Viewer
from pressbox.core.db.database import UnitOfWork
from pressbox.core.db.parameters import MOST, PERSON
from pressbox.core.db.words import TYPED, fits, has_words, split_words, words_of, words_query
from pressbox.core.notices.publish import NOTICE_CHANGED, NoticeState
from pressbox.core.notices.reading import SHOWN, ShownNotice, read_notices
from pressbox.core.notices.rows import InboxRow, NoticeRow
from pressbox.core.today.contracts import FoundThing, PageReader, SearchGroup, SectionView, TodaySection

PATH = "/inbox"
# Some of what is found may read otherwise for the person, so more is read.
COVERED = 4


async def find_notices(resources: Resources, viewer: Viewer, typed: str, limit: int) -> Sequence[FoundThing]:
    """What this person was told, newest first, by the words that they may read."""
    if not split_words(typed):
        return ()
    values = {"person": viewer.user_id, "typed": words_query(typed), "most": limit * COVERED}
    async with resources.database.unit_of_work() as work:
        ids = list(await work.session.scalars(_select_told(), values))
        shown = await read_notices(work.session, [(viewer.user_id, number) for number in ids])
    known = [shown[viewer.user_id, number] for number in ids if (viewer.user_id, number) in shown]
    # A hidden score must not be found by trying scores.
    return [_line(one) for one in known if fits(f"{one.heading} {one.title} {one.detail}", typed)][:limit]


@cache
def _select_told() -> Select[tuple[int]]:
    return (
        select(InboxRow.notice_id)
        .join(NoticeRow, NoticeRow.id == InboxRow.notice_id)
        .where(InboxRow.user_id == PERSON)
        .where(has_words(words_of(NoticeRow.heading, NoticeRow.title, NoticeRow.detail), TYPED))
        .order_by(InboxRow.notice_id.desc())
        .limit(MOST)
    )


async def load_unread(work: UnitOfWork, _: Resources, reader: PageReader, limit: int) -> SectionView:
    """What is unread, newest first."""
    rows = await work.session.execute(_select_unread(), {"person": reader.user_id, "most": limit})
    return SectionView([_line(row) for row in rows])


@cache
def _select_unread() -> Select[Any]:
    mine = select(SHOWN).where(SHOWN.c.user_id == PERSON, SHOWN.c.unread)
    return mine.order_by(SHOWN.c.notice_id.desc()).limit(MOST)


def _line(notice: ShownNotice | Row[Any]) -> FoundThing:
    return FoundThing(
        notice.title,
        f"{PATH}/notices/{notice.notice_id}",
        notice.detail,
        notice.occurred_at,
        withdrawn=notice.state == NoticeState.WITHDRAWN,
        ours=True,
    )


SECTIONS = (TodaySection("notices", "Unread notices", PATH, load_unread, topics=(NOTICE_CHANGED,)),)
GROUPS = (SearchGroup("notices", "Notices", find_notices),)
