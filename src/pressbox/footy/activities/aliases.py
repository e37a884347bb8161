"""Activities of RAGWorkflow: find and cache the names under which people write about a team.

An outage raises; it is never cached as "no aliases".
"""

from temporalio import activity

from pressbox.core.clock import Clock, utc_now
from pressbox.core.temporal.calls import call_with
from pressbox.footy.activities.limits import limits
from pressbox.footy.contracts.aliases import TeamAliases, TeamReference
from pressbox.footy.domain.team_names import derive_aliases
from pressbox.footy.ports.outside import AliasSource
from pressbox.footy.ports.storage import TeamStore


class AliasActivities:
    def __init__(self, teams: TeamStore, source: AliasSource, now: Clock = utc_now) -> None:
        self._teams = teams
        self._source = source
        self._now = now

    @activity.defn
    @call_with(limits(30, attempts=3, first_pause=2))
    async def get_cached_team_aliases(self, input: TeamReference) -> TeamAliases:
        return await self._teams.load_aliases(input.team_id, input.policy.alias_age, self._now())

    @activity.defn
    @call_with(limits(60, attempts=2))
    async def get_team_aliases(self, input: TeamReference) -> TeamAliases:
        team = await self._teams.load_team(input.team_id)
        found = await self._source.find_aliases(team)
        # Nobody types the whole name of a team, also of one that no catalogue has.
        names = found.names or derive_aliases(team.name, team.country)
        return TeamAliases(
            team_id=team.team_id, team_name=team.name, aliases=names, source=found.source, fetched_at=self._now()
        )

    @activity.defn
    @call_with(limits(10, attempts=2))
    async def save_team_aliases(self, input: TeamAliases) -> None:
        await self._teams.save_aliases(input.team_id, input.aliases, input.source, self._now())
