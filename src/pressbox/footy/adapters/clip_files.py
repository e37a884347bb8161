"""The files behind the share links of clips, from PostgreSQL."""

from sqlalchemy import or_, select
from sqlalchemy.orm import defer

from pressbox.core.db.database import Database
from pressbox.core.errors import GoneError, NotFoundError
from pressbox.core.spoilers.choice import Sight
from pressbox.footy.adapters.goal_reader import DISALLOWED
from pressbox.footy.adapters.rows import ClipRow, GoalRow
from pressbox.footy.domain.errors import CoveredError
from pressbox.footy.domain.subjects import fixture_subject
from pressbox.footy.domain.views import ClipFileView


class ClipFiles:
    def __init__(self, database: Database, sight: Sight) -> None:
        self._database = database
        self._sight = sight

    async def find(self, share_id: str) -> ClipFileView:
        """Find the current best copy of a scene, also by the link of a clip that was merged into it.

        Raises GoneError when the goal was disallowed, and CoveredError for who may not know of it yet: pictures and
        films show the score.
        """
        named = or_(ClipRow.share_id == share_id, ClipRow.former_share_ids.contains([share_id]))
        statement = (
            select(ClipRow, GoalRow.fixture_id, GoalRow.removed_at)
            .join(GoalRow, GoalRow.event_id == ClipRow.event_id)
            .where(named)
            .options(defer(ClipRow.perceptual_hash))
        )
        async with self._database.unit_of_work() as work:
            found = (await work.session.execute(statement)).tuples().first()
        if found is None:
            raise NotFoundError("There is no such clip, or it is no longer kept.")
        row, fixture_id, removed_at = found
        until = self._sight.known_until(fixture_subject(fixture_id))
        if row.created_at > until:
            raise CoveredError(fixture_id)
        if removed_at is not None and removed_at <= until:
            raise GoneError(DISALLOWED, event_id=row.event_id)
        return ClipFileView(
            share_id=row.share_id,
            event_id=row.event_id,
            fixture_id=fixture_id,
            object_key=row.object_key,
            poster_key=row.poster_key,
            file_size=row.file_size,
            etag=row.md5,
            updated_at=row.updated_at,
        )
