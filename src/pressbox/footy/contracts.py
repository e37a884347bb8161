"""What crosses Temporal for footy: ids, object keys and small facts; never a file, a fingerprint or a secret."""

from datetime import datetime, timedelta

from pressbox.core.contracts import Contract
from pressbox.core.progress.contracts import Progress
from pressbox.footy.domain.candidates import CandidateOutcome
from pressbox.footy.domain.clock import TimestampStatus
from pressbox.footy.domain.goals import SearchEnd
from pressbox.footy.domain.policy import FootyPolicy

# ---- Ingest


class IngestWorkflowInput(Contract):
    """With `fixture_ids` only those are taken, whatever their date; otherwise the days of the policy from today."""

    fixture_ids: tuple[int, ...] = ()
    policy: FootyPolicy = FootyPolicy()


class IngestProgress(Progress):
    fixtures: int = 0
    teams: int = 0
    deleted: int = 0


class FetchFixturesInput(Contract):
    """One day (`fetch_todays_fixtures`), or some ids (`fetch_fixtures_by_ids`). What is fetched waits in the database
    under `run_id`: a busy day does not fit a payload."""

    run_id: str
    day: str | None = None
    fixture_ids: tuple[int, ...] = ()
    policy: FootyPolicy = FootyPolicy()


class FetchedFixtures(Contract):
    """`found` counts what the API has for the day, `followed` what of it we follow."""

    found: int
    followed: int
    problems: tuple[str, ...] = ()
    # What must be set before there can be an answer; then nothing was asked.
    missing: str = ""


class RunReference(Contract):
    """One run of Ingest or Monitor, by its workflow id."""

    run_id: str
    policy: FootyPolicy = FootyPolicy()


class StoredFixtures(Contract):
    """`teams` are the teams of all upcoming fixtures whose aliases are missing or old, at most a page of them."""

    staging: int = 0
    active: int = 0
    completed: int = 0
    known: int = 0
    teams: tuple[int, ...] = ()


class IngestWorkflowResult(Contract):
    staging: int = 0
    active: int = 0
    completed: int = 0
    known: int = 0
    aliases: int = 0
    deleted: int = 0
    # What could not be done, for people.
    note: str = ""


class CleanedUp(Contract):
    """Fixtures, goals after their grace, and objects that are gone. `more` tells that another round is needed."""

    fixtures: int = 0
    goals: int = 0
    objects: int = 0
    more: bool = False


# ---- Monitor


class MonitorWorkflowInput(Contract):
    policy: FootyPolicy = FootyPolicy()


class MonitorProgress(Progress):
    fixtures: int = 0
    goals: int = 0


class RegisteredRun(Contract):
    """What this run has to do: whether staging fixtures are due, and how many are active."""

    staging_due: int = 0
    active: int = 0
    # What must be set before fixtures can be polled; then there is nothing to do.
    missing: str = ""


class Polled(Contract):
    """`calls` to the API, fixtures that it answered, and those it did not (recorded with the reason on each)."""

    calls: int = 0
    answered: int = 0
    failed: int = 0


class Activated(Contract):
    fixtures: int = 0


class Compared(Contract):
    """`more` tells that the activity stopped early and has to be called again."""

    fixtures: int = 0
    created: int = 0
    changed: int = 0
    removed: int = 0
    failed: int = 0
    more: bool = False


class GoalToSearch(Contract):
    """A confirmed goal. The readable parts are frozen with the confirmation and never follow corrections."""

    fixture_id: int
    event_id: str
    team_id: int
    team_slug: str
    player_slug: str
    minute_label: str
    asked_before: bool = False
    # It was taken away and came back after its search had ended for that: search again.
    again: bool = False


class GoalsToSearch(Contract):
    goals: tuple[GoalToSearch, ...] = ()
    more: bool = False


class WorkflowIds(Contract):
    workflow_ids: tuple[str, ...]


class CompletedFixtures(Contract):
    """Fixtures that were archived by this run, and goals that were completed because their deadline passed."""

    fixture_ids: tuple[int, ...] = ()
    overdue_goals: int = 0


class FixtureReferences(Contract):
    fixture_ids: tuple[int, ...]


class Notified(Contract):
    fixtures: int = 0


class MonitorWorkflowResult(Contract):
    fixtures: int = 0
    failed: int = 0
    goals_created: int = 0
    goals_removed: int = 0
    searches_started: int = 0
    fixtures_completed: int = 0
    # What could not be done, for people.
    note: str = ""


class FinishRunInput(Contract):
    run_id: str
    result: MonitorWorkflowResult = MonitorWorkflowResult()


# ---- RAG (aliases)


class TeamReference(Contract):
    team_id: int
    policy: FootyPolicy = FootyPolicy()


class RAGWorkflowInput(Contract):
    team_id: int
    refresh: bool = False
    policy: FootyPolicy = FootyPolicy()


class TeamAliases(Contract):
    """Best first. `source` is empty when nothing is cached."""

    team_id: int
    team_name: str
    aliases: tuple[str, ...] = ()
    source: str = ""
    fetched_at: datetime | None = None
    fresh: bool = False


class RAGWorkflowResult(Contract):
    team_id: int
    aliases: tuple[str, ...] = ()
    source: str = ""


# ---- Twitter (clip search)


class GoalReference(Contract):
    fixture_id: int
    event_id: str
    policy: FootyPolicy = FootyPolicy()


class TwitterWorkflowInput(Contract):
    goal: GoalToSearch
    policy: FootyPolicy = FootyPolicy()


class TwitterProgress(Progress):
    attempt: int = 0
    found: int = 0
    downloads: int = 0


class TwitterWorkflowResult(Contract):
    attempts: int
    found: int
    ended: SearchEnd


class SetMonitorCompleteInput(Contract):
    event_id: str
    workflow_id: str


class GoalExists(Contract):
    """`reason` says what became of a goal that is no longer there."""

    exists: bool
    reason: str = ""


class SearchDataInput(Contract):
    event_id: str
    attempt: int
    aliases: tuple[str, ...]
    policy: FootyPolicy = FootyPolicy()


class SearchData(Contract):
    """`max_age` reaches back to the last search that worked, so that an outage of ours costs no clip.

    `since` is the same as a time: a search that comes late, or again, looks back as far.
    """

    event_id: str
    attempt: int
    query: str
    player_names: tuple[str, ...]
    team_aliases: tuple[str, ...]
    max_age: timedelta
    max_results: int
    since: datetime | None = None


class FoundClip(Contract):
    """A clip that a source named, as it crosses Temporal."""

    source: str
    video_page_url: str
    post_url: str = ""
    post_text: str = ""
    media_url: str | None = None
    duration_seconds: float | None = None
    posted_at: datetime | None = None


class SourceFailure(Contract):
    source: str
    reason: str


class SearchResult(Contract):
    """What all sources found together. A source that failed is named; the others count."""

    videos: tuple[FoundClip, ...] = ()
    failures: tuple[SourceFailure, ...] = ()


class ExecuteSearchInput(Contract):
    search: SearchData
    policy: FootyPolicy = FootyPolicy()


class SaveDiscoveredInput(Contract):
    event_id: str
    attempt: int
    videos: tuple[FoundClip, ...]
    policy: FootyPolicy = FootyPolicy()


class SavedCandidates(Contract):
    """`chosen` are the longest new ones, for the download of this attempt."""

    saved: int = 0
    chosen: tuple[int, ...] = ()


class DownloadCount(Contract):
    registered: int
    finished: int


class FinishSearchInput(Contract):
    event_id: str
    ended: SearchEnd
    policy: FootyPolicy = FootyPolicy()


# ---- Download


class DownloadWorkflowInput(Contract):
    goal: GoalToSearch
    attempt: int
    candidate_ids: tuple[int, ...]
    policy: FootyPolicy = FootyPolicy()


class DownloadProgress(Progress):
    downloaded: int = 0
    accepted: int = 0
    rejected: int = 0


class DownloadWorkflowResult(Contract):
    downloaded: int
    queued: int


class RegisterDownloadInput(Contract):
    event_id: str
    workflow_id: str


class DownloadVideoInput(Contract):
    event_id: str
    fixture_id: int
    candidate_id: int
    policy: FootyPolicy = FootyPolicy()


class Video(Contract):
    """A downloaded file in the scratch part of the object store, and what is known of it so far.

    `popularity` is how many candidates it stands for: itself and the same files merged into it (`merged_ids`).
    """

    candidate_id: int
    scratch_key: str
    md5: str
    duration_seconds: float
    width: int
    height: int
    bitrate: int
    file_size: int
    merged_ids: tuple[int, ...] = ()
    checked: bool = False
    timestamp_verified: bool = False
    extracted_minute: int | None = None
    timestamp_status: TimestampStatus = TimestampStatus.NOT_CHECKED
    fingerprint_key: str = ""

    @property
    def popularity(self) -> int:
        return 1 + len(self.merged_ids)


class DownloadedVideo(Contract):
    """Either a file, or the final outcome of the candidate, which is already recorded."""

    candidate_id: int
    video: Video | None = None
    outcome: CandidateOutcome | None = None


class ValidateVideoInput(Contract):
    event_id: str
    video: Video
    policy: FootyPolicy = FootyPolicy()


class ValidatedVideo(Contract):
    """Without a video it was rejected, which is already recorded."""

    video: Video | None = None
    outcome: CandidateOutcome | None = None


class VideoInput(Contract):
    event_id: str
    fixture_id: int
    video: Video


class SettledCandidate(Contract):
    candidate_id: int
    outcome: CandidateOutcome
    reason: str = ""


class SettleInput(Contract):
    event_id: str
    candidates: tuple[SettledCandidate, ...]


class Batch(Contract):
    """The signal `add_videos`. `batch_id` is the download's workflow id, so that a repeated signal is recognised."""

    batch_id: str
    videos: tuple[Video, ...] = ()
    # Whose goal it is, in words for people.
    label: str = ""
    # A stored clip changed its pool, because a judge answered at last: compare it with its new neighbours.
    rearrange: bool = False


class QueueVideosInput(Contract):
    """Marks the register row of the download as finished, then tells the upload."""

    goal: GoalToSearch
    workflow_id: str
    outcome: str
    videos: tuple[Video, ...] = ()
    policy: FootyPolicy = FootyPolicy()


class ScratchInput(Contract):
    """Videos whose scratch files nobody needs any more."""

    event_id: str
    fixture_id: int
    candidate_ids: tuple[int, ...]


class CompletionResult(Contract):
    complete: bool
    reason: str = ""


# ---- Upload


class UploadState(Contract):
    """Carried over continue-as-new: no batch is lost, none is done twice."""

    queue: tuple[Batch, ...] = ()
    heard: tuple[str, ...] = ()
    processed: int = 0


class UploadWorkflowInput(Contract):
    fixture_id: int
    event_id: str
    policy: FootyPolicy = FootyPolicy()
    state: UploadState = UploadState()


class UploadProgress(Progress):
    stored: int = 0
    replaced: int = 0
    duplicates: int = 0


class UploadWorkflowResult(Contract):
    batches: int
    stored: int
    replaced: int
    duplicates: int


class GoalData(Contract):
    """`done` are candidates whose outcome is final: a repeated batch leaves them alone."""

    exists: bool
    clips: int = 0
    done: tuple[int, ...] = ()


class Md5Input(Contract):
    event_id: str
    videos: tuple[Video, ...]


class Duplicate(Contract):
    """This video shows the scene of that clip, in a copy that is not better."""

    video: Video
    clip_id: int


class Md5Result(Contract):
    """What is left to compare, and what is the very file of a stored copy."""

    videos: tuple[Video, ...] = ()
    duplicates: tuple[Duplicate, ...] = ()


class DeduplicateInput(Contract):
    """One pool: verified or unverified. With `rearrange` the stored clips are compared with each other as well."""

    event_id: str
    videos: tuple[Video, ...]
    verified: bool
    rearrange: bool = False
    # Copies that could not be stored as files to show; they count for the scene all the same.
    unusable: tuple[int, ...] = ()
    policy: FootyPolicy = FootyPolicy()


class SceneChange(Contract):
    """What a batch means for one scene.

    `clip_id` is its slot, None when it is new; clips in `merged` turned out to show the same. `best` is the copy to
    show when it is not shown yet; `others` are new copies that are not shown. What is not in `kept` can never become
    the best one, whatever comes: its scratch file can go.
    """

    clip_id: int | None = None
    merged: tuple[int, ...] = ()
    best: Video | None = None
    others: tuple[Video, ...] = ()
    kept: tuple[int, ...] = ()


class DeduplicateResult(Contract):
    scenes: tuple[SceneChange, ...] = ()


class UploadVideoInput(Contract):
    fixture_id: int
    event_id: str
    video: Video


class UploadedVideo(Contract):
    """The file and its poster under their final keys."""

    video: Video
    object_key: str
    poster_key: str


class SaveVideosInput(Contract):
    event_id: str
    uploaded: tuple[UploadedVideo, ...]


class SavedClips(Contract):
    """Slots in the order of the videos."""

    clip_ids: tuple[int, ...] = ()


class ReplaceVideoInput(Contract):
    fixture_id: int
    event_id: str
    clip_id: int
    video: Video


class UpdateInPlaceInput(Contract):
    """The better copy takes the slot; the clips in `merged` become part of it. Without a copy they are only merged."""

    event_id: str
    clip_id: int
    uploaded: UploadedVideo | None = None
    merged: tuple[int, ...] = ()


class BumpPopularityInput(Contract):
    event_id: str
    duplicates: tuple[Duplicate, ...]


# ---- Upkeep (canaries, clips that wait for a judge)


class UpkeepWorkflowInput(Contract):
    policy: FootyPolicy = FootyPolicy()


class UpkeepProgress(Progress):
    sources_failing: int = 0
    rechecked: int = 0


class CanaryResult(Contract):
    working: int = 0
    failing: tuple[SourceFailure, ...] = ()


class RecheckResult(Contract):
    """Clips that were judged now, and those that still wait because no judge answers."""

    judged: int = 0
    waiting: int = 0


class MediaCursor(Contract):
    """Nothing to resume from: what was decoded is in memory only."""
