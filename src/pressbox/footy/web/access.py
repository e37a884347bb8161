"""What the handlers of pages and API depend on: stores, settings, who is signed in, their time zone."""

from datetime import date, tzinfo
from typing import Annotated

from fastapi import Depends, Path, Request

from pressbox.core.clock import utc_now
from pressbox.core.live.feed import ChangeFeed
from pressbox.core.web.identity import AdministratorIdentity, MaybeIdentity, SignedInIdentity
from pressbox.core.web.pages.access import Parts
from pressbox.core.web.pages.spoilers import VisitorSight
from pressbox.core.web.times import ZONE_COOKIE, zone_of
from pressbox.footy.adapters.clip_files import ClipFiles
from pressbox.footy.adapters.follows import SqlFollows
from pressbox.footy.adapters.goal_reader import GoalReader
from pressbox.footy.adapters.match_reader import MatchReader
from pressbox.footy.adapters.request_budgets import SqlRequestBudget, open_budget
from pressbox.footy.service.following import Following, build_following
from pressbox.footy.settings import FootySettings

FixtureId = Annotated[int, Path(ge=1, le=2**63 - 1)]
EventId = Annotated[str, Path(max_length=100)]
ShareId = Annotated[str, Path(max_length=100)]

Reader = SignedInIdentity
Visitor = MaybeIdentity
Administrator = AdministratorIdentity


def _matches(parts: Parts, sight: VisitorSight) -> MatchReader:
    return MatchReader(parts.database, sight)


def _goals(parts: Parts, sight: VisitorSight) -> GoalReader:
    return GoalReader(parts.database, sight)


def _clip_files(parts: Parts, sight: VisitorSight) -> ClipFiles:
    return ClipFiles(parts.database, sight)


def _follows(parts: Parts) -> SqlFollows:
    return SqlFollows(parts.database, parts.settings.group(FootySettings).followed)


def _following(parts: Parts) -> Following:
    return build_following(parts)


def _settings(parts: Parts) -> FootySettings:
    return parts.settings.group(FootySettings)


def _budget(parts: Parts) -> SqlRequestBudget:
    return open_budget(parts.database, parts.settings.group(FootySettings))


Budget = Annotated[SqlRequestBudget, Depends(_budget)]
Matches = Annotated[MatchReader, Depends(_matches)]
Goals = Annotated[GoalReader, Depends(_goals)]
Clips = Annotated[ClipFiles, Depends(_clip_files)]
Follows = Annotated[SqlFollows, Depends(_follows)]
Teams = Annotated[Following, Depends(_following)]
OurSettings = Annotated[FootySettings, Depends(_settings)]


def zone(request: Request) -> tzinfo:
    return zone_of(request.cookies.get(ZONE_COOKIE))


def today(request: Request) -> date:
    return utc_now().astimezone(zone(request)).date()


async def cursor(request: Request) -> int:
    """The position from which a page follows changes. Read it before the data, so that no change is missed."""
    feed: ChangeFeed = request.app.state.feed
    return await feed.newest()
