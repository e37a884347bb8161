"""One goal: what people see of it, and the whole trail behind it."""

from datetime import date

from pressbox.core.errors import GoneError
from pressbox.footy.domain.trail_summary import Trail, summary
from pressbox.footy.domain.views import AuditView, CandidateView, GoalHit, GoalView, Page
from pressbox.footy.service.stores import MatchStore, TrailStore

MOST_LISTED = 500
DISALLOWED = "disallowed"


class GoalService:
    def __init__(self, trail: TrailStore, matches: MatchStore, runs_to_confirm: int) -> None:
        self._trail = trail
        self._matches = matches
        self._runs_to_confirm = runs_to_confirm

    async def get(self, event_id: str) -> GoalView:
        """A removed goal is a GoneError that says so, never "no such goal"."""
        goal = await self._trail.goal(event_id)
        if goal.removed_at is not None:
            raise GoneError(DISALLOWED, event_id=event_id)
        return goal

    async def all(self, day: date | None = None, *, after: int = 0, limit: int = 50) -> Page[GoalHit]:
        """Newest first, removed ones too; `after` counts those already shown."""
        return await self._trail.goals(day, after, min(limit, MOST_LISTED))

    async def audit(self, event_id: str, *, limit: int = 100) -> AuditView:
        """Everything that is known of a goal, removed or not, with the first candidates."""
        goal = await self._trail.goal(event_id)
        outcomes = tuple(await self._trail.outcomes(event_id))
        searches = tuple(await self._trail.searches(event_id))
        sightings = tuple(await self._trail.runs(event_id, "monitor"))
        downloads = tuple(await self._trail.runs(event_id, "download"))
        ended, ended_at = await self._trail.search_end(event_id)
        told = summary(Trail(goal, outcomes, searches, len(sightings), self._runs_to_confirm, downloads, ended))
        return AuditView(
            goal=goal,
            fixture=await self._matches.fixture(goal.fixture_id),
            summary=told,
            outcomes=outcomes,
            search_ended=ended,
            search_ended_at=ended_at,
            sightings=sightings,
            misses=tuple(await self._trail.runs(event_id, "drop")),
            downloads=downloads,
            notes=tuple(await self._trail.notes(event_id)),
            searches=searches,
            candidates=await self.candidates(event_id, limit=limit),
        )

    async def candidates(self, event_id: str, *, after: int = 0, limit: int = 100) -> Page[CandidateView]:
        """In the order found; `after` is the last id of the page before."""
        return await self._trail.candidates(event_id, after, min(limit, MOST_LISTED))
