"""Calendar feeds in the format of RFC 5545: the UID never changes, and SEQUENCE rises with every change."""

from collections.abc import Iterable
from datetime import timedelta

from fastapi import Request, Response
from icalendar import Calendar, Event

from pressbox.core.texts import drop_controls
from pressbox.soonish.domain.events import OPEN_VISIBILITIES, EventStatus
from pressbox.soonish.domain.views import EventView
from pressbox.soonish.ids import PATH
from pressbox.soonish.web.access import base_url

CALENDAR_NAME = "Pressbox"
MEDIA_TYPE = "text/calendar; charset=utf-8"
# How often calendar programs should load the feed again.
REFRESH = timedelta(hours=1)


def build_calendar(name: str, events: Iterable[EventView], base_url: str) -> bytes:
    calendar = Calendar()
    calendar.add("prodid", "-//Pressbox//Events//EN")
    calendar.add("version", "2.0")
    calendar.add("method", "PUBLISH")
    calendar.add("x-wr-calname", _to_line(name))
    calendar.add("refresh-interval", REFRESH, parameters={"VALUE": "DURATION"})
    for event in events:
        calendar.add_component(_build_event(event, base_url))
    return bytes(calendar.to_ical())


def calendar_response(name: str, events: Iterable[EventView], base_url: str) -> Response:
    headers = {"Content-Disposition": 'inline; filename="events.ics"', "Cache-Control": "private, max-age=300"}
    return Response(build_calendar(name, events, base_url), media_type=MEDIA_TYPE, headers=headers)


def to_webcal(url: str) -> str:
    """The address with which programs subscribe to a calendar instead of importing a copy."""
    return f"webcal://{url.partition('://')[2]}"


def find_webcal(request: Request, event: EventView) -> str | None:
    """None for a private event: a calendar program cannot sign in. It is in everybody's own calendar."""
    if event.visibility not in OPEN_VISIBILITIES:
        return None
    return to_webcal(f"{base_url(request)}{PATH}/{event.slug}/calendar.ics")


def _build_event(event: EventView, base_url: str) -> Event:
    # Times are UTC: every program shows them in the zone of its user.
    entry = Event()
    entry.add("uid", f"{event.slug}@pressbox")
    entry.add("sequence", event.version)
    entry.add("summary", _to_line(event.name))
    entry.add("dtstart", event.start_date)
    entry.add("dtend", event.ends_at)
    entry.add("dtstamp", event.updated_at)
    entry.add("last-modified", event.updated_at)
    entry.add("status", "CANCELLED" if event.status is EventStatus.CANCELLED else "CONFIRMED")
    entry.add("url", f"{base_url}/events/{event.slug}")
    if event.description:
        entry.add("description", drop_controls(event.description))
    if event.location:
        entry.add("location", _to_line(event.location))
    return entry


def _to_line(text: str) -> str:
    return " ".join(drop_controls(text).split())
