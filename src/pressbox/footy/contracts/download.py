"""Payloads of DownloadWorkflow: videos by object key, never a file or a fingerprint."""

from pressbox.core.contracts import Contract
from pressbox.core.progress.contracts import Progress
from pressbox.footy.contracts.monitor import GoalToSearch
from pressbox.footy.domain.candidates import CandidateOutcome
from pressbox.footy.domain.clock import TimestampStatus
from pressbox.footy.domain.policy import FootyPolicy


class DownloadWorkflowInput(Contract):
    goal: GoalToSearch
    attempt: int
    candidate_ids: tuple[int, ...]
    policy: FootyPolicy = FootyPolicy()
    # The search that an activity started it for; a child workflow knows its parent.
    search_id: str = ""


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


class FramesRead(Contract):
    """How far hashing is, as its heartbeat tells."""

    frames: int


class Video(Contract):
    """A downloaded file in scratch storage, and what is known of it so far.

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
    # Unknown for files that were measured before this was kept.
    has_audio: bool | None = None

    @property
    def popularity(self) -> int:
        return 1 + len(self.merged_ids)


class DownloadedVideo(Contract):
    """Either a file, or the final outcome of the candidate, which is recorded already."""

    candidate_id: int
    video: Video | None = None
    outcome: CandidateOutcome | None = None


class ValidateVideoInput(Contract):
    event_id: str
    video: Video
    policy: FootyPolicy = FootyPolicy()


class ValidatedVideo(Contract):
    """Without a video the candidate was rejected, which is recorded already."""

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
    # Whose goal it is, for people.
    label: str = ""
    # A stored clip changed its pool because the judge finally answered: compare it with its new neighbours.
    rearrange: bool = False


class QueueVideosInput(Contract):
    """Finishes the register row of the download, then signals the upload."""

    goal: GoalToSearch
    workflow_id: str
    outcome: str
    videos: tuple[Video, ...] = ()
    policy: FootyPolicy = FootyPolicy()


class FetchClipsInput(Contract):
    """All candidates of one download."""

    goal: GoalToSearch
    workflow_id: str
    candidate_ids: tuple[int, ...]
    policy: FootyPolicy = FootyPolicy()


class FetchedClips(Contract):
    """With an `outcome` nothing is left to do: there was no usable file, and the upload was told."""

    videos: tuple[Video, ...] = ()
    downloaded: int = 0
    rejected: int = 0
    outcome: str = ""


class InspectClipsInput(Contract):
    """`candidate_ids` are all of the download, also those without a usable file."""

    goal: GoalToSearch
    workflow_id: str
    candidate_ids: tuple[int, ...]
    videos: tuple[Video, ...]
    policy: FootyPolicy = FootyPolicy()


class InspectedClips(Contract):
    accepted: int = 0
    rejected: int = 0
    queued: int = 0


class ClipsSoFar(Contract):
    """What is done of several videos, for an attempt that goes on where the last one failed.

    `videos` are those that are used, `done` the candidates of all that need no further look.
    """

    videos: tuple[Video, ...] = ()
    done: tuple[int, ...] = ()


class ScratchInput(Contract):
    """Videos whose scratch files are no longer needed."""

    event_id: str
    fixture_id: int
    candidate_ids: tuple[int, ...]


class CompletionResult(Contract):
    complete: bool
    reason: str = ""
