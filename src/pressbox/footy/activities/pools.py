"""One pool of an upload, verified or unverified: compares copies and stores scenes."""

import asyncio
from collections.abc import Sequence

from temporalio.exceptions import ActivityError, is_cancelled_exception

from pressbox.core.errors import PermanentError
from pressbox.core.temporal.calls import failure_reason
from pressbox.footy.activities.handing_over import HandOverActivities
from pressbox.footy.activities.limits import ROUNDS_PER_FILE
from pressbox.footy.activities.scenes import SceneActivities
from pressbox.footy.activities.steps import Take
from pressbox.footy.activities.upload import UploadActivities
from pressbox.footy.contracts.download import Batch, SettledCandidate, SettleInput, Video
from pressbox.footy.contracts.search import GoalReference
from pressbox.footy.contracts.upload import (
    BumpPopularityInput,
    DeduplicateInput,
    Duplicate,
    ReplaceVideoInput,
    SaveVideosInput,
    SceneChange,
    UpdateInPlaceInput,
    UploadedVideo,
    UploadVideoInput,
)
from pressbox.footy.domain.candidates import CandidateOutcome


class Pool:
    """`kept` are candidates whose scratch files may still be needed."""

    def __init__(self, goal: GoalReference, take: Take, *, verified: bool) -> None:
        self._goal = goal
        self._take = take
        self.verified = verified
        self.kept: set[int] = set()
        self.stored = self.replaced = self.duplicates = 0
        self._unusable: set[int] = set()

    async def add(self, videos: Sequence[Video], batch: Batch) -> None:
        """Add videos to the scenes of this pool. If a best copy cannot be stored, its scene is compared without it."""
        rearrange = batch.rearrange
        while videos or rearrange:
            compare = DeduplicateInput(
                event_id=self._goal.event_id,
                videos=tuple(videos),
                verified=self.verified,
                rearrange=rearrange,
                unusable=tuple(sorted(self._unusable)),
                policy=self._goal.policy,
            )
            plan = await self._take(SceneActivities.deduplicate_videos, compare)
            placed = await asyncio.gather(*(self._place(scene) for scene in plan.scenes))
            unplaced = [scene for scene, done in zip(plan.scenes, placed, strict=True) if not done]
            videos = [video for scene in unplaced for video in scene.others]
            rearrange = any(scene.merged for scene in unplaced)

    async def _place(self, scene: SceneChange) -> bool:
        """Store a scene; False when its best copy cannot be stored."""
        self.kept.update(scene.kept)
        clip_id, uploaded = scene.clip_id, None
        if scene.best is not None:
            uploaded = await self._store(scene.best, clip_id)
            if uploaded is None:
                return False
        if clip_id is None:
            if uploaded is None:
                return True
            save = SaveVideosInput(event_id=self._goal.event_id, uploaded=(uploaded,))
            clip_id = (await self._take(UploadActivities.save_video_objects, save)).clip_ids[0]
            self.stored += 1
        elif uploaded is not None or scene.merged:
            update = UpdateInPlaceInput(
                event_id=self._goal.event_id, clip_id=clip_id, uploaded=uploaded, merged=scene.merged
            )
            await self._take(UploadActivities.update_video_in_place, update)
            self.replaced += uploaded is not None
        if scene.others:
            known = tuple(
                Duplicate(video=video, clip_id=clip_id, reason=scene.reasons.get(video.candidate_id, ""))
                for video in scene.others
            )
            bump = BumpPopularityInput(event_id=self._goal.event_id, duplicates=known)
            await self._take(UploadActivities.bump_video_popularity, bump)
            self.duplicates += len(known)
        return True

    async def _store(self, video: Video, clip_id: int | None) -> UploadedVideo | None:
        event_id, fixture_id = self._goal.event_id, self._goal.fixture_id
        try:
            if clip_id is None:
                new = UploadVideoInput(fixture_id=fixture_id, event_id=event_id, video=video)
                return await self._take(SceneActivities.upload_single_video, new, rounds=ROUNDS_PER_FILE)
            better = ReplaceVideoInput(fixture_id=fixture_id, event_id=event_id, clip_id=clip_id, video=video)
            return await self._take(SceneActivities.replace_s3_video, better, rounds=ROUNDS_PER_FILE)
        except (ActivityError, PermanentError) as error:
            if is_cancelled_exception(error):
                raise
            self._unusable.add(video.candidate_id)
            self.kept.discard(video.candidate_id)
            # Has no effect on an older copy, whose outcome is final.
            failed = SettledCandidate(
                candidate_id=video.candidate_id, outcome=CandidateOutcome.NOT_A_VIDEO, reason=failure_reason(error)
            )
            await self._take(HandOverActivities.settle_candidates, SettleInput(event_id=event_id, candidates=(failed,)))
            return None
