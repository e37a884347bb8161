"""What leaves beside the inbox, inside the transaction that tells, corrects, mutes or leaves.

A row of `core.notice_sends` is written for every way that a person chose, and for every browser that gets messages;
`pressbox.delivery` sends it. Nothing here costs more statements when more people follow.
"""

from collections.abc import Collection
from enum import StrEnum

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncSession


class DropReason(StrEnum):
    """Why a row is never sent."""

    MUTED = "muted"
    UNFOLLOWED = "unfollowed"
    WITHDRAWN = "withdrawn"
    HIDDEN = "hidden"
    WAY_LEFT = "way_left"
    CHANNEL_BROKEN = "channel_broken"


# Whether the person of a row `send` still wants its notice, which is the row `notices`. What names no subjects was told
# to this person by name.
MUTED = """
    EXISTS (
        SELECT FROM core.follows AS muted
        WHERE muted.user_id = send.user_id AND muted.muted_at IS NOT NULL AND muted.subject = ANY (notices.followed)
    )
"""
FOLLOWED = """
    (notices.followed = '{}' OR EXISTS (
        SELECT FROM core.follows AS follows
        WHERE follows.user_id = send.user_id AND follows.subject = ANY (notices.followed)
    ))
"""

# What the application sends by itself goes only where it cannot: to browsers.
_QUEUE_NEW = text("""
    INSERT INTO core.notice_sends (user_id, notice_id, channel_key, next_try_at)
    SELECT inbox.user_id, inbox.notice_id, ways.channel_key, inbox.visible_at
    FROM core.inbox AS inbox
    JOIN (
        SELECT user_id, channel_key FROM core.notice_ways
        UNION ALL SELECT user_id, concat('push:', id) FROM core.push_subscriptions
    ) AS ways ON ways.user_id = inbox.user_id
    WHERE inbox.notice_id = ANY (:ids) AND inbox.visible_at IS NOT NULL
        AND (CAST(:people AS bigint[]) IS NULL OR inbox.user_id = ANY (CAST(:people AS bigint[])))
        AND (NOT :push_only OR ways.channel_key LIKE 'push:%')
    ON CONFLICT DO NOTHING
""")

# Who waits reads the newest anyway, except with a delay: each change has its own time then. Whoever was told is told
# again when it matters; a push is replaced by every change.
_QUEUE_CHANGED = text("""
    WITH ways AS (
        SELECT user_id, notice_id, channel_key, max(step) AS step,
            bool_or(state = 'pending' AND trying_since IS NULL) AS waits,
            bool_or(state = 'skipped' AND reason = 'withdrawn') AS withdrawn_unsent,
            (array_agg(told_gist ORDER BY step DESC)
                FILTER (WHERE state IN ('sent', 'uncertain') OR trying_since IS NOT NULL))[1] AS told_gist,
            (array_agg(told_state ORDER BY step DESC)
                FILTER (WHERE state IN ('sent', 'uncertain') OR trying_since IS NOT NULL))[1] AS told_state
        FROM core.notice_sends WHERE notice_id = ANY (:ids)
        GROUP BY user_id, notice_id, channel_key
    )
    INSERT INTO core.notice_sends (user_id, notice_id, channel_key, step, next_try_at)
    SELECT ways.user_id, ways.notice_id, ways.channel_key, ways.step + 1,
        now() + make_interval(mins => coalesce(choices.minutes, 0))
    FROM ways
    JOIN core.notices AS notices ON notices.id = ways.notice_id
    LEFT JOIN core.spoiler_reveals AS revealed
        ON revealed.user_id = ways.user_id AND revealed.subject = notices.subject
    LEFT JOIN core.spoiler_choices AS choices
        ON choices.user_id = ways.user_id AND choices.mode = 'delay' AND notices.spoiler AND revealed.subject IS NULL
    WHERE CASE WHEN choices.user_id IS NOT NULL THEN ways.waits OR ways.told_state IS NOT NULL
        ELSE NOT ways.waits AND (
            (ways.told_state IS NOT NULL AND (
                ways.channel_key LIKE 'push:%' OR ways.told_state <> notices.state OR ways.told_gist <> notices.gist))
            OR (ways.told_state IS NULL AND ways.withdrawn_unsent AND notices.state = 'current'))
        END
    ON CONFLICT DO NOTHING
""")

# What is being tried this moment may have arrived: its result is waited for.
_DROP_UNWANTED = """
    UPDATE core.notice_sends AS dropped
    SET state = 'skipped', reason = :reason, finished_at = now(), claimed_by = NULL, claimed_until = NULL
    FROM core.notice_sends AS send JOIN core.notices AS notices ON notices.id = send.notice_id
    WHERE dropped.id = send.id AND send.user_id = :user_id AND send.state = 'pending' AND send.trying_since IS NULL
        AND dropped.state = 'pending' AND dropped.trying_since IS NULL
        AND :subject = ANY (notices.followed) AND ({muted} OR NOT {followed})
"""

_DROP_SUBJECT = text("""
    UPDATE core.notice_sends AS dropped
    SET state = 'skipped', reason = 'unfollowed', finished_at = now(), claimed_by = NULL, claimed_until = NULL
    FROM core.notices AS notices
    WHERE notices.id = dropped.notice_id AND :subject = ANY (notices.followed)
        AND dropped.user_id = :user_id AND dropped.state = 'pending' AND dropped.trying_since IS NULL
""")

_DROP_NAMED = text("""
    UPDATE core.notice_sends AS send
    SET state = 'skipped', reason = :reason, finished_at = now(), claimed_by = NULL, claimed_until = NULL
    FROM core.notices AS notices
    WHERE notices.id = send.notice_id AND notices.subject = :subject AND notices.followed = '{}'
        AND send.user_id = :user_id AND send.state = 'pending' AND send.trying_since IS NULL
""")

_DROP_WAYS = text("""
    UPDATE core.notice_sends
    SET state = 'skipped', reason = 'way_left', finished_at = now(), claimed_by = NULL, claimed_until = NULL
    WHERE user_id = :user_id AND state = 'pending' AND trying_since IS NULL AND channel_key = ANY (:keys)
""")


async def queue_new(
    session: AsyncSession,
    notice_ids: Collection[int],
    people: Collection[int] | None = None,
    *,
    push_only: bool = False,
) -> None:
    """Send these to whoever was just told of them, or only to these people, when each of them may see it."""
    named = None if people is None else list(people)
    await session.execute(_QUEUE_NEW, {"ids": list(notice_ids), "people": named, "push_only": push_only})


async def queue_changed(session: AsyncSession, notice_ids: Collection[int]) -> None:
    """Correct these wherever they went and it matters."""
    await session.execute(_QUEUE_CHANGED, {"ids": list(notice_ids)})


async def drop_unwanted(session: AsyncSession, user_id: int, subject: str, reason: DropReason) -> None:
    """Send nothing more of this subject that the person does not want any longer, after they muted or left it."""
    statement = text(_DROP_UNWANTED.format(muted=MUTED, followed=FOLLOWED))
    await session.execute(statement, {"user_id": user_id, "subject": subject, "reason": reason})


async def drop_subject(session: AsyncSession, user_id: int, subject: str) -> None:
    """Send nothing more of this subject, whatever else the person follows: they may not read it any longer."""
    await session.execute(_DROP_SUBJECT, {"user_id": user_id, "subject": subject})


async def drop_named(session: AsyncSession, user_id: int, subject: str, reason: DropReason) -> None:
    """Send nothing more that an application told this person of the subject by name, after they muted or left it."""
    await session.execute(_DROP_NAMED, {"user_id": user_id, "subject": subject, "reason": reason})


async def drop_ways(session: AsyncSession, user_id: int, channel_keys: Collection[str]) -> None:
    """Send nothing more by these ways of the person."""
    await session.execute(_DROP_WAYS, {"user_id": user_id, "keys": list(channel_keys)})
