"""Every id and address of footy: in Temporal, in the object store, for live changes and on the web.

They are made from keys that never change.
"""

from typing import Protocol

from pressbox.footy.domain.subjects import FIXTURE_SUBJECT as FIXTURE_SUBJECT
from pressbox.footy.domain.subjects import LEAGUE_SUBJECT as LEAGUE_SUBJECT
from pressbox.footy.domain.subjects import TEAM_SUBJECT as TEAM_SUBJECT

PATH = "/footy"

QUEUE = "footy"
CLIPS_QUEUE = "footy-clips"
MEDIA_QUEUE = "footy-media"

INGEST_SCHEDULE = "ingest-daily"
INGEST_WORKFLOW = "ingest-scheduled"
MONITOR_SCHEDULE = "monitor-every-30s"
MONITOR_WORKFLOW = "monitor-scheduled"
UPKEEP_SCHEDULE = "footy-upkeep"
UPKEEP_WORKFLOW = "footy-upkeep"

# Names of workflows that adapters start without importing them.
INGEST = "IngestWorkflow"
MONITOR = "MonitorWorkflow"
UPKEEP = "UpkeepWorkflow"
RAG = "RAGWorkflow"
DOWNLOAD_WORKFLOW = "DownloadWorkflow"
UPLOAD_WORKFLOW = "UploadWorkflow"
ADD_VIDEOS_SIGNAL = "add_videos"
INGEST_BY_HAND = "ingest-by-hand"
# Started when somebody follows a league or team.
INGEST_FOLLOWED = "ingest-followed"
FETCH_AGAIN_SIGNAL = "fetch_again"
MONITOR_BY_HAND = "monitor-by-hand"

# What browsers can follow.
DAY_TOPIC = "footy.day"
FIXTURE_TOPIC = "footy.fixture"
GOAL_TOPIC = "footy.goal"


class NamedGoal(Protocol):
    """A goal with the readable parts that were frozen at its confirmation."""

    @property
    def event_id(self) -> str: ...

    @property
    def team_slug(self) -> str: ...

    @property
    def player_slug(self) -> str: ...

    @property
    def minute_label(self) -> str: ...


def rag_workflow_id(team_id: int) -> str:
    return f"rag-{team_id}"


def twitter_workflow_id(goal: NamedGoal) -> str:
    return f"twitter-{goal.team_slug}-{goal.player_slug}-{goal.minute_label}min-{goal.event_id}"


def download_workflow_id(goal: NamedGoal, attempt: int) -> str:
    return f"download{attempt}-{goal.team_slug}-{goal.player_slug}-{goal.event_id}"


def upload_workflow_id(event_id: str) -> str:
    return f"upload-{event_id}"


def match_path(fixture_id: int) -> str:
    return f"{PATH}/matches/{fixture_id}"


def team_path(team_id: int) -> str:
    return f"{PATH}/teams/{team_id}"


def clip_path(share_id: str) -> str:
    """The path of a clip's page; its video and poster are beside it."""
    return f"{PATH}/clips/{share_id}"


def clip_key(fixture_id: int, event_id: str, content_hash: str) -> str:
    return f"clips/{fixture_id}/{event_id}/{content_hash}.mp4"


def poster_key(fixture_id: int, event_id: str, content_hash: str) -> str:
    return f"clips/{fixture_id}/{event_id}/{content_hash}.jpg"


def clips_prefix(fixture_id: int, event_id: str = "") -> str:
    """The folder of a fixture's clips, or of one of its goals."""
    return f"clips/{fixture_id}/{event_id}".removesuffix("/")


def scratch_prefix(fixture_id: int) -> str:
    return f"scratch/footy/{fixture_id}"


def scratch_key(fixture_id: int, event_id: str, candidate_id: int, suffix: str) -> str:
    """Depends only on the candidate, so that a repeated download overwrites and other workers find it."""
    return f"{scratch_prefix(fixture_id)}/{event_id}/{candidate_id}.{suffix}"


def scratch_candidate(key: str) -> int | None:
    """The candidate that a scratch file belongs to, or None for a file of another kind."""
    name = key.rsplit("/", 1)[-1].split(".", 1)[0]
    return int(name) if name.isdecimal() else None


def fixture_of(event_id: str) -> int:
    return int(event_id.split("_", 1)[0])


def media_queue(queue: str) -> str:
    """The queue on which the videos of a queue's workflows are decoded: `footy` → `footy-media`."""
    return f"{queue}-media"


def clips_queue(queue: str) -> str:
    """The queue on which clips are searched and fetched: `footy` → `footy-clips`. Polls do not wait behind them."""
    return f"{queue}-clips"
