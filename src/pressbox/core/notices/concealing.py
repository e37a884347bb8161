"""Notices of what people may stop to see, and see again: an event that is public today and private tomorrow.

For notices that are no spoilers: of those `withholding.py` decides who sees them, and when.
"""

from collections.abc import Collection

from sqlalchemy import select, text

from pressbox.core.db.database import UnitOfWork
from pressbox.core.notices.outgoing import queue_new
from pressbox.core.notices.publish import NOTICE_CHANGED, Notice, deliver, publish
from pressbox.core.notices.rows import NoticeRow

_CONCEAL = text("""
    UPDATE core.inbox AS told SET visible_at = NULL
    FROM core.notices AS notices
    WHERE notices.id = told.notice_id AND notices.key = ANY (:keys) AND told.visible_at IS NOT NULL
""")
_KEEP_BACK = text("""
    UPDATE core.notice_sends AS send
    SET state = 'skipped', reason = 'hidden', finished_at = now(), claimed_by = NULL, claimed_until = NULL
    FROM core.notices AS notices
    WHERE notices.id = send.notice_id AND notices.key = ANY (:keys)
        AND send.state = 'pending' AND send.trying_since IS NULL
""")
_SHOW = text("""
    UPDATE core.inbox SET visible_at = greatest(arrived_at, now()) WHERE notice_id = :id AND visible_at IS NULL
""")
_LET_GO = text("""
    UPDATE core.notice_sends SET state = 'pending', reason = '', finished_at = NULL, next_try_at = now()
    WHERE notice_id = :id AND state = 'skipped' AND reason = 'hidden'
""")


async def conceal(work: UnitOfWork, keys: Collection[str]) -> None:
    """Show these to nobody any more, and send nothing of them that waits."""
    await work.session.execute(_CONCEAL, {"keys": list(keys)})
    await work.session.execute(_KEEP_BACK, {"keys": list(keys)})


async def disclose(work: UnitOfWork, notice: Notice) -> None:
    """Tell of it, or show it again. Whoever follows it by now is told, and nobody for a second time."""
    number = await _find(work, notice.key)
    await publish(work, [notice])
    if number is None:
        return
    await work.session.execute(_SHOW, {"id": number})
    await work.session.execute(_LET_GO, {"id": number})
    await deliver(work.session, [number])
    await queue_new(work.session, [number], push_only=notice.sends_itself)
    work.changed(NOTICE_CHANGED, str(number))


async def rewrite(work: UnitOfWork, notice: Notice) -> None:
    """Say what was told of in its new words. What nobody was told of stays untold."""
    if await _find(work, notice.key) is not None:
        await publish(work, [notice])


async def _find(work: UnitOfWork, key: str) -> int | None:
    number: int | None = await work.session.scalar(select(NoticeRow.id).where(NoticeRow.key == key))
    return number
