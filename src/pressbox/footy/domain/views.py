"""What people see of fixtures, goals, clips and teams: never a fingerprint, never a key of a store. Pure."""

from dataclasses import dataclass
from datetime import date, datetime
from enum import StrEnum
from typing import Generic, TypeVar

from pressbox.footy.domain.candidates import CandidateOutcome
from pressbox.footy.domain.clock import TimestampStatus
from pressbox.footy.domain.fixtures import FixtureStatus, Stage
from pressbox.footy.domain.goals import GoalDetail

ItemT = TypeVar("ItemT")


@dataclass(frozen=True)
class Page(Generic[ItemT]):
    """Some items of a list. `after` is what to ask the next page with; None at the end."""

    items: tuple[ItemT, ...]
    after: int | None = None


class GoalState(StrEnum):
    """Where a goal is, for people."""

    UNCONFIRMED = "unconfirmed"  # seen, not yet in enough polls, or without a scorer
    SEARCHING = "searching"
    COMPLETE = "complete"
    REMOVED = "removed"


@dataclass(frozen=True)
class ClipView:
    """One scene of a goal in its best copy. The share id stays when a better file takes its place."""

    share_id: str
    event_id: str
    rank: int
    duration_seconds: float
    width: int
    height: int
    bitrate: int
    file_size: int
    timestamp_verified: bool
    timestamp_status: TimestampStatus
    extracted_minute: int | None
    popularity: int
    replacements: int
    source: str
    source_url: str
    created_at: datetime
    updated_at: datetime


@dataclass(frozen=True)
class GoalView:
    """A goal as the page shows it; `home_score` and `away_score` are the score after it. Clips are best first."""

    event_id: str
    fixture_id: int
    team_id: int
    team_name: str
    at_home: bool
    player_id: int
    player_name: str
    assist_name: str
    detail: GoalDetail
    elapsed: int
    extra: int | None
    home_score: int
    away_score: int
    state: GoalState
    first_seen: datetime
    last_seen: datetime
    last_activity: datetime
    confirmed_at: datetime | None
    completed_at: datetime | None
    completion_reason: str
    removed_at: datetime | None
    clips: tuple[ClipView, ...] = ()

    @property
    def minute(self) -> str:
        return f"{self.elapsed}+{self.extra}" if self.extra else str(self.elapsed)

    @property
    def scorer_known(self) -> bool:
        return bool(self.player_name)


@dataclass(frozen=True)
class SideView:
    team_id: int
    name: str
    goals: int | None
    penalties: int | None = None


@dataclass(frozen=True)
class FixtureView:
    """A fixture with its goals in the order of the match. `trouble` says what is wrong with its last poll."""

    fixture_id: int
    stage: Stage
    status: FixtureStatus
    kickoff: datetime
    league_id: int
    league_name: str
    country: str
    round: str
    venue: str
    home: SideView
    away: SideView
    elapsed: int | None
    extra: int | None
    winner_id: int | None
    trouble: str
    trouble_since: datetime | None
    last_monitor: datetime | None
    completed_at: datetime | None
    goals: tuple[GoalView, ...] = ()

    @property
    def day(self) -> date:
        return self.kickoff.date()

    @property
    def live(self) -> bool:
        return self.stage is Stage.ACTIVE and self.status.live


@dataclass(frozen=True)
class DayView:
    """One day of the date strip, in UTC."""

    day: date
    fixtures: int
    live: int
    goals: int


@dataclass(frozen=True)
class CompetitionView:
    """The fixtures of one competition on one page."""

    league_id: int
    name: str
    country: str
    round: str
    fixtures: tuple[FixtureView, ...]


# ---- The trail of a goal


@dataclass(frozen=True)
class RunView:
    """A row of a register: a workflow that saw, missed or downloaded for a goal."""

    workflow_id: str
    registered_at: datetime
    finished_at: datetime | None
    outcome: str


@dataclass(frozen=True)
class NoteView:
    """What happened to a goal: named, reattributed, corrected, removed, restored."""

    at: datetime
    run_id: str
    what: str
    before: str
    after: str


@dataclass(frozen=True)
class SearchView:
    """What one source answered in one attempt. `failure` is empty when it answered."""

    attempt: int
    source: str
    query: str
    searched_at: datetime
    found: int
    failure: str


@dataclass(frozen=True)
class CandidateView:
    """A clip that was found, and what became of it. `share_id` names the clip that it became or is a copy of."""

    candidate_id: int
    attempt: int
    source: str
    video_page_url: str
    tweet_url: str
    tweet_text: str
    duration_seconds: float | None
    posted_at: datetime | None
    discovered_at: datetime
    outcome: CandidateOutcome
    reason: str
    settled_at: datetime | None
    share_id: str | None


@dataclass(frozen=True)
class OutcomeCount:
    outcome: CandidateOutcome
    count: int


@dataclass(frozen=True)
class AuditView:
    """Everything that happened to one goal. `summary` answers "why is there no clip?" or what became of all of them."""

    goal: GoalView
    fixture: FixtureView
    summary: str
    outcomes: tuple[OutcomeCount, ...]
    search_ended: str
    search_ended_at: datetime | None
    sightings: tuple[RunView, ...]
    misses: tuple[RunView, ...]
    downloads: tuple[RunView, ...]
    notes: tuple[NoteView, ...]
    searches: tuple[SearchView, ...]
    candidates: Page[CandidateView]


# ---- Search, teams, clips, status


@dataclass(frozen=True)
class GoalHit:
    """A goal that a search by name found, with the match around it."""

    goal: GoalView
    home_name: str
    away_name: str
    kickoff: datetime


@dataclass(frozen=True)
class TeamView:
    team_id: int
    name: str
    country: str
    aliases: tuple[str, ...]
    alias_source: str
    fetched_at: datetime | None
    followed: bool = False


class FollowKind(StrEnum):
    LEAGUE = "league"
    TEAM = "team"


@dataclass(frozen=True)
class FollowView:
    """A league or team that is followed. `by_settings` tells that nobody had to ask for it."""

    kind: FollowKind
    id: int
    name: str
    by_settings: bool


@dataclass(frozen=True)
class ClipFileView:
    """Where the file of a clip lies, for whoever streams it."""

    share_id: str
    event_id: str
    fixture_id: int
    object_key: str
    poster_key: str
    file_size: int
    etag: str
    updated_at: datetime
    content_type: str = "video/mp4"
    poster_type: str = "image/jpeg"


@dataclass(frozen=True)
class SourceView:
    """The last canary search of a clip source."""

    source: str
    checked_at: datetime
    worked_at: datetime | None
    found: int
    failure: str

    @property
    def working(self) -> bool:
        return not self.failure


@dataclass(frozen=True)
class PollView:
    """One run of the monitor."""

    run_id: str
    started_at: datetime
    finished_at: datetime | None
    fixtures: int
    failed: int


@dataclass(frozen=True)
class MissingSetting:
    """What is not set, and what to do about it."""

    name: str
    advice: str


@dataclass(frozen=True)
class Readiness:
    """`missing` keeps footy from working at all; `advised` would make it better."""

    missing: tuple[MissingSetting, ...] = ()
    advised: tuple[MissingSetting, ...] = ()

    @property
    def ready(self) -> bool:
        return not self.missing
