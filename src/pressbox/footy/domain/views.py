"""What people see of fixtures, goals, clips and teams: pages, API and commands show these. Pure.

Never a fingerprint, never a key of a store. A description is part of the API's reference.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from enum import StrEnum
from typing import Annotated, Generic, TypeVar

from pydantic import Field

from pressbox.footy.domain.candidates import CandidateOutcome
from pressbox.footy.domain.clock import TimestampStatus
from pressbox.footy.domain.fixtures import FixtureStatus, Stage
from pressbox.footy.domain.goals import GoalDetail
from pressbox.footy.domain.subjects import fixture_subject

ItemT = TypeVar("ItemT")
# Commands print it as JSON, the API does not give it.
NOT_IN_API = Field(exclude=True)


@dataclass(frozen=True)
class Page(Generic[ItemT]):
    """Some items of a list."""

    items: tuple[ItemT, ...]
    after: Annotated[int | None, Field(description="Ask for the next page with it; null at the end.")]


class GoalState(StrEnum):
    """The state of a goal, for people."""

    UNCONFIRMED = "unconfirmed"  # seen, not yet in enough polls, or without a scorer
    SEARCHING = "searching"
    COMPLETE = "complete"
    REMOVED = "removed"


@dataclass(frozen=True)
class ClipView:
    """One scene of a goal in its best copy. `share_id` and the addresses stay when a better file takes its place."""

    share_id: str
    event_id: Annotated[str, NOT_IN_API]
    rank: Annotated[int, Field(description="1 is the best.")]
    url: str
    poster_url: str
    page_url: str
    duration_seconds: float
    width: int
    height: int
    bitrate: int
    file_size: int
    timestamp_verified: bool
    timestamp_status: TimestampStatus
    extracted_minute: int | None
    popularity: Annotated[int, Field(description="How often it was found.")]
    replacements: Annotated[int, Field(description="How often a better copy took the place of a worse one.")]
    source: str
    source_url: str
    created_at: datetime
    updated_at: datetime


@dataclass(frozen=True)
class GoalView:
    """A goal; `home_score` and `away_score` are the score after it. Clips are best first."""

    event_id: str
    fixture_id: int
    team_id: int
    team_name: str
    at_home: Annotated[bool, NOT_IN_API]
    player_id: int
    player_name: Annotated[str, Field(description="Empty while the scorer is not known.")]
    assist_name: str
    detail: GoalDetail
    elapsed: int
    extra: int | None
    home_score: int
    away_score: int
    state: GoalState
    first_seen: datetime
    last_seen: datetime
    last_activity: Annotated[datetime, NOT_IN_API]
    confirmed_at: datetime | None
    completed_at: datetime | None
    completion_reason: str
    removed_at: datetime | None
    clips: tuple[ClipView, ...]

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
    penalties: int | None


@dataclass(frozen=True)
class FixtureView:
    """A fixture with its goals in the order of the match."""

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
    trouble: Annotated[str, Field(description="What is wrong with its last poll; empty when it was good.")]
    trouble_since: datetime | None
    last_monitor: datetime | None
    completed_at: datetime | None
    goals: tuple[GoalView, ...]
    covered: Annotated[bool, Field(description="You hide scores and have not looked at this match.")] = False
    as_of: Annotated[datetime | None, Field(description="The moment up to which your delay lets you know.")] = None

    @property
    def subject(self) -> str:
        return fixture_subject(self.fixture_id)

    @property
    def live(self) -> bool:
        return self.stage is Stage.ACTIVE and self.status.live


@dataclass(frozen=True)
class Corrections:
    """What the match data took back: goals, and by goal the scorers that it named before."""

    disallowed: tuple[GoalView, ...] = ()
    former_scorers: Mapping[str, Sequence[str]] = field(default_factory=dict)


@dataclass(frozen=True)
class DayView:
    """One day of the date strip."""

    day: Annotated[date, Field(description="A day of UTC.")]
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
    """What one source answered in one attempt."""

    attempt: int
    source: str
    query: str
    searched_at: datetime
    found: int
    failure: Annotated[str, Field(description="Why the source did not answer; empty when it did.")]


@dataclass(frozen=True)
class CandidateView:
    """A clip that was found, and what became of it."""

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
    share_id: Annotated[str | None, Field(description="The clip that it became, or of which it is a copy.")]


@dataclass(frozen=True)
class OutcomeCount:
    outcome: CandidateOutcome
    count: int


@dataclass(frozen=True)
class AuditView:
    """Everything that happened to a goal. `summary` says it in a sentence."""

    event_id: str
    goal: Annotated[GoalView, NOT_IN_API]
    fixture: Annotated[FixtureView, NOT_IN_API]
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

    home_name: str
    away_name: str
    kickoff: datetime
    goal: GoalView


@dataclass(frozen=True)
class FoundByName:
    """Matches by the name of a team, goals by the name of the scorer; each list has its own next page."""

    fixtures: Page[FixtureView]
    goals: Page[GoalHit]


@dataclass(frozen=True)
class TeamView:
    team_id: int
    name: str
    country: str
    aliases: tuple[str, ...]
    alias_source: str
    fetched_at: datetime | None
    followed: bool


class FollowKind(StrEnum):
    LEAGUE = "league"
    TEAM = "team"


@dataclass(frozen=True)
class FollowView:
    """A league or team that is followed, by the settings or because somebody asked for it."""

    kind: FollowKind
    id: Annotated[int, Field(description="Of API-Football; negative until it is known.")]
    name: str
    country: str
    by_settings: bool
    next_kickoff: Annotated[datetime | None, Field(description="Of its next match that is known, or the running one.")]
    next_match: Annotated[str, Field(description="The two teams of that match.")]
    next_fixture_id: int | None


@dataclass(frozen=True)
class FoundEntry:
    """A league or team that a search by name found."""

    kind: FollowKind
    id: Annotated[int, Field(description="Of API-Football; negative when only the list of the program has it.")]
    name: str
    country: str
    followed: bool


@dataclass(frozen=True)
class ClipFileView:
    """Where the files of a clip are stored."""

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
