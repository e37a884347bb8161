"""What the API of matches takes and gives. Never a fingerprint, never a key of the store."""

from datetime import date, datetime
from typing import Annotated, Generic, Self, TypeVar

from fastapi import Query
from pydantic import Field

from pressbox.core.web.api_models import RequestBody, ResponseModel
from pressbox.footy.domain.candidates import CandidateOutcome
from pressbox.footy.domain.clock import TimestampStatus
from pressbox.footy.domain.fixtures import FixtureStatus, Stage
from pressbox.footy.domain.goals import GoalDetail
from pressbox.footy.domain.views import ClipView, FixtureView, FollowKind, GoalHit, GoalState, GoalView, Page
from pressbox.footy.web.access import PATH

AnswerT = TypeVar("AnswerT")

After = Annotated[int | None, Query(ge=0, le=2**63 - 1, description="The `after` of the page before.")]
PageSize = Annotated[int, Query(ge=1, le=200)]


class PageAnswer(ResponseModel, Generic[AnswerT]):
    """Some items of a list."""

    items: list[AnswerT]
    after: int | None = Field(description="Ask for the next page with it; null at the end.")


class DayAnswer(ResponseModel):
    day: date = Field(description="A day of UTC.")
    fixtures: int
    live: int
    goals: int


class ClipAnswer(ResponseModel):
    """One scene in its best copy. `share_id` and both addresses stay when a better file takes its place."""

    share_id: str
    rank: int = Field(description="1 is the best.")
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
    popularity: int = Field(description="How often it was found.")
    replacements: int = Field(description="How often a better copy took the place of a worse one.")
    source: str
    source_url: str
    created_at: datetime
    updated_at: datetime

    @classmethod
    def of(cls, clip: ClipView) -> Self:
        page = f"{PATH}/clips/{clip.share_id}"
        return cls.model_validate(vars(clip) | {"url": f"{page}.mp4", "poster_url": f"{page}.jpg", "page_url": page})


class GoalAnswer(ResponseModel):
    """A goal; the scores are those after it. Clips are best first."""

    event_id: str
    fixture_id: int
    team_id: int
    team_name: str
    player_id: int
    player_name: str = Field(description="Empty while the scorer is not known.")
    assist_name: str
    detail: GoalDetail
    elapsed: int
    extra: int | None
    home_score: int
    away_score: int
    state: GoalState
    first_seen: datetime
    last_seen: datetime
    confirmed_at: datetime | None
    completed_at: datetime | None
    completion_reason: str
    removed_at: datetime | None
    clips: list[ClipAnswer]

    @classmethod
    def of(cls, goal: GoalView) -> Self:
        return cls.model_validate(vars(goal) | {"clips": [ClipAnswer.of(clip) for clip in goal.clips]})


class SideAnswer(ResponseModel):
    team_id: int
    name: str
    goals: int | None
    penalties: int | None


class FixtureAnswer(ResponseModel):
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
    home: SideAnswer
    away: SideAnswer
    elapsed: int | None
    extra: int | None
    winner_id: int | None
    trouble: str = Field(description="What is wrong with its last poll; empty when it was good.")
    trouble_since: datetime | None
    last_monitor: datetime | None
    completed_at: datetime | None
    goals: list[GoalAnswer]

    @classmethod
    def of(cls, fixture: FixtureView) -> Self:
        return cls.model_validate(vars(fixture) | {"goals": [GoalAnswer.of(goal) for goal in fixture.goals]})


class RunAnswer(ResponseModel):
    workflow_id: str
    registered_at: datetime
    finished_at: datetime | None
    outcome: str


class NoteAnswer(ResponseModel):
    at: datetime
    run_id: str
    what: str
    before: str
    after: str


class SearchAttemptAnswer(ResponseModel):
    attempt: int
    source: str
    query: str
    searched_at: datetime
    found: int
    failure: str = Field(description="Why the source did not answer; empty when it did.")


class CandidateAnswer(ResponseModel):
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
    share_id: str | None = Field(description="The clip that it became, or of which it is a copy.")


class OutcomeAnswer(ResponseModel):
    outcome: CandidateOutcome
    count: int


class AuditAnswer(ResponseModel):
    """Everything that happened to a goal. `summary` says it in a sentence."""

    event_id: str
    summary: str
    outcomes: list[OutcomeAnswer]
    search_ended: str
    search_ended_at: datetime | None
    sightings: list[RunAnswer]
    misses: list[RunAnswer]
    downloads: list[RunAnswer]
    notes: list[NoteAnswer]
    searches: list[SearchAttemptAnswer]
    candidates: PageAnswer[CandidateAnswer]


class GoalHitAnswer(ResponseModel):
    home_name: str
    away_name: str
    kickoff: datetime
    goal: GoalAnswer

    @classmethod
    def of(cls, hit: GoalHit) -> Self:
        return cls.model_validate(vars(hit) | {"goal": GoalAnswer.of(hit.goal)})


class SearchAnswer(ResponseModel):
    """Matches by the name of a team, goals by the name of the scorer; each list has its own next page."""

    fixtures: PageAnswer[FixtureAnswer]
    goals: PageAnswer[GoalHitAnswer]


class TeamAnswer(ResponseModel):
    team_id: int
    name: str
    country: str
    aliases: list[str]
    alias_source: str
    fetched_at: datetime | None
    followed: bool


class FollowBody(RequestBody):
    kind: FollowKind
    id: int = Field(ge=1, le=2**31 - 1, description="As API-Football numbers it.")
    name: str = Field("", max_length=100)


class FollowAnswer(ResponseModel):
    kind: FollowKind
    id: int
    name: str
    by_settings: bool


def fixture_page(page: Page[FixtureView]) -> PageAnswer[FixtureAnswer]:
    return PageAnswer(items=[FixtureAnswer.of(fixture) for fixture in page.items], after=page.after)


def goal_page(page: Page[GoalHit]) -> PageAnswer[GoalHitAnswer]:
    return PageAnswer(items=[GoalHitAnswer.of(hit) for hit in page.items], after=page.after)
