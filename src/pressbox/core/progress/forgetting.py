"""Removes what was reported of work for somebody whose account ends."""

from sqlalchemy import delete

from pressbox.core.audiences.contracts import PERSON_KIND
from pressbox.core.db.database import UnitOfWork
from pressbox.core.progress.rows import WORKFLOW_CHANGED, ProgressRow


async def forget_person(work: UnitOfWork, user_id: int) -> None:
    theirs = delete(ProgressRow).where(ProgressRow.audience == PERSON_KIND, ProgressRow.audience_id == user_id)
    for workflow_id in await work.session.scalars(theirs.returning(ProgressRow.workflow_id)):
        work.changed(WORKFLOW_CHANGED, workflow_id)
