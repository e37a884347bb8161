"""What digests keep of a person."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from sqlalchemy import delete, text

from pressbox.core.app import PersonalData, Resources
from pressbox.core.digests import DigestSection
from pressbox.core.notices.rows import NoticeRow
from pressbox.digest.service import DigestDesk
from pressbox.digest.store import DigestStore

_CHOICE = text("""
    SELECT rhythm, weekday, local_time, zone, due_at, covered_until FROM core.digests WHERE user_id = :user_id
""")


async def export(resources: Resources, user_id: int) -> Mapping[str, Sequence[Mapping[str, Any]]]:
    """The choice, and the lines of what was sent as this person may read them now."""
    async with resources.database.unit_of_work() as work:
        choice = [row._asdict() for row in await work.session.execute(_CHOICE, {"user_id": user_id})]
    desk, lines = DigestDesk(resources), []
    for issue in await DigestStore(resources.database).list_issues(user_id):
        for section in await desk.show(user_id, issue.sections):
            lines += [{"period": issue.period, **line} for line in _lines(section)]
    return {"digest": choice, "digests-sent": lines}


def _lines(section: DigestSection) -> Sequence[Mapping[str, Any]]:
    shared = {"section": section.title}
    return [
        {**shared, "title": line.title, "detail": line.detail, "why": line.why, "path": line.path}
        for line in section.lines
    ]


async def erase(resources: Resources, user_id: int) -> Collection[str]:
    """The notices of digests were for this person alone; what was sent goes with them."""
    async with resources.database.unit_of_work() as work:
        own = NoticeRow.key.startswith(f"digest.{user_id}.", autoescape=True)
        await work.session.execute(delete(NoticeRow).where(own))
    return ()


PERSONAL_DATA = PersonalData(export, erase)
