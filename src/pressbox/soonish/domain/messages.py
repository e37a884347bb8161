"""The texts of messages: plain text, because every channel can show it. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from pressbox.soonish.domain.events import EventFacts, FieldChange
from pressbox.soonish.domain.reminders import describe_start
from pressbox.soonish.domain.times import format_time, load_zone

# Why an event that the instance keeps does not take place: title and first sentence of the message.
POSTPONED, CALLED_OFF = "postponed", "called off"
REASONS = {
    POSTPONED: ("Postponed: %(name)s", "It is postponed. You are told as soon as there is a new date."),
    CALLED_OFF: ("Called off: %(name)s", "It does not take place."),
}
NEW_DATE = ("New date: %(name)s", "It takes place after all.")


@dataclass(frozen=True)
class MessageText:
    title: str
    body: str


def write_creation(event: EventFacts) -> MessageText:
    return MessageText(f"Event created: {event.name}", f"Your event is active.\n\n{_where_and_when(event)}")


def write_update(event: EventFacts, changes: Sequence[FieldChange]) -> MessageText:
    lines = "\n".join(f"• {change}" for change in changes)
    return MessageText(f"Event update: {event.name}", f"These details have changed:\n{lines}")


def write_cancellation(event: EventFacts, reason: str = "") -> MessageText:
    """`reason` is one of REASONS, for an event that has no organiser."""
    if reason:
        title, opening = REASONS[reason]
        return MessageText(title % {"name": event.name}, f"{opening}\n\n{_where_and_when(event)}")
    return MessageText(
        f"Event cancelled: {event.name}", f"The organiser has cancelled this event.\n\n{_where_and_when(event)}"
    )


def write_new_date(event: EventFacts) -> MessageText:
    """Of an event that has no organiser, and takes place after all."""
    title, opening = NEW_DATE
    return MessageText(title % {"name": event.name}, f"{opening}\n\n{_where_and_when(event)}")


def write_reopening(event: EventFacts) -> MessageText:
    return MessageText(
        f"Event takes place after all: {event.name}",
        f"The organiser has taken back the cancellation.\n\n{_where_and_when(event)}",
    )


def write_reminder(event: EventFacts, offset: timedelta, now: datetime) -> MessageText:
    sentence = f"{event.name} {describe_start(offset, event.start_date, now, load_zone(event.timezone))}"
    return MessageText(sentence, f"{sentence}.\n\n{_where_and_when(event)}")


def write_requested_reminder(event: EventFacts) -> MessageText:
    return MessageText(f"Reminder: {event.name}", f"You asked to be reminded.\n\n{_where_and_when(event)}")


def write_new_event(name: str, organiser: str, start: datetime, zone: str, location: str) -> MessageText:
    """For those who follow the organiser. Its body is one line that reads the same in every language."""
    title = f"New event by {organiser}: {name}" if organiser else f"New event: {name}"
    when = f"{start.astimezone(load_zone(zone)):%Y-%m-%d, %H:%M} ({zone})"
    return MessageText(title, f"{when} · {location}" if location else when)


def _where_and_when(event: EventFacts) -> str:
    lines = [f"When: {format_time(event.start_date, event.timezone)}"]
    if event.location:
        lines.append(f"Where: {event.location}")
    return "\n".join(lines)
