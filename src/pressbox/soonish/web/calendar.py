"""Calendar feeds in the format of RFC 5545: a stable UID, and a SEQUENCE that rises with every change."""

from collections.abc import Iterable
from datetime import timedelta

from fastapi import Response
from icalendar import Calendar, Event

from pressbox.soonish.domain.views import CalendarEntry

MEDIA_TYPE = "text/calendar; charset=utf-8"
# How often programs should ask again; an event that moves is seen within the hour.
REFRESH = timedelta(hours=1)


def calendar(name: str, entries: Iterable[CalendarEntry], base_url: str) -> bytes:
    made = Calendar()
    made.add("prodid", "-//Pressbox//Events//EN")
    made.add("version", "2.0")
    made.add("method", "PUBLISH")
    made.add("x-wr-calname", name)
    made.add("refresh-interval", REFRESH, parameters={"VALUE": "DURATION"})
    for entry in entries:
        made.add_component(_event(entry, base_url))
    return bytes(made.to_ical())


def calendar_response(name: str, entries: Iterable[CalendarEntry], base_url: str) -> Response:
    headers = {"Content-Disposition": 'inline; filename="events.ics"', "Cache-Control": "private, max-age=300"}
    return Response(calendar(name, entries, base_url), media_type=MEDIA_TYPE, headers=headers)


def _event(entry: CalendarEntry, base_url: str) -> Event:
    # Times are UTC: every program shows them in its owner's zone, and none has to know ours.
    made = Event()
    made.add("uid", entry.uid)
    made.add("sequence", entry.sequence)
    made.add("summary", entry.name)
    made.add("dtstart", entry.start_date)
    made.add("dtend", entry.ends_at)
    made.add("dtstamp", entry.updated_at)
    made.add("last-modified", entry.updated_at)
    made.add("status", "CANCELLED" if entry.cancelled else "CONFIRMED")
    made.add("url", f"{base_url}/events/{entry.slug}")
    if entry.description:
        made.add("description", entry.description)
    if entry.location:
        made.add("location", entry.location)
    return made
