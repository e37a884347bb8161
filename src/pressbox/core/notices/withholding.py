"""When a person may see a notice that is a spoiler: at once, later, or not before they look."""

from collections.abc import Collection

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncSession

from pressbox.core.notices.outgoing import FOLLOWED, MUTED

# Of what is covered only the first of its kind and subject is told: three lines would tell of three goals.
_ARRANGE = """
    UPDATE core.inbox AS told SET visible_at = arranged.visible_at
    FROM (
        SELECT inbox.user_id, inbox.notice_id,
               CASE
                   WHEN choices.mode IS NULL OR revealed.subject IS NOT NULL THEN inbox.arrived_at
                   WHEN choices.mode = 'delay' THEN inbox.arrived_at + make_interval(mins => choices.minutes)
                   WHEN row_number() OVER (
                       PARTITION BY inbox.user_id, notices.subject, notices.kind ORDER BY notices.id
                   ) = 1 THEN inbox.arrived_at
               END AS visible_at
        FROM core.inbox AS inbox
        JOIN core.notices AS notices ON notices.id = inbox.notice_id AND notices.spoiler
        LEFT JOIN core.spoiler_choices AS choices ON choices.user_id = inbox.user_id
        LEFT JOIN core.spoiler_reveals AS revealed
            ON revealed.user_id = inbox.user_id AND revealed.subject = notices.subject
        WHERE {where}
    ) AS arranged
    WHERE told.user_id = arranged.user_id AND told.notice_id = arranged.notice_id
        AND told.visible_at IS DISTINCT FROM arranged.visible_at
"""
_ARRANGE_NEW = text(
    _ARRANGE.format(
        where="choices.mode IS NOT NULL AND notices.subject IN (SELECT subject FROM core.notices WHERE id = ANY (:ids))"
    )
)
_ARRANGE_OWN = text(_ARRANGE.format(where="inbox.user_id = :user_id"))

# Whoever has a delay reads of it again when their time has come; a covered line says the same as before.
_WAKE = text("""
    UPDATE core.inbox AS told
    SET read_at = CASE WHEN woken.mode IS NULL THEN NULL ELSE told.read_at END,
        unread_at = CASE woken.mode WHEN 'delay' THEN now() + make_interval(mins => woken.minutes) END
    FROM (
        SELECT inbox.user_id, inbox.notice_id, choices.mode, choices.minutes
        FROM core.inbox AS inbox
        JOIN core.notices AS notices ON notices.id = inbox.notice_id
        LEFT JOIN core.spoiler_reveals AS revealed
            ON revealed.user_id = inbox.user_id AND revealed.subject = notices.subject
        LEFT JOIN core.spoiler_choices AS choices
            ON choices.user_id = inbox.user_id AND notices.spoiler AND revealed.subject IS NULL
        WHERE inbox.notice_id = ANY (:ids)
    ) AS woken
    WHERE told.user_id = woken.user_id AND told.notice_id = woken.notice_id
""")

_KEEP_VERSIONS = text("""
    INSERT INTO core.notice_versions (notice_id, version, title, detail, path, picture, gist, state, changed_at)
    SELECT id, version, title, detail, path, picture, gist, state, changed_at
    FROM core.notices WHERE id = ANY (:ids) AND spoiler
    ON CONFLICT DO NOTHING
""")

# The person of a row of the inbox is asked for as that of a row of the ledger is.
_DROP_UNSEEN = """
    DELETE FROM core.inbox AS send USING core.notices AS notices
    WHERE notices.id = send.notice_id AND send.user_id = :user_id AND send.visible_at > now()
        AND :subject = ANY (notices.followed) AND ({muted} OR NOT {followed})
"""

# Whoever looked at the match has seen what its lines say.
_MARK_REVEALED = text("""
    UPDATE core.inbox AS told SET read_at = now(), unread_at = NULL
    FROM core.notices AS notices
    WHERE told.user_id = :user_id AND notices.id = told.notice_id AND notices.spoiler
        AND notices.subject = ANY (:subjects) AND (told.read_at IS NULL OR told.unread_at IS NOT NULL)
""")


async def withhold(session: AsyncSession, notice_ids: Collection[int]) -> None:
    """Decide when those who were just told of these may see them."""
    await session.execute(_ARRANGE_NEW, {"ids": list(notice_ids)})


async def arrange_inbox(session: AsyncSession, user_id: int) -> None:
    """Decide it anew for all that one person was told, after they chose otherwise or looked."""
    await session.execute(_ARRANGE_OWN, {"user_id": user_id})


async def mark_revealed(session: AsyncSession, user_id: int, subjects: Collection[str]) -> None:
    await session.execute(_MARK_REVEALED, {"user_id": user_id, "subjects": list(subjects)})


async def drop_unseen(session: AsyncSession, user_id: int, subject: str) -> None:
    """Let nothing of this subject appear later that the person wants no longer, after they muted or left it."""
    statement = text(_DROP_UNSEEN.format(muted=MUTED, followed=FOLLOWED))
    await session.execute(statement, {"user_id": user_id, "subject": subject})


async def wake(session: AsyncSession, notice_ids: Collection[int]) -> None:
    """Let these be unread again, for each person from the moment at which they may know why."""
    await session.execute(_WAKE, {"ids": list(notice_ids)})


async def keep_versions(session: AsyncSession, notice_ids: Collection[int]) -> None:
    """Keep what spoilers said and when, for those who read of it later."""
    await session.execute(_KEEP_VERSIONS, {"ids": list(notice_ids)})
