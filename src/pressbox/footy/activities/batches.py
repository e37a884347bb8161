"""Adds one batch of downloaded videos to the clips of its goal."""

import asyncio
from collections.abc import Awaitable, Callable

from temporalio import activity
from temporalio.exceptions import ActivityError, is_cancelled_exception

from pressbox.core.errors import PressboxError
from pressbox.core.temporal.calls import call_with
from pressbox.core.temporal.heartbeat import Heartbeat
from pressbox.footy.activities.handing_over import HandOverActivities
from pressbox.footy.activities.limits import HOUR, limits
from pressbox.footy.activities.pools import Pool
from pressbox.footy.activities.scenes import SceneActivities
from pressbox.footy.activities.steps import StepsAtOnce, Take
from pressbox.footy.activities.upload import UploadActivities
from pressbox.footy.contracts.download import Batch, ScratchInput, SettledCandidate, SettleInput, Video
from pressbox.footy.contracts.search import GoalReference
from pressbox.footy.contracts.upload import BumpPopularityInput, Md5Input, StoreBatchInput, StoredBatch
from pressbox.footy.domain.candidates import CandidateOutcome
from pressbox.footy.ids import media_queue

Cleaning = Callable[[UploadActivities, ScratchInput], Awaitable[None]]


class BatchSteps:
    """What is done with one batch, step by step; `take` says how a step is taken."""

    def __init__(self, goal: GoalReference, take: Take) -> None:
        self._goal = goal
        self._take = take

    async def add(self, batch: Batch) -> StoredBatch:
        if not batch.videos and not batch.rearrange:
            return StoredBatch()
        event_id = self._goal.event_id
        goal = await self._take(UploadActivities.fetch_event_data, Md5Input(event_id=event_id, videos=batch.videos))
        videos = tuple(video for video in batch.videos if video.candidate_id not in goal.done)
        files = {video.candidate_id for video in batch.videos}
        if not goal.exists:
            await self.settle(videos, CandidateOutcome.GOAL_GONE, "removed before it was stored")
            await self.clean(UploadActivities.cleanup_individual_files, files)
            return StoredBatch()
        same = await self._take(UploadActivities.deduplicate_by_md5, Md5Input(event_id=event_id, videos=videos))
        if same.duplicates:
            known = BumpPopularityInput(event_id=event_id, duplicates=same.duplicates)
            await self._take(UploadActivities.bump_video_popularity, known)
        pools = [Pool(self._goal, self._take, verified=verified) for verified in (True, False)]
        await asyncio.gather(
            *(
                pool.add([video for video in same.videos if video.timestamp_verified is pool.verified], batch)
                for pool in pools
            )
        )
        await self._take(UploadActivities.recalculate_video_ranks, self._goal)
        kept = {key for pool in pools for key in pool.kept}
        await self.clean(UploadActivities.cleanup_individual_files, files - kept)
        return StoredBatch(
            stored=sum(pool.stored for pool in pools),
            replaced=sum(pool.replaced for pool in pools),
            duplicates=len(same.duplicates) + sum(pool.duplicates for pool in pools),
        )

    async def settle(self, videos: tuple[Video, ...], outcome: CandidateOutcome, reason: str) -> None:
        if videos:
            settled = tuple(
                SettledCandidate(candidate_id=video.candidate_id, outcome=outcome, reason=reason) for video in videos
            )
            settle = SettleInput(event_id=self._goal.event_id, candidates=settled)
            await self._take(HandOverActivities.settle_candidates, settle)

    async def clean(self, method: Cleaning, candidate_ids: set[int]) -> None:
        if not candidate_ids:
            return
        scratch = ScratchInput(
            event_id=self._goal.event_id,
            fixture_id=self._goal.fixture_id,
            candidate_ids=tuple(sorted(candidate_ids)),
        )
        try:
            await self._take(method, scratch, rounds=1)
        except (ActivityError, PressboxError) as error:
            # Otherwise it does not matter: maintenance deletes old scratch files later.
            if is_cancelled_exception(error):
                raise


class BatchActivities:
    """The activity on the queue `footy-media` that takes all steps of a batch at once."""

    def __init__(self, uploads: UploadActivities, scenes: SceneActivities, ending: HandOverActivities) -> None:
        self._take = StepsAtOnce(uploads, scenes, ending)
        self._ending = ending

    @activity.defn
    @call_with(limits(HOUR, attempts=3, heartbeat=30), queue=media_queue)
    async def store_batch(self, input: StoreBatchInput) -> StoredBatch:
        async with Heartbeat():
            stored = await BatchSteps(input.goal, self._take).add(input.batch)
            await self._ending.check_and_mark_download_complete(input.goal)
        return stored
