"""All use cases of footy, as pages, REST and commands get them: `wiring.service(resources)` makes one."""

from dataclasses import dataclass

from pressbox.footy.service.clips import ClipService
from pressbox.footy.service.goals import GoalService
from pressbox.footy.service.matches import MatchService
from pressbox.footy.service.status import StatusService
from pressbox.footy.service.teams import TeamService


@dataclass(frozen=True)
class Footy:
    matches: MatchService
    goals: GoalService
    clips: ClipService
    teams: TeamService
    status: StatusService
