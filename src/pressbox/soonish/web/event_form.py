"""The form of an event as browsers send it: local times without a zone, and the version that was shown."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cache
from zoneinfo import available_timezones

from pressbox.core.errors import InvalidInputError
from pressbox.soonish.domain.calendar_files import CalendarEntry
from pressbox.soonish.domain.events import Visibility
from pressbox.soonish.domain.times import comes_twice, load_zone
from pressbox.soonish.domain.views import EventView
from pressbox.soonish.service.inputs import EventInput
from pressbox.soonish.web.forms import Text, make_request_key

# People know the names with a continent; the rest are abbreviations and relics.
_CONTINENTS = ("Africa", "America", "Antarctica", "Asia", "Atlantic", "Australia", "Europe", "Indian", "Pacific")
_STATED = ("name", "start_date", "end_date", "timezone", "location", "description", "visibility")
# Times mean nothing without their zone, so whoever touched one of these means all of them.
_TIMES = ("start_date", "start_second", "end_date", "end_second", "timezone")
_FILLED = ("name", "start_date", "start_second", "end_date", "end_second", "timezone", "location", "description")


@cache
def offered_zones() -> tuple[str, ...]:
    return ("UTC", *sorted(name for name in available_timezones() if name.startswith(_CONTINENTS)))


@dataclass(frozen=True)
class Difference:
    """A field of which the saved value is not the one in the form."""

    field: str
    saved: str
    stated: str


@dataclass(frozen=True)
class FileNotes:
    """What a calendar file says of an event that an event here cannot be. People are told, nothing is saved."""

    all_day: Text = ""
    repeats: Text = ""

    @classmethod
    def of(cls, entry: CalendarEntry) -> "FileNotes":
        return cls("1" if entry.all_day else "", "1" if entry.repeats else "")


@dataclass(frozen=True)
class EventForm:
    """The event form. It also holds invalid values, so that nothing typed is lost when it is shown again.

    `start_second` and `end_second` repeat a time that the clocks show twice when the second one is meant; after the
    time was changed they no longer match and mean nothing.
    """

    name: Text = ""
    start_date: Text = ""
    start_second: Text = ""
    end_date: Text = ""
    end_second: Text = ""
    timezone: Text = ""
    location: Text = ""
    description: Text = ""
    visibility: Text = Visibility.PUBLIC.value
    draft: Text = ""
    key: Text = ""
    version: Text = ""

    @property
    def timezone_chosen(self) -> bool:
        return bool(self.name or self.start_date)

    @property
    def opened_version(self) -> int | None:
        """The version that was shown. No event has one of so many digits: one that is cut is still none."""
        return int(self.version[:18]) if self.version.isascii() and self.version.isdigit() else None

    @property
    def start_comes_twice(self) -> bool:
        return _comes_twice(self.start_date, self.timezone)

    @property
    def end_comes_twice(self) -> bool:
        return _comes_twice(self.end_date, self.timezone)

    def to_input(self, edited: EventView | None = None) -> EventInput:
        """What the form states. A time that was not touched stays exactly the one of the edited event."""
        start = parse_local_time(self.start_date, "start_date", is_second=self.start_second == self.start_date)
        if start is None:
            raise InvalidInputError("Say when it starts.", field="start_date")
        end = parse_local_time(self.end_date, "end_date", is_second=self.end_second == self.end_date)
        try:
            visibility = Visibility(self.visibility)
        except ValueError as error:
            raise InvalidInputError("Choose who may see it.", field="visibility") from error
        shown = EventForm.of(edited) if edited else None
        if edited and shown and shown.timezone == self.timezone:
            if (shown.start_date, shown.start_second) == (self.start_date, self.start_second):
                start = edited.start_date
            if (shown.end_date, shown.end_second) == (self.end_date, self.end_second):
                end = edited.end_date
        return EventInput(
            name=self.name,
            start_date=start,
            timezone=self.timezone,
            end_date=end,
            description=self.description,
            location=self.location,
            visibility=visibility,
            draft=bool(self.draft),
            request_key=make_request_key(self.key, self.draft, *(getattr(self, name) for name in _STATED)),
            version=self.opened_version,
        )

    def fields_of_file(self) -> Mapping[str, str]:
        """What a calendar file fills in, for a page that offers several events of one."""
        return {name: getattr(self, name) for name in _FILLED if getattr(self, name)}

    def with_saved(self, opened: "EventForm", saved: "EventForm") -> "EventForm":
        """This form, saying what is saved by now in every field that nobody touched since it was opened."""
        groups = (_TIMES, *((name,) for name in _FILLED if name not in _TIMES))
        untouched = [name for group in groups if all(self._says_in(name, opened) for name in group) for name in group]
        return replace(self, **{name: getattr(saved, name) for name in untouched})

    def _says_in(self, name: str, other: "EventForm") -> bool:
        return _plain(getattr(self, name)) == _plain(getattr(other, name))

    def list_differences(self, saved: EventView) -> Sequence[Difference]:
        """Where this form and what is saved by now say something else."""
        shown = EventForm.of(saved)
        return [
            Difference(name, _say(name, getattr(shown, name)), _say(name, getattr(self, name)))
            for name in _STATED
            if not self._says_in(name, shown)
        ]

    @classmethod
    def of(cls, event: EventView) -> "EventForm":
        start, start_second = _to_local(event.start_date, event.timezone)
        end, end_second = _to_local(event.end_date, event.timezone) if event.end_date else ("", "")
        return cls(
            name=event.name,
            start_date=start,
            start_second=start_second,
            end_date=end,
            end_second=end_second,
            timezone=event.timezone,
            location=event.location,
            description=event.description,
            visibility=event.visibility.value,
            version=str(event.version),
        )

    @classmethod
    def from_calendar(cls, entry: CalendarEntry) -> "EventForm":
        """A new event, filled from a file; nothing is saved yet."""
        start, start_second = _to_local(entry.start, entry.timezone)
        end, end_second = _to_local(entry.end, entry.timezone) if entry.end else ("", "")
        return cls(
            name=entry.name,
            start_date=start,
            start_second=start_second,
            end_date=end,
            end_second=end_second,
            timezone=entry.timezone,
            location=entry.location,
            description=entry.description,
        )


def parse_local_time(text: str, field: str, *, is_second: bool = False) -> datetime | None:
    """Read a time from `<input type="datetime-local">`, which has no zone: it is in the zone of the event."""
    if not text.strip():
        return None
    try:
        return datetime.fromisoformat(text.strip()).replace(fold=int(is_second))
    except ValueError as error:
        raise InvalidInputError("This is not a date with a time, such as 2026-11-21T19:30.", field=field) from error


def _to_local(moment: datetime, zone_name: str) -> tuple[str, str]:
    """A time as the form shows it, and the same again if it is the second of two."""
    local = moment.astimezone(load_zone(zone_name))
    text = local.strftime("%Y-%m-%dT%H:%M:%S" if local.second else "%Y-%m-%dT%H:%M")
    return text, text if local.fold and comes_twice(local) else ""


def _comes_twice(text: str, zone_name: str) -> bool:
    try:
        local = parse_local_time(text, "start_date")
        return local is not None and comes_twice(local.replace(tzinfo=load_zone(zone_name)))
    except (InvalidInputError, OverflowError):
        return False


def _say(name: str, value: str) -> str:
    return value.replace("T", " ") if name in ("start_date", "end_date") else value


def _plain(text: str) -> str:
    """Browsers send line breaks of their own."""
    return text.replace("\r\n", "\n").strip()
