"""Activities of UploadWorkflow that change the database and scratch files; each can be repeated."""

from temporalio import activity

from pressbox.core.clock import Clock, utc_now
from pressbox.core.errors import NotFoundError
from pressbox.core.objects.store import ObjectStore
from pressbox.core.temporal.calls import call_with
from pressbox.footy.activities.files import load_fingerprint, remove_scratch
from pressbox.footy.activities.limits import limits
from pressbox.footy.contracts.download import ScratchInput, Video
from pressbox.footy.contracts.monitor import FixtureReferences
from pressbox.footy.contracts.search import GoalReference
from pressbox.footy.contracts.upload import (
    BumpPopularityInput,
    Duplicate,
    GoalData,
    Md5Input,
    Md5Result,
    SavedClips,
    SaveVideosInput,
    UpdateInPlaceInput,
)
from pressbox.footy.ids import scratch_candidate, scratch_prefix
from pressbox.footy.ports.storage import Candidates, Clips


class UploadActivities:
    def __init__(self, clips: Clips, candidates: Candidates, objects: ObjectStore, now: Clock = utc_now) -> None:
        self._clips = clips
        self._candidates = candidates
        self._objects = objects
        self._now = now

    @activity.defn
    @call_with(limits(30, attempts=3))
    async def fetch_event_data(self, input: Md5Input) -> GoalData:
        return await self._clips.load_goal_data(input.event_id, [video.candidate_id for video in input.videos])

    @activity.defn
    @call_with(limits(30, attempts=2))
    async def deduplicate_by_md5(self, input: Md5Input) -> Md5Result:
        """Separate files that we already have, shown or not: they need no comparison."""
        known = {copy.video.md5: copy.clip_id for copy in await self._clips.load_copies(input.event_id)}
        return Md5Result(
            videos=tuple(video for video in input.videos if video.md5 not in known),
            duplicates=tuple(
                Duplicate(video=video, clip_id=known[video.md5]) for video in input.videos if video.md5 in known
            ),
        )

    @activity.defn
    @call_with(limits(30, attempts=3))
    async def save_video_objects(self, input: SaveVideosInput) -> SavedClips:
        saved = []
        for uploaded in input.uploaded:
            fingerprint = await load_fingerprint(self._objects, uploaded.video)
            saved.append(await self._clips.add(input.event_id, uploaded, fingerprint, self._now()))
        return SavedClips(clip_ids=tuple(saved))

    @activity.defn
    @call_with(limits(30, attempts=3))
    async def update_video_in_place(self, input: UpdateInPlaceInput) -> None:
        """Switch the row first, then delete the files that nobody is shown any more."""
        unused = list(await self._clips.merge(input.clip_id, input.merged, self._now())) if input.merged else []
        if input.uploaded is not None:
            fingerprint = await self._load_known_fingerprint(input.event_id, input.uploaded.video)
            unused += await self._clips.replace(input.clip_id, input.uploaded, fingerprint, self._now())
        used = {input.uploaded.object_key, input.uploaded.poster_key} if input.uploaded else set()
        for key in unused:
            if key not in used:
                await self._objects.delete(key)

    @activity.defn
    @call_with(limits(15, attempts=2))
    async def bump_video_popularity(self, input: BumpPopularityInput) -> None:
        for duplicate in input.duplicates:
            fingerprint = await self._load_known_fingerprint(input.event_id, duplicate.video)
            await self._clips.add_copy(
                duplicate.clip_id, duplicate.video, fingerprint, self._now(), reason=duplicate.reason
            )

    @activity.defn
    @call_with(limits(30, attempts=2))
    async def recalculate_video_ranks(self, input: GoalReference) -> None:
        await self._clips.rank(input.event_id)

    @activity.defn
    @call_with(limits(30, attempts=2))
    async def cleanup_individual_files(self, input: ScratchInput) -> None:
        await remove_scratch(self._objects, input.fixture_id, input.event_id, input.candidate_ids)

    @activity.defn
    @call_with(limits(30, attempts=2))
    async def cleanup_upload_temp(self, input: ScratchInput) -> None:
        await remove_scratch(self._objects, input.fixture_id, input.event_id, input.candidate_ids)

    @activity.defn
    @call_with(limits(60, attempts=2))
    async def cleanup_fixture_temp_dirs(self, input: FixtureReferences) -> None:
        """Keep the files of open candidates: their batch may still wait for its upload."""
        for fixture_id in input.fixture_ids:
            keys = [item.key async for item in self._objects.list(scratch_prefix(fixture_id))]
            for key in keys:
                if await self._is_settled(scratch_candidate(key)):
                    await self._objects.delete(key)

    async def _is_settled(self, candidate_id: int | None) -> bool:
        if candidate_id is None:
            return True
        try:
            return (await self._candidates.load(candidate_id)).final
        except NotFoundError:
            return True

    async def _load_known_fingerprint(self, event_id: str, video: Video) -> bytes | None:
        """Read it from scratch storage, or from the database when the scratch file of an older copy is gone."""
        try:
            return await load_fingerprint(self._objects, video)
        except NotFoundError:
            copies = await self._clips.load_copies(event_id)
            return next((copy.fingerprint for copy in copies if copy.video.candidate_id == video.candidate_id), None)
