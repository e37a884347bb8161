"""What the use cases read and change. A method of a store is one transaction."""

from collections.abc import Sequence
from datetime import date, datetime
from typing import Protocol

from pressbox.footy.domain.views import (
    CandidateView,
    ClipFileView,
    DayView,
    FixtureView,
    FollowKind,
    FollowView,
    GoalHit,
    GoalView,
    NoteView,
    OutcomeCount,
    Page,
    PollView,
    RunView,
    SearchView,
    SourceView,
    TeamView,
)


class MatchStore(Protocol):
    """Removed goals are in no listing."""

    async def days(self, first: date, last: date) -> Sequence[DayView]: ...

    async def fixtures(self, day: date, after: int | None, limit: int) -> Page[FixtureView]:
        """In the order of competition, kick-off and id; `after` is the last fixture of the page before."""
        ...

    async def fixture(self, fixture_id: int) -> FixtureView: ...

    async def search_fixtures(self, words: Sequence[str], after: int | None, limit: int) -> Page[FixtureView]:
        """Fixtures of teams whose name or alias has all words, newest first."""
        ...

    async def search_goals(self, words: Sequence[str], after: int, limit: int) -> Page[GoalHit]:
        """Goals of players whose name has all words, newest first; `after` counts those already shown."""
        ...


class TrailStore(Protocol):
    """One goal and everything that happened to it."""

    async def goal(self, event_id: str) -> GoalView:
        """Also a removed one: whoever asks decides what to say."""
        ...

    async def goals(self, day: date | None, after: int, limit: int) -> Page[GoalHit]: ...

    async def runs(self, event_id: str, register: str) -> Sequence[RunView]: ...

    async def notes(self, event_id: str) -> Sequence[NoteView]: ...

    async def searches(self, event_id: str) -> Sequence[SearchView]: ...

    async def search_end(self, event_id: str) -> tuple[str, datetime | None]: ...

    async def candidates(self, event_id: str, after: int, limit: int) -> Page[CandidateView]: ...

    async def outcomes(self, event_id: str) -> Sequence[OutcomeCount]: ...


class FollowStore(Protocol):
    async def teams(self, words: Sequence[str], after: int, limit: int) -> Page[TeamView]: ...

    async def team_view(self, team_id: int) -> TeamView: ...

    async def follows(self) -> Sequence[FollowView]: ...

    async def set_follow(self, kind: FollowKind, number: int, name: str, wanted: bool) -> None: ...


class ClipFileStore(Protocol):
    async def file(self, share_id: str) -> ClipFileView:
        """NotFoundError for an unknown one, GoneError for one of a removed goal."""
        ...


class StatusStore(Protocol):
    async def sources(self) -> Sequence[SourceView]: ...

    async def polls(self, limit: int) -> Sequence[PollView]: ...
