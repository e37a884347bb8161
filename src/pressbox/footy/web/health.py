"""What the status page says of matches: the fixtures API, and every clip source by its last canary search."""

from collections.abc import Awaitable, Callable, Sequence
from datetime import UTC, datetime, timedelta

from pressbox.core.app import Resources
from pressbox.core.health import HealthState, PartHealth
from pressbox.footy.domain.views import PollView, Readiness, SourceView
from pressbox.footy.web.access import MakeService

# Canaries sing every hour; after two that were missed nobody knows.
CANARY_LIFE = timedelta(hours=2, minutes=15)


def build_health(make: MakeService) -> Callable[[Resources], Awaitable[Sequence[PartHealth]]]:
    async def health(resources: Resources) -> Sequence[PartHealth]:
        service = make(resources)
        polls = await service.status.polls(1)
        sources = await service.status.sources()
        now = datetime.now(UTC)
        return (fixtures_part(service.status.ready(), polls), *(source_part(source, now) for source in sources))

    return health


def fixtures_part(readiness: Readiness, polls: Sequence[PollView]) -> PartHealth:
    """Without a key matches are simply not used here: that is said, and is no trouble."""
    if not readiness.ready:
        missing = readiness.missing[0]
        return PartHealth("fixtures", HealthState.OK, f"Not used: {missing.name} is not set.", missing.advice)
    if not polls:
        return PartHealth("fixtures", HealthState.OK, "No poll yet.")
    last = polls[0]
    if last.failed:
        detail = f"{last.failed} of {last.fixtures} fixtures were not answered in the last poll."
        fix = "The pages of those matches say why. Look at the key and its daily limit at api-football.com."
        return PartHealth("fixtures", HealthState.WARNING, detail, fix, since=last.started_at)
    return PartHealth("fixtures", HealthState.OK, f"{last.fixtures} fixtures in the last poll.", since=last.started_at)


def source_part(source: SourceView, now: datetime) -> PartHealth:
    name = f"clips: {source.source}"
    if source.failure:
        fix = f"See docs/footy.md for {source.source}. The other sources are searched all the same."
        return PartHealth(name, HealthState.WARNING, source.failure, fix, since=source.worked_at)
    if now - source.checked_at > CANARY_LIFE:
        detail = "Its canary search has not run for a while."
        return PartHealth(
            name, HealthState.WARNING, detail, "Look at the schedule footy-upkeep.", since=source.worked_at
        )
    return PartHealth(name, HealthState.OK, f"Its canary search found {source.found}.", since=source.worked_at)
