"""What the inbox keeps of a person. All of it hangs on their row and ends with it."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from sqlalchemy import Executable, bindparam, select, text

from pressbox.core.app import PersonalData, Resources
from pressbox.core.notices.reading import SHOWN
from pressbox.core.notices.rows import InboxRow

EXPORTS: Mapping[str, Executable] = {
    "follows": text(
        "SELECT subject, name, muted_at, kinds, reminders, timezone, delay_minutes, created_at FROM core.follows"
        " WHERE user_id = :user_id ORDER BY subject"
    ),
    "notice-ways": text(
        "SELECT channel_key, created_at FROM core.notice_ways WHERE user_id = :user_id ORDER BY channel_key"
    ),
    "quiet-hours": text("SELECT begins, ends, zone FROM core.quiet_hours WHERE user_id = :user_id"),
    # What was told by it is in the inbox, in the words that this person may read.
    "notice-sends": text("""
        SELECT notice_id, channel_key, step, state, reason, maybe_twice, created_at, finished_at
        FROM core.notice_sends WHERE user_id = :user_id ORDER BY id
    """),
    # In the words that this person may read: an export tells no score either that they do not want to know yet.
    "inbox": select(
        *(SHOWN.c[name] for name in ("heading", "title", "detail", "path", "state", "occurred_at", "because")),
        InboxRow.arrived_at,
        InboxRow.read_at,
    )
    .join(InboxRow, (InboxRow.user_id == SHOWN.c.user_id) & (InboxRow.notice_id == SHOWN.c.notice_id))
    .where(SHOWN.c.user_id == bindparam("user_id"))
    .order_by(SHOWN.c.notice_id),
}


async def export(resources: Resources, user_id: int) -> Mapping[str, Sequence[Mapping[str, Any]]]:
    async with resources.database.unit_of_work() as work:
        return {
            name: [row._asdict() for row in await work.session.execute(statement, {"user_id": user_id})]
            for name, statement in EXPORTS.items()
        }


async def erase(_: Resources, __: int) -> Collection[str]:
    return ()


PERSONAL_DATA = PersonalData(export, erase)
