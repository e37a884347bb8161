"""Activities that end a download: record what became of its candidates, tell the upload, and delete scratch files."""

from collections.abc import Sequence

from temporalio import activity

from pressbox.core.clock import Clock, utc_now
from pressbox.core.errors import PressboxError
from pressbox.core.objects.store import ObjectStore
from pressbox.core.temporal.calls import call_with
from pressbox.footy.activities.files import remove_scratch
from pressbox.footy.activities.limits import limits
from pressbox.footy.contracts.download import (
    Batch,
    CompletionResult,
    QueueVideosInput,
    ScratchInput,
    SettledCandidate,
    SettleInput,
)
from pressbox.footy.contracts.search import GoalReference
from pressbox.footy.domain.candidates import CandidateOutcome
from pressbox.footy.ports.storage import Candidates, Goals
from pressbox.footy.ports.workflows import Workflows


class HandOverActivities:
    def __init__(
        self,
        goals: Goals,
        candidates: Candidates,
        objects: ObjectStore,
        workflows: Workflows,
        now: Clock = utc_now,
    ) -> None:
        self._goals = goals
        self._candidates = candidates
        self._objects = objects
        self._workflows = workflows
        self._now = now

    @activity.defn
    @call_with(limits(30, attempts=2))
    async def cleanup_download_temp(self, input: ScratchInput) -> None:
        await remove_scratch(self._objects, input.fixture_id, input.event_id, input.candidate_ids)

    @activity.defn
    @call_with(limits(30, attempts=3))
    async def settle_candidates(self, input: SettleInput) -> None:
        await self._candidates.settle(input.candidates, self._now())

    @activity.defn
    @call_with(limits(60, attempts=3))
    async def queue_videos_for_upload(self, input: QueueVideosInput) -> None:
        """Finish the register row, then signal: the upload's completion check must find this download finished."""
        now, goal = self._now(), input.goal
        ready = [
            SettledCandidate(candidate_id=video.candidate_id, outcome=CandidateOutcome.READY) for video in input.videos
        ]
        await self._candidates.settle(ready, now)
        await self._goals.finish_download(goal.event_id, input.workflow_id, input.outcome, now)
        label = f"{goal.player_slug.replace('-', ' ')}’s goal ({goal.minute_label}′)"
        batch = Batch(batch_id=input.workflow_id, videos=input.videos, label=label)
        await self._workflows.add_videos(goal.fixture_id, goal.event_id, batch, input.policy)

    @activity.defn
    @call_with(limits(30, attempts=3))
    async def check_and_mark_download_complete(self, input: GoalReference) -> CompletionResult:
        return await self._goals.complete_if_ready(input.event_id, input.policy, self._now())

    async def hand_over(self, input: QueueVideosInput, candidate_ids: Sequence[int]) -> None:
        """End a download from inside another activity. An upload without videos does not check for completion."""
        goal = input.goal
        await self.queue_videos_for_upload(input)
        if not input.videos:
            await self._goals.complete_if_ready(goal.event_id, input.policy, self._now())
        kept = {video.candidate_id for video in input.videos}
        unused = [number for number in candidate_ids if number not in kept]
        try:
            await remove_scratch(self._objects, goal.fixture_id, goal.event_id, unused)
        except PressboxError as error:
            # Maintenance deletes old scratch files later.
            activity.logger.warning("Scratch files could not be deleted: %s", error)
