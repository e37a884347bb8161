"""Payloads of UploadWorkflow: copies, scenes and stored clips."""

from pydantic import Field

from pressbox.core.contracts import Contract
from pressbox.core.progress.contracts import Progress
from pressbox.footy.contracts.download import Batch, Video
from pressbox.footy.contracts.search import GoalReference
from pressbox.footy.domain.policy import FootyPolicy


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
    """A video that shows the scene of a stored clip in a copy that is no better; `reason` is for the trail."""

    video: Video
    clip_id: int
    reason: str = ""


class Md5Result(Contract):
    """Videos that must be compared, and those that are the very file of a stored copy."""

    videos: tuple[Video, ...] = ()
    duplicates: tuple[Duplicate, ...] = ()


class DeduplicateInput(Contract):
    """One pool: verified or unverified. With `rearrange` the stored clips are compared with each other as well."""

    event_id: str
    videos: tuple[Video, ...]
    verified: bool
    rearrange: bool = False
    # Copies that could not be stored; they still count for the scene.
    unusable: tuple[int, ...] = ()
    policy: FootyPolicy = FootyPolicy()


class SceneChange(Contract):
    """What a batch means for one scene.

    `clip_id` is its slot, None for a new scene; the clips in `merged` show the same scene. `best` is the copy to show,
    None when it is shown already; `others` are new copies that are not shown. A copy that is not in `kept` can never
    become the best one, so its scratch file can be deleted. `reasons` say by candidate what had to be seen through.
    """

    clip_id: int | None = None
    merged: tuple[int, ...] = ()
    best: Video | None = None
    others: tuple[Video, ...] = ()
    kept: tuple[int, ...] = ()
    reasons: dict[int, str] = Field(default_factory=dict)


class DeduplicateResult(Contract):
    scenes: tuple[SceneChange, ...] = ()


class UploadVideoInput(Contract):
    fixture_id: int
    event_id: str
    video: Video


class ShownFile(Contract):
    """What the stored file holds, which may have been encoded again."""

    duration_seconds: float
    width: int
    height: int
    bitrate: int
    file_size: int


class UploadedVideo(Contract):
    """The file and its poster under their final keys. `video` is the file as it was found."""

    video: Video
    object_key: str
    poster_key: str
    shown: ShownFile | None = None


class SaveVideosInput(Contract):
    event_id: str
    uploaded: tuple[UploadedVideo, ...]


class SavedClips(Contract):
    """The clip of each video, in the order of the videos."""

    clip_ids: tuple[int, ...] = ()


class ReplaceVideoInput(Contract):
    fixture_id: int
    event_id: str
    clip_id: int
    video: Video


class UpdateInPlaceInput(Contract):
    """Put the better copy into the slot and merge the clips in `merged` into it; without a copy, only merge."""

    event_id: str
    clip_id: int
    uploaded: UploadedVideo | None = None
    merged: tuple[int, ...] = ()


class BumpPopularityInput(Contract):
    event_id: str
    duplicates: tuple[Duplicate, ...]


class StoreBatchInput(Contract):
    goal: GoalReference
    batch: Batch


class StoredBatch(Contract):
    stored: int = 0
    replaced: int = 0
    duplicates: int = 0
