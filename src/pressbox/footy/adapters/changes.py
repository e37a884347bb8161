"""Publishes to browsers what changed: a topic and a key, never the content."""

from datetime import UTC, datetime

from pressbox.core.db.database import UnitOfWork
from pressbox.footy.ids import DAY_TOPIC, FIXTURE_TOPIC, GOAL_TOPIC


def publish_fixture(work: UnitOfWork, fixture_id: int, *kickoffs: datetime) -> None:
    """A change of a fixture is one of its day as well; with a new date, of both days."""
    work.changed(FIXTURE_TOPIC, str(fixture_id))
    for kickoff in kickoffs:
        work.changed(DAY_TOPIC, kickoff.astimezone(UTC).date().isoformat())


def publish_goal(work: UnitOfWork, event_id: str, fixture_id: int | None = None) -> None:
    """With `fixture_id` the page of the match changes as well."""
    work.changed(GOAL_TOPIC, event_id)
    if fixture_id is not None:
        work.changed(FIXTURE_TOPIC, str(fixture_id))
