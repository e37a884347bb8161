"""What messages say. Pure; plain text, because every channel can show it."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta

from pressbox.soonish.domain.events import EventFacts, FieldChange
from pressbox.soonish.domain.reminders import starts_text
from pressbox.soonish.domain.times import spoken


@dataclass(frozen=True)
class MessageText:
    title: str
    body: str


def created(event: EventFacts) -> MessageText:
    return MessageText(f"Event created: {event.name}", f"Your event is active.\n\n{_where_and_when(event)}")


def updated(event: EventFacts, changed: Sequence[FieldChange]) -> MessageText:
    lines = "\n".join(f"• {change}" for change in changed)
    return MessageText(f"Event update: {event.name}", f"These details have changed:\n{lines}")


def cancelled(event: EventFacts) -> MessageText:
    return MessageText(
        f"Event cancelled: {event.name}", f"The organiser has cancelled this event.\n\n{_where_and_when(event)}"
    )


def reminder(event: EventFacts, offset: timedelta) -> MessageText:
    starts = starts_text(offset)
    return MessageText(f"{event.name} {starts}", f"{event.name} {starts}.\n\n{_where_and_when(event)}")


def asked_reminder(event: EventFacts) -> MessageText:
    return MessageText(f"Reminder: {event.name}", f"You asked to be reminded.\n\n{_where_and_when(event)}")


def channel_broken(name: str, reason: str) -> MessageText:
    why = f"\n\nWhat it said last: {reason}" if reason else ""
    return MessageText(
        f"Your channel {name} does not work",
        f"Several messages in a row could not be delivered over {name}, so it is no longer used.{why}\n\n"
        "Give it a new address on the page of your channels.",
    )


def _where_and_when(event: EventFacts) -> str:
    lines = [f"When: {spoken(event.start_date, event.timezone)}"]
    if event.location:
        lines.append(f"Where: {event.location}")
    return "\n".join(lines)
