"""The part of events in a digest: what comes until the next one."""

from collections.abc import Sequence

from pressbox.core.audiences.members import Viewer
from pressbox.core.digests import DigestLine, DigestSection, DigestSpan
from pressbox.soonish.domain.events import EventStatus
from pressbox.soonish.domain.views import EventView
from pressbox.soonish.ids import PATH
from pressbox.soonish.service.soonish import Soonish

MOST_EVENTS = 20


async def write_section(service: Soonish, viewer: Viewer, span: DigestSpan) -> DigestSection | None:
    """What somebody organises or follows and begins in this time, the nearest first."""
    mine = await service.events.list_organised(viewer.user_id)
    events = {event.id: event for event in (*mine, *await service.events.list_followed(viewer.user_id))}
    coming = [event for event in events.values() if _comes(event, span)]
    coming.sort(key=lambda event: (event.start_date, event.id))
    lines = [_line(event) for event in coming[:MOST_EVENTS]]
    return DigestSection("Coming up", _summary(coming), lines) if lines else None


def _comes(event: EventView, span: DigestSpan) -> bool:
    return event.status is EventStatus.ACTIVE and span.until < event.start_date <= span.ahead


def _summary(events: Sequence[EventView]) -> str:
    return "One event to come." if len(events) == 1 else f"{len(events)} events to come."


def _line(event: EventView) -> DigestLine:
    return DigestLine(event.name, f"{PATH}/{event.slug}", detail=event.location, at=event.start_date)
