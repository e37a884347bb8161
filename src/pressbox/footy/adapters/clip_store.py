"""Stored clips in PostgreSQL. Popularity is counted from the candidates that point to a clip."""

import secrets
from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import delete, func, select, text, update
from sqlalchemy.ext.asyncio import AsyncSession

from pressbox.core.db.arrays import one_of, one_of_texts
from pressbox.core.db.database import Database, UnitOfWork
from pressbox.core.errors import NotFoundError
from pressbox.footy.adapters.candidate_store import OPEN
from pressbox.footy.adapters.changes import publish_goal
from pressbox.footy.adapters.goal_notices import tell_of_goals
from pressbox.footy.adapters.rows import ClipCandidateRow, ClipRow, GoalRow
from pressbox.footy.contracts.download import SettledCandidate, Video
from pressbox.footy.contracts.upload import GoalData, UploadedVideo
from pressbox.footy.domain.candidates import CandidateOutcome
from pressbox.footy.domain.clock import TimestampStatus
from pressbox.footy.ports.storage import StoredCopy, UncheckedClip

# 72 random bits: nobody can guess a link.
_SHARE_BYTES = 9

_RANK = text("""
    UPDATE footy.clips AS clip
    SET popularity = placed.popularity, rank = placed.rank
    FROM (
        SELECT id, popularity,
            row_number() OVER (ORDER BY timestamp_verified DESC, popularity DESC, file_size DESC, id) AS rank
        FROM (
            SELECT clips.id, clips.timestamp_verified, clips.file_size,
                greatest(1, (SELECT count(*) FROM footy.clip_candidates WHERE clip_id = clips.id)) AS popularity
            FROM footy.clips WHERE clips.event_id = :event_id
        ) AS counted
    ) AS placed
    WHERE clip.id = placed.id AND (clip.popularity, clip.rank) IS DISTINCT FROM (placed.popularity, placed.rank)
    RETURNING clip.id
""")


class SqlClips:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def load_goal_data(self, event_id: str, candidate_ids: Sequence[int]) -> GoalData:
        clips = select(func.count()).select_from(ClipRow).where(ClipRow.event_id == event_id)
        done = select(ClipCandidateRow.id).where(
            ClipCandidateRow.id == one_of(candidate_ids), ClipCandidateRow.outcome.not_in(OPEN)
        )
        goal = select(GoalRow.event_id).where(GoalRow.event_id == event_id, GoalRow.removed_at.is_(None))
        async with self._database.unit_of_work() as work:
            exists = await work.session.scalar(goal) is not None
            count = await work.session.scalar(clips) or 0
            return GoalData(
                exists=exists,
                clips=count,
                done=tuple(await work.session.scalars(done.order_by(ClipCandidateRow.id))),
            )

    async def load_copies(self, event_id: str, verified: bool | None = None) -> Sequence[StoredCopy]:
        candidate = ClipCandidateRow
        statement = (
            select(ClipRow.id, ClipRow.candidate_id == candidate.id, candidate.video, candidate.fingerprint)
            .join(candidate, candidate.clip_id == ClipRow.id)
            .where(ClipRow.event_id == event_id, candidate.video.is_not(None))
            .order_by(ClipRow.id, candidate.id)
        )
        if verified is not None:
            statement = statement.where(ClipRow.timestamp_verified.is_(verified))
        async with self._database.unit_of_work() as work:
            found = (await work.session.execute(statement)).tuples().all()
        return [
            StoredCopy(clip_id, bool(shown), Video.model_validate(video), fingerprint)
            for clip_id, shown, video, fingerprint in found
        ]

    async def merge(self, clip_id: int, others: Sequence[int], now: datetime) -> Sequence[str]:
        async with self._database.unit_of_work() as work:
            kept, gone = await _lock_for_merge(work.session, clip_id, others)
            if not gone:
                return []
            numbers = one_of([row.id for row in gone])
            await work.session.execute(
                update(ClipCandidateRow).where(ClipCandidateRow.clip_id == numbers).values(clip_id=clip_id)
            )
            links = [link for row in gone for link in (row.share_id, *row.former_share_ids)]
            keys = [key for row in gone for key in (row.object_key, row.poster_key)]
            await work.session.execute(delete(ClipRow).where(ClipRow.id == numbers))
            kept.former_share_ids = sorted({*kept.former_share_ids, *links} - {kept.share_id})
            kept.updated_at = now
            await _rank_and_publish(work, kept.event_id, now)
            return await _find_unused(work.session, keys)

    async def add(self, event_id: str, uploaded: UploadedVideo, fingerprint: bytes | None, now: datetime) -> int:
        async with self._database.unit_of_work() as work:
            candidate = await work.session.get(ClipCandidateRow, uploaded.video.candidate_id, with_for_update=True)
            if candidate is None or candidate.event_id != event_id:
                raise NotFoundError("This candidate no longer exists.", candidate_id=uploaded.video.candidate_id)
            if candidate.clip_id is not None:
                # It was added before; a better copy may have taken the slot since.
                return candidate.clip_id
            row = ClipRow(
                share_id=secrets.token_urlsafe(_SHARE_BYTES), event_id=event_id, created_at=now, former_share_ids=[]
            )
            _fill_row(row, uploaded, fingerprint, candidate.tweet_url or candidate.video_page_url, now)
            work.session.add(row)
            await work.session.flush()
            await _link_candidates(work.session, row.id, uploaded.video, fingerprint, CandidateOutcome.STORED, now)
            await _rank_and_publish(work, event_id, now)
            return row.id

    async def replace(
        self, clip_id: int, uploaded: UploadedVideo, fingerprint: bytes | None, now: datetime
    ) -> Sequence[str]:
        async with self._database.unit_of_work() as work:
            row = await _lock_clip(work.session, clip_id)
            candidate = await work.session.get(ClipCandidateRow, uploaded.video.candidate_id)
            before = [row.object_key, row.poster_key]
            if row.candidate_id == uploaded.video.candidate_id and row.object_key == uploaded.object_key:
                return []
            source = row.source_url if candidate is None else candidate.tweet_url or candidate.video_page_url
            _fill_row(row, uploaded, fingerprint, source, now)
            row.replacements += 1
            await work.session.flush()
            await _link_candidates(work.session, clip_id, uploaded.video, fingerprint, CandidateOutcome.REPLACED, now)
            await _rank_and_publish(work, row.event_id, now)
            return await _find_unused(work.session, before)

    async def add_copy(
        self, clip_id: int, video: Video, fingerprint: bytes | None, now: datetime, *, reason: str = ""
    ) -> None:
        async with self._database.unit_of_work() as work:
            row = await _lock_clip(work.session, clip_id)
            await _link_candidates(work.session, clip_id, video, fingerprint, CandidateOutcome.DUPLICATE, now, reason)
            await _rank_and_publish(work, row.event_id, now)

    async def rank(self, event_id: str) -> None:
        async with self._database.unit_of_work() as work:
            if (await work.session.scalars(_RANK, {"event_id": event_id})).all():
                await _publish(work, event_id)

    async def find_unchecked(self, limit: int) -> Sequence[UncheckedClip]:
        statement = (
            select(ClipRow.id, ClipRow.event_id, ClipRow.object_key)
            .join(GoalRow, GoalRow.event_id == ClipRow.event_id)
            .where(ClipRow.timestamp_status == TimestampStatus.NOT_CHECKED, GoalRow.removed_at.is_(None))
            # In no order: those that the judge refuses each time must not keep the others waiting for ever.
            .order_by(func.random())
            .limit(limit)
        )
        async with self._database.unit_of_work() as work:
            return [UncheckedClip(*row) for row in (await work.session.execute(statement)).tuples()]

    async def record_check(self, clip_id: int, video: Video | None, settled: SettledCandidate | None) -> None:
        async with self._database.unit_of_work() as work:
            row = await work.session.get(ClipRow, clip_id, with_for_update=True)
            if row is None:
                return
            now = (await work.session.execute(select(func.now()))).scalar_one()
            if video is not None:
                row.timestamp_verified = video.timestamp_verified
                row.extracted_minute = video.extracted_minute
                row.timestamp_status = video.timestamp_status
                row.updated_at = now
                await _store_verdict(work.session, clip_id, video)
            elif settled is not None:
                await _drop_clip(work.session, row, settled, now)
            await work.session.flush()
            await _rank_and_publish(work, row.event_id, now)

    async def list_objects(self, fixture_ids: Sequence[int], event_ids: Sequence[str]) -> Sequence[str]:
        of_goals = ClipRow.event_id == one_of_texts(event_ids)
        of_fixtures = GoalRow.fixture_id == one_of(fixture_ids)
        statement = (
            select(ClipRow.object_key, ClipRow.poster_key)
            .join(GoalRow, GoalRow.event_id == ClipRow.event_id)
            .where(of_goals | of_fixtures)
            .order_by(ClipRow.id)
        )
        async with self._database.unit_of_work() as work:
            found = (await work.session.execute(statement)).tuples()
            return list(dict.fromkeys(key for pair in found for key in pair))


def _fill_row(row: ClipRow, uploaded: UploadedVideo, fingerprint: bytes | None, source_url: str, now: datetime) -> None:
    # Here, because numpy is much for a worker that may never see a clip.
    from pressbox.footy.domain.fingerprints import split_film

    video = uploaded.video
    row.candidate_id = video.candidate_id
    row.object_key, row.poster_key = uploaded.object_key, uploaded.poster_key
    row.md5 = video.md5
    # People are told about the file that they get, which is not always the one that was found.
    shown = uploaded.shown or video
    row.width, row.height, row.bitrate = shown.width, shown.height, shown.bitrate
    row.file_size, row.duration = shown.file_size, shown.duration_seconds
    # The film stays with the candidate, where all copies are compared.
    row.perceptual_hash = None if fingerprint is None else split_film(fingerprint)[0]
    row.timestamp_verified = video.timestamp_verified
    row.extracted_minute, row.timestamp_status = video.extracted_minute, video.timestamp_status
    row.source_url = source_url
    row.updated_at = now


async def _link_candidates(
    session: AsyncSession,
    clip_id: int,
    video: Video,
    fingerprint: bytes | None,
    outcome: CandidateOutcome,
    now: datetime,
    reason: str = "",
) -> None:
    """Link the candidate, and the equal files merged into it, to the clip; final outcomes stay."""
    ids = [video.candidate_id, *video.merged_ids]
    candidate = ClipCandidateRow
    await session.execute(update(candidate).where(candidate.id == one_of(ids)).values(clip_id=clip_id))
    await session.execute(
        update(candidate)
        .where(candidate.id == video.candidate_id)
        .values(video=video.model_dump(mode="json"), fingerprint=fingerprint)
    )
    for number, became, why in (
        (video.candidate_id, outcome, reason),
        *((merged, CandidateOutcome.SAME_FILE, "") for merged in ids[1:]),
    ):
        await session.execute(
            update(candidate)
            .where(candidate.id == number, candidate.outcome.in_(OPEN))
            .values(outcome=became, settled_at=now, **({"reason": why} if why else {}))
        )


async def _lock_clip(session: AsyncSession, clip_id: int) -> ClipRow:
    row = await session.get(ClipRow, clip_id, with_for_update=True)
    if row is None:
        raise NotFoundError("This clip no longer exists.", clip_id=clip_id)
    return row


async def _lock_for_merge(session: AsyncSession, clip_id: int, others: Sequence[int]) -> tuple[ClipRow, list[ClipRow]]:
    numbers = one_of([clip_id, *others])
    rows = list(await session.scalars(select(ClipRow).where(ClipRow.id == numbers).order_by("id").with_for_update()))
    kept = next((row for row in rows if row.id == clip_id), None)
    if kept is None:
        raise NotFoundError("This clip no longer exists.", clip_id=clip_id)
    return kept, [row for row in rows if row.id != clip_id and row.event_id == kept.event_id]


async def _find_unused(session: AsyncSession, keys: Sequence[str]) -> Sequence[str]:
    """Find objects that no clip uses any more: equal files share a key."""
    await session.flush()
    statement = select(ClipRow.object_key, ClipRow.poster_key).where(
        (ClipRow.object_key == one_of_texts(keys)) | (ClipRow.poster_key == one_of_texts(keys))
    )
    used = {key for pair in (await session.execute(statement)).tuples() for key in pair}
    return [key for key in dict.fromkeys(keys) if key not in used]


async def _store_verdict(session: AsyncSession, clip_id: int, video: Video) -> None:
    """Keep the verdict with the stored video too: the copies of a scene are compared within their pool."""
    rows = await session.scalars(
        select(ClipCandidateRow).where(ClipCandidateRow.clip_id == clip_id, ClipCandidateRow.video.is_not(None))
    )
    for row in rows:
        if row.id == video.candidate_id:
            row.video = video.model_dump(mode="json")


async def _drop_clip(session: AsyncSession, row: ClipRow, settled: SettledCandidate, now: datetime) -> None:
    """Drop the clip with all its copies, which show the same scene."""
    await session.execute(
        update(ClipCandidateRow)
        .where((ClipCandidateRow.clip_id == row.id) | (ClipCandidateRow.id == settled.candidate_id))
        .values(clip_id=None, outcome=settled.outcome, reason=settled.reason, settled_at=now)
    )
    await session.delete(row)


async def _rank_and_publish(work: UnitOfWork, event_id: str, now: datetime) -> None:
    """Update the ranks and notify browsers with every change."""
    await work.session.flush()
    await work.session.execute(_RANK, {"event_id": event_id})
    await work.session.execute(
        update(GoalRow)
        .where(GoalRow.event_id == event_id)
        .values(last_activity=func.greatest(GoalRow.last_activity, now))
    )
    await _publish(work, event_id)


async def _publish(work: UnitOfWork, event_id: str) -> None:
    fixture_id = await work.session.scalar(select(GoalRow.fixture_id).where(GoalRow.event_id == event_id))
    publish_goal(work, event_id, fixture_id)
    await tell_of_goals(work, [event_id])
