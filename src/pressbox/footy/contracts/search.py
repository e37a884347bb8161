"""Payloads of TwitterWorkflow: what is searched, what was found, what failed."""

from datetime import datetime, timedelta

from pressbox.core.contracts import Contract
from pressbox.core.progress.contracts import Progress
from pressbox.footy.contracts.monitor import GoalToSearch
from pressbox.footy.domain.goals import SearchEnd
from pressbox.footy.domain.policy import FootyPolicy


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


class GoalExistence(Contract):
    """`reason` says what became of a goal that is no longer there."""

    exists: bool
    reason: str = ""


class SearchDataInput(Contract):
    event_id: str
    attempt: int
    aliases: tuple[str, ...]
    policy: FootyPolicy = FootyPolicy()


class SearchData(Contract):
    """`max_age` reaches back to the last search that worked, so that an outage loses no clip.

    `since` is the same as a point in time: a delayed or repeated search looks back as far.
    """

    event_id: str
    attempt: int
    query: str
    player_names: tuple[str, ...]
    team_aliases: tuple[str, ...]
    max_age: timedelta
    max_results: int
    since: datetime | None = None
    # How many sources there are; None in searches from before this was told.
    sources: int | None = None


class FoundClip(Contract):
    """A clip that a source found."""

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
    """What all sources found together, and which of them failed."""

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


class AttemptInput(Contract):
    """One attempt of a search. Without `aliases` those that are cached are taken, as long as they are fresh."""

    goal: GoalToSearch
    workflow_id: str
    attempt: int
    aliases: tuple[str, ...] | None = None
    policy: FootyPolicy = FootyPolicy()


class AttemptResult(Contract):
    """`ended` says why there is no further attempt, `made` whether this one was made.

    With `stale_aliases` nothing was searched yet.
    """

    made: bool = False
    ended: SearchEnd | None = None
    stale_aliases: bool = False
    aliases: tuple[str, ...] = ()
    registered: int = 0
    saved: int = 0


class DownloadCount(Contract):
    registered: int
    finished: int


class FinishSearchInput(Contract):
    event_id: str
    ended: SearchEnd
    policy: FootyPolicy = FootyPolicy()
