"""The forms of events as browsers send them, and their translation into the inputs of the service."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cache
from typing import Annotated
from zoneinfo import available_timezones

from fastapi import Form

from pressbox.core.errors import InvalidInputError
from pressbox.soonish.domain.delivery import Level
from pressbox.soonish.domain.events import Visibility
from pressbox.soonish.domain.reminders import DEFAULT_OFFSETS, MAX_OFFSET
from pressbox.soonish.domain.times import load_zone
from pressbox.soonish.domain.views import EventView
from pressbox.soonish.service.inputs import Announcement, EventInput, Preferences

Text = Annotated[str, Form()]
Numbers = Annotated[list[int] | None, Form()]
Texts = Annotated[list[str] | None, Form()]

OFFERED_OFFSETS = (86_400, 3_600, 1_800)
UNITS = (60, 3_600, 86_400)
LOCAL_TIME = "%Y-%m-%dT%H:%M"

# People know the names with a continent; the rest are abbreviations and relics.
_CONTINENTS = ("Africa", "America", "Antarctica", "Asia", "Atlantic", "Australia", "Europe", "Indian", "Pacific")


@cache
def offered_zones() -> tuple[str, ...]:
    return ("UTC", *sorted(name for name in available_timezones() if name.startswith(_CONTINENTS)))


@dataclass(frozen=True)
class EventForm:
    """The event form. It also holds invalid values, so that nothing typed is lost when it is shown again."""

    name: Text = ""
    start_date: Text = ""
    end_date: Text = ""
    timezone: Text = ""
    location: Text = ""
    description: Text = ""
    visibility: Text = Visibility.PUBLIC.value
    draft: Text = ""

    @property
    def timezone_chosen(self) -> bool:
        return bool(self.name or self.start_date)

    def to_input(self) -> EventInput:
        start = parse_local_time(self.start_date, "start_date")
        if start is None:
            raise InvalidInputError("Say when it starts.", field="start_date")
        try:
            visibility = Visibility(self.visibility)
        except ValueError as error:
            raise InvalidInputError("Choose who may see it.", field="visibility") from error
        return EventInput(
            name=self.name,
            start_date=start,
            timezone=self.timezone,
            end_date=parse_local_time(self.end_date, "end_date"),
            description=self.description,
            location=self.location,
            visibility=visibility,
            draft=bool(self.draft),
        )

    @classmethod
    def of(cls, event: EventView) -> "EventForm":
        zone = load_zone(event.timezone)
        return cls(
            name=event.name,
            start_date=event.start_date.astimezone(zone).strftime(LOCAL_TIME),
            end_date=event.end_date.astimezone(zone).strftime(LOCAL_TIME) if event.end_date else "",
            timezone=event.timezone,
            location=event.location,
            description=event.description,
            visibility=event.visibility.value,
        )


def parse_local_time(text: str, field: str) -> datetime | None:
    """Read a time from `<input type="datetime-local">`, which has no zone: it is in the zone of the event."""
    if not text.strip():
        return None
    try:
        return datetime.fromisoformat(text.strip())
    except ValueError as error:
        raise InvalidInputError("This is not a date with a time, such as 2026-11-21T19:30.", field=field) from error


@dataclass(frozen=True)
class OffsetsForm:
    """Reminders: the offered ones that were chosen, and one typed by hand."""

    offset: Numbers = None
    own_amount: Text = ""
    own_unit: Annotated[int, Form()] = 60

    def to_offsets(self) -> tuple[timedelta, ...]:
        chosen = tuple(timedelta(seconds=seconds) for seconds in self.offset or ())
        if not self.own_amount.strip():
            return chosen
        return (*chosen, parse_duration(self.own_amount, self.own_unit, field="offsets"))


def parse_duration(amount: str, unit: int, field: str) -> timedelta:
    """Read a time such as 25 minutes: the number as typed, and the seconds of its unit."""
    text = amount.strip()
    longest = int(MAX_OFFSET.total_seconds())
    if unit not in UNITS or not text.isascii() or not text.isdigit() or int(text[:9]) * unit > longest:
        raise InvalidInputError("Give a whole number of minutes, hours or days, up to 365 days.", field=field)
    return timedelta(seconds=int(text[:9]) * unit)


def offset_choices(chosen: Iterable[int]) -> Sequence[int]:
    """The offsets to offer: the usual ones and those that this person has chosen, largest first."""
    return sorted({*OFFERED_OFFSETS, *chosen}, reverse=True)


def offset_seconds(offsets: Iterable[timedelta] | None) -> tuple[int, ...]:
    return tuple(int(offset.total_seconds()) for offset in (DEFAULT_OFFSETS if offsets is None else offsets))


@dataclass(frozen=True)
class PreferencesForm:
    """How somebody wants to be told about an event."""

    channel: Numbers = None
    tag: Texts = None
    offset: Numbers = None
    own_amount: Text = ""
    own_unit: Annotated[int, Form()] = 60

    def to_input(self) -> Preferences:
        offsets = OffsetsForm(self.offset, self.own_amount, self.own_unit).to_offsets()
        return Preferences(tuple(self.channel or ()), tuple(self.tag or ()), offsets)


@dataclass(frozen=True)
class AnnouncementForm:
    """The form of an announcement on the board."""

    title: Text = ""
    text: Text = ""
    level: Text = Level.INFO.value
    to: Text = "all"
    subscription: Numbers = None
    key: Text = ""

    @property
    def subscription_ids(self) -> tuple[int, ...]:
        return tuple(self.subscription or ())

    @property
    def recipients(self) -> tuple[int, ...] | None:
        return self.subscription_ids if self.to == "some" else None

    def to_input(self) -> Announcement:
        try:
            level = Level(self.level)
        except ValueError as error:
            raise InvalidInputError("Choose how important it is.", field="level") from error
        return Announcement(
            text=self.text,
            title=self.title,
            level=level,
            subscription_ids=self.recipients,
            request_key=self.key or None,
        )


def split_tags(text: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in text.split(",") if part.strip())
