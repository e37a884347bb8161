"""What crosses Temporal for footy: ids, object keys and small facts; never a file, a fingerprint or a secret."""

from datetime import datetime, timedelta

from pressbox.core.contracts import Contract
from pressbox.core.progress.contracts import Progress
from pressbox.footy.domain.candidates import CandidateOutcome
from pressbox.footy.domain.goals import SearchEnd
from pressbox.footy.domain.clock import TimestampStatus
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
    """`max_age` reaches back to the last search that worked, so that an outage of ours costs no clip."""

    event_id: str
    attempt: int
    query: str
    player_names: tuple[str, ...]
    team_aliases: tuple[str, ...]
    max_age: timedelta
    max_results: int


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


class QueueVideosInput(Contract):
    """Marks the register row of the download as finished, then tells the upload."""

    goal: GoalToSearch
    workflow_id: str
    outcome: str
    videos: tuple[Video, ...] = ()
    policy: FootyPolicy = FootyPolicy()


class ScratchInput(Contract):
    keys: tuple[str, ...]


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


class StoredClip(Contract):
    """A clip as the upload compares with it; the fingerprint stays in the database."""

    clip_id: int
    md5: str
    duration_seconds: float
    file_size: int
    timestamp_verified: bool


class GoalData(Contract):
    """`done` are candidates whose outcome is final: a repeated batch leaves them alone."""

    exists: bool
    clips: tuple[StoredClip, ...] = ()
    done: tuple[int, ...] = ()


class Md5Input(Contract):
    event_id: str
    videos: tuple[Video, ...]


class Md5Result(Contract):
    """What is left to compare, and what is the very file of a stored clip."""

    videos: tuple[Video, ...] = ()
    duplicates: tuple["Duplicate", ...] = ()


class Duplicate(Contract):
    """This video shows the scene of that clip, in a copy that is not better."""

    video: Video
    clip_id: int


class DeduplicateInput(Contract):
    """One pool: verified or unverified."""

    event_id: str
    videos: tuple[Video, ...]
    clips: tuple[StoredClip, ...]
    policy: FootyPolicy = FootyPolicy()


class Replacement(Contract):
    """This video is the better copy of that clip, or of several that turned out to be one scene."""

    video: Video
    clip_id: int


class DeduplicateResult(Contract):
    new: tuple[Video, ...] = ()
    replacements: tuple[Replacement, ...] = ()
    duplicates: tuple[Duplicate, ...] = ()


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


class ReplaceVideoInput(Contract):
    fixture_id: int
    event_id: str
    clip_id: int
    video: Video


class UpdateInPlaceInput(Contract):
    event_id: str
    clip_id: int
    uploaded: UploadedVideo


class BumpPopularityInput(Contract):
    event_id: str
    duplicates: tuple[Duplicate, ...]


class BatchReference(Contract):
    """Scratch files of one batch of one goal."""

    event_id: str
    videos: tuple[Video, ...]


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
