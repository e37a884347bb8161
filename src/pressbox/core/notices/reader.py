"""How much is unread, for the top line; and who may hear that a notice changed."""

from collections.abc import Collection, Mapping

from sqlalchemy import ColumnElement, Select, and_, exists, func, not_, select
from sqlalchemy.ext.asyncio import AsyncSession

from pressbox.core.audiences.contracts import Audience
from pressbox.core.audiences.members import AudienceKind
from pressbox.core.db.database import UnitOfWork
from pressbox.core.db.parameters import PersonId
from pressbox.core.notices.reading import is_unread, is_visible
from pressbox.core.notices.rows import InboxRow, NoticeRow
from pressbox.core.spoilers.choice import SpoilerMode
from pressbox.core.spoilers.rows import SpoilerChoiceRow

TOLD_KIND = "inbox.told"


def select_unread(user_id: PersonId) -> Select[tuple[int]]:
    """Select how many notices somebody may read and has not."""
    return select(func.count()).where(InboxRow.user_id == user_id, is_unread(), is_visible())


async def count_unread(session: AsyncSession, user_id: int) -> int:
    return await session.scalar(select_unread(user_id)) or 0


def _was_told(notice: ColumnElement[int], person: ColumnElement[int]) -> ColumnElement[bool]:
    """Who has a delay does not hear of a change whose time has not come: their pages ask again by themselves."""
    choice = SpoilerChoiceRow
    too_new = exists().where(
        NoticeRow.id == notice,
        NoticeRow.spoiler,
        choice.user_id == person,
        choice.mode == SpoilerMode.DELAY,
        NoticeRow.changed_at > func.now() - func.make_interval(0, 0, 0, 0, 0, choice.minutes),
    )
    return and_(exists().where(InboxRow.notice_id == notice, InboxRow.user_id == person, is_visible()), not_(too_new))


# Those who were told of a notice and may see it by now.
TOLD = AudienceKind(TOLD_KIND, _was_told)


async def find_told(_: UnitOfWork, keys: Collection[str]) -> Mapping[str, Audience]:
    return {key: Audience(kind=TOLD_KIND, id=int(key)) for key in keys}
