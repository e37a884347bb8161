"""Activities of UpkeepWorkflow: try each clip source, and judge clips that are not checked yet."""

from collections.abc import Sequence
from datetime import timedelta

from temporalio import activity

from pressbox.core.clock import Clock, utc_now
from pressbox.core.errors import NotFoundError, PermanentError
from pressbox.core.objects.store import ObjectStore
from pressbox.core.temporal.calls import call_with
from pressbox.core.temporal.heartbeat import Heartbeat
from pressbox.footy.activities.clip_inspector import ClipInspector, Inspection, JudgeRefusesError, JudgeUnavailableError
from pressbox.footy.activities.files import local_copy
from pressbox.footy.activities.limits import HOUR, limits
from pressbox.footy.activities.search import SOURCE_TIME, keep_time, search_all
from pressbox.footy.contracts.download import Batch, SettledCandidate, Video
from pressbox.footy.contracts.ingest import RunReference
from pressbox.footy.contracts.search import SourceFailure
from pressbox.footy.contracts.upkeep import CanaryResult, RecheckResult
from pressbox.footy.domain.candidates import CandidateOutcome
from pressbox.footy.ids import fixture_of, media_queue, poster_key
from pressbox.footy.ports.outside import ClipSource, SearchRequest
from pressbox.footy.ports.storage import BudgetStore, Clips, Goals, SourceHealth, UncheckedClip
from pressbox.footy.ports.workflows import Workflows

RECHECKED_TOGETHER = 20
# Something that people always post about.
CANARY = SearchRequest(
    query="goal football",
    player_names=("goal",),
    team_aliases=("football",),
    max_results=5,
    max_age=timedelta(days=1),
)


class CanaryActivities:
    def __init__(
        self,
        sources: Sequence[ClipSource],
        health: SourceHealth,
        budget: BudgetStore | None = None,
        now: Clock = utc_now,
    ) -> None:
        self._sources = sources
        self._health = health
        self._budget = budget
        self._now = now

    @activity.defn
    @call_with(limits(90, attempts=2, heartbeat=20))
    async def run_canaries(self, input: RunReference) -> CanaryResult:
        async with Heartbeat():
            _, answers = await search_all(self._sources, CANARY, SOURCE_TIME)
        await self._health.record(answers, self._now())
        if self._budget is not None:
            await keep_time(self._budget, self._sources)
        failing = [SourceFailure(source=each.source, reason=each.failure) for each in answers if each.failure]
        return CanaryResult(working=len(answers) - len(failing), failing=tuple(failing))


class RecheckActivities:
    """Activities on the queue `footy-media`."""

    def __init__(
        self, goals: Goals, clips: Clips, objects: ObjectStore, inspector: ClipInspector, workflows: Workflows
    ) -> None:
        self._goals = goals
        self._clips = clips
        self._objects = objects
        self._inspector = inspector
        self._workflows = workflows

    @activity.defn
    @call_with(limits(HOUR, attempts=2, heartbeat=60), queue=media_queue)
    async def recheck_clips(self, input: RunReference) -> RecheckResult:
        """Stop when the judge does not answer: it would not for the others either. A clip it refuses is passed over."""
        waiting = list(await self._clips.find_unchecked(RECHECKED_TOGETHER))
        judged = 0
        async with Heartbeat():
            for clip in waiting:
                try:
                    judged += await self._recheck(clip, input)
                except JudgeRefusesError as error:
                    activity.logger.warning("Clip %s is not judged: %s", clip.clip_id, error)
                except JudgeUnavailableError as error:
                    activity.logger.warning("No judge answers, %s clips wait: %s", len(waiting) - judged, error)
                    break
        return RecheckResult(judged=judged, waiting=len(waiting) - judged)

    async def _recheck(self, clip: UncheckedClip, run: RunReference) -> bool:
        copies = await self._clips.load_copies(clip.event_id)
        video = next((copy.video for copy in copies if copy.clip_id == clip.clip_id and copy.shown), None)
        if video is None:
            return False
        inspection = await self._inspect(clip, video, run)
        fixture_id = fixture_of(clip.event_id)
        if inspection.check is None:
            gone = SettledCandidate(
                candidate_id=video.candidate_id,
                outcome=inspection.outcome or CandidateOutcome.NOT_A_VIDEO,
                reason=inspection.reason,
            )
            await self._clips.record_check(clip.clip_id, None, gone)
            for key in (clip.object_key, poster_key(fixture_id, clip.event_id, video.md5)):
                await self._objects.delete(key)
            return True
        checked = {
            "checked": True,
            "timestamp_verified": inspection.check.verified,
            "extracted_minute": inspection.check.extracted_minute,
            "timestamp_status": inspection.check.status,
        }
        await self._clips.record_check(clip.clip_id, video.model_copy(update=checked), None)
        batch = Batch(batch_id=f"recheck-{clip.clip_id}-{run.run_id}", rearrange=True)
        await self._workflows.add_videos(fixture_id, clip.event_id, batch, run.policy)
        return True

    async def _inspect(self, clip: UncheckedClip, video: Video, run: RunReference) -> Inspection:
        minute = await self._goals.load_minute(clip.event_id)
        try:
            async with local_copy(self._objects, clip.object_key) as path:
                return await self._inspector.inspect(path, video.duration_seconds, minute, run.policy.clock_tolerance)
        except NotFoundError:
            return Inspection(CandidateOutcome.NOT_A_VIDEO, "its file is no longer there")
        except PermanentError as error:
            return Inspection(CandidateOutcome.NOT_A_VIDEO, error.message)
