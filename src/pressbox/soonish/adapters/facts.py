"""Events as rows and as facts."""

from typing import Any

from pydantic import TypeAdapter

from pressbox.soonish.adapters.rows import EventRow
from pressbox.soonish.domain.events import EventFacts

_FACTS = TypeAdapter(EventFacts)


def facts_of(row: EventRow) -> EventFacts:
    return EventFacts(
        name=row.name,
        start_date=row.start_date,
        timezone=row.timezone,
        description=row.description,
        end_date=row.end_date,
        location=row.location,
    )


def put_facts(row: EventRow, facts: EventFacts) -> None:
    row.name, row.description, row.location = facts.name, facts.description, facts.location
    row.start_date, row.end_date, row.timezone = facts.start_date, facts.end_date, facts.timezone


def to_stored(facts: EventFacts) -> dict[str, Any]:
    stored: dict[str, Any] = _FACTS.dump_python(facts, mode="json")
    return stored


def from_stored(stored: dict[str, Any]) -> EventFacts:
    return _FACTS.validate_python(stored)
