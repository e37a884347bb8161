"""What an event is and what changed between two versions of it. Pure."""

from dataclasses import dataclass, fields
from datetime import datetime, timedelta
from enum import StrEnum

from pressbox.core.errors import InvalidInputError
from pressbox.soonish.domain.times import spoken, zone

OPEN_ENDED = timedelta(hours=4)
LONGEST_NAME = 200
LONGEST_TEXT = 10_000


class EventStatus(StrEnum):
    DRAFT = "draft"
    ACTIVE = "active"
    CANCELLED = "cancelled"
    COMPLETED = "completed"

    @property
    def over(self) -> bool:
        return self in (EventStatus.CANCELLED, EventStatus.COMPLETED)


class Visibility(StrEnum):
    PUBLIC = "public"
    PRIVATE = "private"


@dataclass(frozen=True)
class EventFacts:
    """What an organiser states. Times are UTC; `timezone` is the zone in which people speak of them."""

    name: str
    start_date: datetime
    timezone: str
    description: str = ""
    end_date: datetime | None = None
    location: str = ""

    @property
    def ends_at(self) -> datetime:
        """When the event is over: its end, or four hours after its start."""
        return self.end_date or self.start_date + OPEN_ENDED


@dataclass(frozen=True)
class FieldChange:
    """One line of an update message, in words for people."""

    label: str
    old: str
    new: str

    def __str__(self) -> str:
        return f"{self.label}: {self.old or 'none'} → {self.new or 'none'}"


def validated(facts: EventFacts) -> EventFacts:
    """The same facts, or an error that names the field."""
    name = facts.name.strip()
    if not name:
        raise InvalidInputError("Give the event a name.", field="name")
    if len(name) > LONGEST_NAME:
        raise InvalidInputError(f"A name has at most {LONGEST_NAME} characters.", field="name")
    for field in ("description", "location"):
        if len(getattr(facts, field)) > LONGEST_TEXT:
            raise InvalidInputError(f"At most {LONGEST_TEXT} characters.", field=field)
    zone(facts.timezone)
    if facts.end_date is not None and facts.end_date <= facts.start_date:
        raise InvalidInputError("The end must be after the start.", field="end_date")
    return EventFacts(
        name=name,
        start_date=facts.start_date,
        timezone=facts.timezone,
        description=facts.description.strip(),
        end_date=facts.end_date,
        location=facts.location.strip(),
    )


def changes(old: EventFacts, new: EventFacts) -> tuple[FieldChange, ...]:
    """What people must hear of, old → new, in the new version's zone; nothing when nothing changed."""
    return tuple(
        FieldChange(_LABELS[field.name], _shown(old, field.name, new.timezone), _shown(new, field.name, new.timezone))
        for field in fields(EventFacts)
        if getattr(old, field.name) != getattr(new, field.name)
    )


_LABELS = {
    "name": "Name",
    "start_date": "Start",
    "timezone": "Time zone",
    "description": "Description",
    "end_date": "End",
    "location": "Location",
}


def _shown(facts: EventFacts, field: str, zone_name: str) -> str:
    value = getattr(facts, field)
    return spoken(value, zone_name) if isinstance(value, datetime) else str(value or "")
