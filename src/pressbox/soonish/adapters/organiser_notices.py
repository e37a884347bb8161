"""Tells those who follow an organiser of new public events, inside the transaction that makes an event public.

Who follows an organiser is written down nowhere that the organiser can see.
"""

from sqlalchemy import select

from pressbox.core.accounts.rows import UserRow
from pressbox.core.db.database import UnitOfWork
from pressbox.core.db.transaction import load_time
from pressbox.core.notices.concealing import conceal, disclose, rewrite
from pressbox.core.notices.follows import rename_followed
from pressbox.core.notices.publish import Notice, withdraw
from pressbox.soonish.adapters.inbox_notices import event_subject
from pressbox.soonish.adapters.rows import EventRow
from pressbox.soonish.domain.events import EventStatus, is_shown
from pressbox.soonish.domain.messages import write_new_event
from pressbox.soonish.domain.notice_kinds import NEW_EVENT, organiser_subject
from pressbox.soonish.ids import PATH


async def tell_followers(work: UnitOfWork, row: EventRow, *, opened: bool = False) -> None:
    """Keep what followers of the organiser know of an event in step with it; `opened`: it may be new to them.

    What is not public, or not any more, stands in no inbox. A cancelled event is taken back wherever it was told.
    """
    key = f"{event_subject(row.id)}.new"
    if row.organiser_id is None:
        return
    if not is_shown(row.status, row.visibility):
        await conceal(work, [key])
    elif row.status == EventStatus.CANCELLED:
        await withdraw(work, [key])
    elif row.status == EventStatus.ACTIVE:
        organiser = await work.session.scalar(select(UserRow.name).where(UserRow.id == row.organiser_id)) or ""
        notice = await _write(work, row, row.organiser_id, organiser, key)
        if not opened:
            await rewrite(work, notice)
            return
        if organiser:
            await rename_followed(work.session, organiser_subject(row.organiser_id), organiser)
        await disclose(work, notice)


async def _write(work: UnitOfWork, row: EventRow, organiser_id: int, organiser: str, key: str) -> Notice:
    text = write_new_event(row.name, organiser, row.start_date, row.timezone, row.location)
    return Notice(
        key=key,
        application="soonish",
        kind=NEW_EVENT,
        subject=event_subject(row.id),
        heading=row.name,
        followed=(organiser_subject(organiser_id),),
        title=text.title,
        detail=text.body,
        path=f"{PATH}/{row.slug}",
        occurred_at=await load_time(work.session),
        # Whoever was written to is written to again when it is at another time, and not for another word.
        gist=row.start_date.isoformat(),
    )
