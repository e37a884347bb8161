"""What the status page says about matches: the fixtures API, and the last canary search of every clip source."""

from collections.abc import Sequence
from datetime import datetime, timedelta

from pressbox.core.app import Resources
from pressbox.core.clock import utc_now
from pressbox.core.health import HealthState, PartHealth
from pressbox.footy.adapters.polls import SqlPolls
from pressbox.footy.adapters.source_health import SqlSourceHealth
from pressbox.footy.domain.views import PollView, Readiness, SourceView
from pressbox.footy.readiness import check_readiness
from pressbox.footy.settings import FootySettings

# Canary searches run every hour; after two that were missed the last answer is too old.
CANARY_LIFE = timedelta(hours=2, minutes=15)


async def check_health(resources: Resources) -> Sequence[PartHealth]:
    polls = await SqlPolls(resources.database).load_recent(1)
    sources = await SqlSourceHealth(resources.database).load_all()
    readiness, now = check_readiness(resources.settings.group(FootySettings)), utc_now()
    return (fixtures_part(readiness, polls), *(source_part(source, now) for source in sources))


def fixtures_part(readiness: Readiness, polls: Sequence[PollView]) -> PartHealth:
    """Without a key, matches are not used on this installation, which is no problem."""
    if not readiness.ready:
        missing = readiness.missing[0]
        return PartHealth("fixtures", HealthState.OK, f"Not used: {missing.name} is not set.", missing.advice)
    if not polls:
        return PartHealth("fixtures", HealthState.OK, "No poll yet.")
    last = polls[0]
    if last.failed:
        detail = f"{last.failed} of {last.fixtures} fixtures got no answer in the last poll."
        fix = "The pages of those matches say why. Check the key and its daily limit at api-football.com."
        return PartHealth("fixtures", HealthState.WARNING, detail, fix, since=last.started_at)
    return PartHealth("fixtures", HealthState.OK, f"{last.fixtures} fixtures in the last poll.", since=last.started_at)


def source_part(source: SourceView, now: datetime) -> PartHealth:
    name = f"clips: {source.source}"
    if source.failure:
        fix = f"See docs/footy.md for {source.source}. The other sources are still searched."
        return PartHealth(name, HealthState.WARNING, source.failure, fix, since=source.worked_at)
    if now - source.checked_at > CANARY_LIFE:
        detail = "Its canary search has not run for a while."
        return PartHealth(name, HealthState.WARNING, detail, "Check the schedule footy-upkeep.", since=source.worked_at)
    return PartHealth(name, HealthState.OK, f"Its canary search found {source.found}.", since=source.worked_at)
