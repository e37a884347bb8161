"""What events keep of a person: everything to take along, and the end of all of it."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from sqlalchemy import text

from pressbox.core.app import PersonalData, Resources
from pressbox.core.notices.follows import forget_subject
from pressbox.soonish.domain.notice_kinds import organiser_subject
from pressbox.soonish.domain.views import Holder
from pressbox.soonish.wiring import service

EXPORTS = {
    "events": """
        SELECT name, description, start_date, end_date, location, timezone, visibility, status, created_at
        FROM soonish.events WHERE organiser_id = :user_id ORDER BY id
    """,
    "announcements": """
        SELECT events.name AS event, notifications.title, notifications.body, notifications.level,
               notifications.created_at
        FROM soonish.notifications JOIN soonish.events ON events.id = notifications.event_id
        WHERE events.organiser_id = :user_id ORDER BY notifications.id
    """,
    # The address of a channel is a credential and is not shown again to anybody.
    "channels": "SELECT name, kind, tags, is_active, created_at FROM soonish.channels WHERE user_id = :user_id",
    "subscriptions": """
        SELECT events.name AS event, events.start_date, subscriptions.state, subscriptions.created_at,
               array(SELECT offset_seconds FROM soonish.reminder_offsets
                     WHERE subscription_id = subscriptions.id) AS reminders_seconds_before
        FROM soonish.subscriptions JOIN soonish.events ON events.id = subscriptions.event_id
        WHERE subscriptions.user_id = :user_id ORDER BY subscriptions.id
    """,
    "calendar": "SELECT created_at FROM soonish.calendar_links WHERE user_id = :user_id",
}


async def export(resources: Resources, user_id: int) -> Mapping[str, Sequence[Mapping[str, Any]]]:
    async with resources.database.unit_of_work() as work:
        return {
            name: [row._asdict() for row in await work.session.execute(text(statement), {"user_id": user_id})]
            for name, statement in EXPORTS.items()
        }


async def erase(resources: Resources, user_id: int) -> Collection[str]:
    """Cancel what they organise, so that subscribers hear of it, leave what they follow, and be followed no longer."""
    soonish = service(resources)
    organised = await soonish.events.list_organised(user_id)
    for event in organised:
        await soonish.events.delete(user_id, event.slug)
    for subscription in await soonish.subscriptions.list(user_id):
        await soonish.subscriptions.leave(Holder(subscription.id, user_id))
    async with resources.database.unit_of_work() as work:
        await forget_subject(work.session, organiser_subject(user_id))
    return await _find_unfinished(resources, user_id)


async def _find_unfinished(resources: Resources, user_id: int) -> Collection[str]:
    """Cancellations are still being sent, and workflows still remove reminders of those who left."""
    tables = {"soonish.events": "organiser_id", "soonish.subscriptions": "user_id"}
    async with resources.database.unit_of_work() as work:
        found = [
            await work.session.scalar(
                text(f"SELECT EXISTS (SELECT FROM {table} WHERE {column} = :user_id)"),  # noqa: S608
                {"user_id": user_id},
            )
            for table, column in tables.items()
        ]
    return tuple(tables) if any(found) else ()


PERSONAL_DATA = PersonalData(export, erase)
