"""Teams, their names, and what is followed."""

from collections.abc import Sequence

from pressbox.core.errors import InvalidInputError
from pressbox.core.logs import get_logger
from pressbox.footy.domain.views import FollowKind, FollowView, Page, TeamView
from pressbox.footy.ports.workflows import Workflows
from pressbox.footy.service.stores import FollowStore

log = get_logger(__name__)

MOST_LISTED = 500


class TeamService:
    """Who may change what is followed (administrators) is decided where the request comes in."""

    def __init__(self, follows: FollowStore, workflows: Workflows) -> None:
        self._follows = follows
        self._workflows = workflows

    async def teams(self, query: str = "", *, after: int = 0, limit: int = 50) -> Page[TeamView]:
        """Teams that we met in a fixture, by id; with a query those whose name or alias has all its words."""
        return await self._follows.teams(query.split(), after, min(limit, MOST_LISTED))

    async def team(self, team_id: int) -> TeamView:
        return await self._follows.team_view(team_id)

    async def refresh_aliases(self, team_id: int) -> str:
        """Look for the names of a team anew; the id of the workflow that does it."""
        await self._follows.team_view(team_id)
        return await self._workflows.refresh_aliases(team_id)

    async def follows(self) -> Sequence[FollowView]:
        return await self._follows.follows()

    async def follow(self, kind: FollowKind, number: int, name: str = "") -> Sequence[FollowView]:
        """From the next ingest on; what is followed afterwards."""
        if number < 1:
            raise InvalidInputError("The id of a league or team is a number from 1 on.", field="id")
        await self._follows.set_follow(kind, number, name.strip(), wanted=True)
        log.info("followed", msg=f"A {kind} is followed", kind=kind, id=number)
        return await self._follows.follows()

    async def unfollow(self, kind: FollowKind, number: int) -> Sequence[FollowView]:
        """Fixtures that are stored already stay; what is followed afterwards."""
        await self._follows.set_follow(kind, number, "", wanted=False)
        log.info("unfollowed", msg=f"A {kind} is no longer followed", kind=kind, id=number)
        return await self._follows.follows()
