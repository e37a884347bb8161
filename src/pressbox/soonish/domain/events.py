"""What an event is and what changed between two versions of it. Pure."""

from dataclasses import dataclass, fields
from datetime import datetime, timedelta
from enum import StrEnum

from pressbox.core.errors import InvalidInputError
from pressbox.core.texts import MAX_NAME_LENGTH, MAX_TEXT_LENGTH
from pressbox.delivery.domain.fitting import show_difference
from pressbox.soonish.domain.times import check_zone, format_time

# An event without an end is over after this time.
DEFAULT_LENGTH = timedelta(hours=4)


class EventStatus(StrEnum):
    DRAFT = "draft"
    ACTIVE = "active"
    CANCELLED = "cancelled"
    COMPLETED = "completed"

    @property
    def is_over(self) -> bool:
        return self in (EventStatus.CANCELLED, EventStatus.COMPLETED)


class Visibility(StrEnum):
    """PUBLIC opens for anyone with the address; LISTED also stands in the public agenda; PRIVATE needs an invitation.

    Whoever has an account here finds public events too.
    """

    PUBLIC = "public"
    LISTED = "listed"
    PRIVATE = "private"


OPEN_VISIBILITIES = (Visibility.PUBLIC, Visibility.LISTED)


def is_shown(status: str, visibility: str) -> bool:
    """Whether everybody with an account may see such an event."""
    return status != EventStatus.DRAFT and visibility in OPEN_VISIBILITIES


@dataclass(frozen=True)
class EventFacts:
    """What an organiser states. Times are UTC; `timezone` is the zone in which they are shown."""

    name: str
    start_date: datetime
    timezone: str
    description: str = ""
    end_date: datetime | None = None
    location: str = ""

    @property
    def ends_at(self) -> datetime:
        """When the event is over: its end, or four hours after its start."""
        return self.end_date or self.start_date + DEFAULT_LENGTH


@dataclass(frozen=True)
class FieldChange:
    """One line of an update message."""

    label: str
    old: str
    new: str

    def __str__(self) -> str:
        return f"{self.label}: {self.old or 'none'} → {self.new or 'none'}"


def validate(facts: EventFacts) -> EventFacts:
    """Return the facts with texts trimmed, or raise an error that names the field."""
    name = facts.name.strip()
    if not name:
        raise InvalidInputError("Give the event a name.", field="name")
    if len(name) > MAX_NAME_LENGTH:
        raise InvalidInputError(f"A name has at most {MAX_NAME_LENGTH} characters.", field="name")
    for field in ("description", "location"):
        if len(getattr(facts, field)) > MAX_TEXT_LENGTH:
            raise InvalidInputError(f"At most {MAX_TEXT_LENGTH} characters.", field=field)
    check_zone(facts.timezone)
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


def list_changes(old: EventFacts, new: EventFacts) -> tuple[FieldChange, ...]:
    """What people must be told, old → new, with times in the zone of the new version."""
    return tuple(
        FieldChange(
            _LABELS[name],
            *show_difference(_format_value(old, name, new.timezone), _format_value(new, name, new.timezone)),
        )
        for name in list_changed_fields(old, new)
    )


def list_changed_fields(old: EventFacts, new: EventFacts) -> tuple[str, ...]:
    return tuple(field.name for field in fields(EventFacts) if getattr(old, field.name) != getattr(new, field.name))


_LABELS = {
    "name": "Name",
    "start_date": "Start",
    "timezone": "Time zone",
    "description": "Description",
    "end_date": "End",
    "location": "Location",
}


def _format_value(facts: EventFacts, field: str, zone_name: str) -> str:
    value = getattr(facts, field)
    return format_time(value, zone_name) if isinstance(value, datetime) else str(value or "")
