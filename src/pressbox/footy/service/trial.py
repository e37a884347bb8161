"""Asks every service of footy once, for somebody who has just set it up."""

from datetime import timedelta

from pressbox.core.app import Resources
from pressbox.core.clock import utc_now
from pressbox.core.errors import PressboxError
from pressbox.core.spending.wiring import till
from pressbox.footy.activities.search import SOURCE_TIME, search_all
from pressbox.footy.activities.upkeep import CANARY
from pressbox.footy.adapters.api_football import ApiFootball
from pressbox.footy.adapters.request_budgets import open_budget
from pressbox.footy.adapters.source_health import SqlSourceHealth
from pressbox.footy.adapters.sources.registry import configured_sources
from pressbox.footy.adapters.sources.x_turns import share_turns
from pressbox.footy.domain.errors import SourceError
from pressbox.footy.settings import FootySettings

# Less than a page waits for a test.
PATIENCE = timedelta(seconds=25)
NO_SOURCE = "no source is set up; docs/footy.md describes them"


async def try_services(resources: Resources) -> list[tuple[str, str]]:
    """Each service with the reason why it does not work, which is empty when it does."""
    settings = resources.settings.group(FootySettings)
    configured = configured_sources(settings, resources.http, till(resources))
    sources = share_turns(configured, resources.database, settings)
    _, answers = await search_all(sources, CANARY, SOURCE_TIME)
    await SqlSourceHealth(resources.database).record(answers, utc_now())
    found = [(answer.source, answer.failure) for answer in answers] or [("clips", NO_SOURCE)]
    return [("API-Football", await _test_fixtures(resources, settings)), *found]


async def try_source(resources: Resources, name: str) -> int:
    """Ask one source, and return how many posts it found; a failure is raised. Both are on the status page then."""
    settings = resources.settings.group(FootySettings).model_copy(update={"sources": (name,)})
    configured = configured_sources(settings, resources.http, till(resources))
    sources = share_turns(configured, resources.database, settings)
    _, (answer,) = await search_all(sources, CANARY, PATIENCE)
    await SqlSourceHealth(resources.database).record([answer], utc_now())
    if answer.failure:
        raise SourceError(answer.failure)
    return answer.found


async def _test_fixtures(resources: Resources, settings: FootySettings) -> str:
    try:
        await ApiFootball(resources.http, settings, open_budget(resources.database, settings)).fetch_status()
    except PressboxError as error:
        return error.message
    return ""
