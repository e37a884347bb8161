"""The counts of the top line."""

from pressbox.core.audiences.members import Viewer
from pressbox.core.contracts import Contract
from pressbox.core.db.database import Database
from pressbox.core.notices.reader import count_unread
from pressbox.core.progress import reader


class TopLine(Contract):
    """What is planned does not run, what failed in part has failed, and unread are notices in the person's inbox."""

    running: int
    failed: int
    unread: int


async def load_top_line(database: Database, viewer: Viewer) -> TopLine:
    work = await reader.summary(database, viewer)
    async with database.unit_of_work() as reading:
        unread = await count_unread(reading.session, viewer.user_id)
    return TopLine(running=work.running, failed=work.failed, unread=unread)
