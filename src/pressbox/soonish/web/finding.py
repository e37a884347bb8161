"""Events as the search of the top line and the first page show them."""

from collections.abc import Sequence

from pressbox.core.app import FoundThing
from pressbox.core.audiences.members import Viewer
from pressbox.core.clock import utc_now
from pressbox.soonish.domain.events import EventStatus
from pressbox.soonish.domain.views import EventView
from pressbox.soonish.ids import PATH
from pressbox.soonish.service.soonish import Soonish


async def find_events(service: Soonish, viewer: Viewer, words: str, limit: int) -> Sequence[FoundThing]:
    """Events with all these words that somebody organises or follows, or that are public and to come."""
    wanted = words.casefold().split()
    known = await _load_own(service, viewer)
    known |= {event.id: event for event in await service.events.list_public() if event.id not in known}
    found = [event for event in known.values() if _has(event, wanted)]
    found.sort(key=lambda event: (event.ends_at < utc_now(), abs(event.start_date - utc_now())))
    return [_line(event) for event in found[:limit]]


async def list_coming(service: Soonish, viewer: Viewer, limit: int) -> Sequence[FoundThing]:
    """What somebody organises or follows and is not over, the nearest first."""
    own = (await _load_own(service, viewer)).values()
    coming = [event for event in own if event.status is EventStatus.ACTIVE and event.ends_at > utc_now()]
    return [_line(event) for event in sorted(coming, key=lambda event: event.start_date)[:limit]]


async def _load_own(service: Soonish, viewer: Viewer) -> dict[int, EventView]:
    mine = await service.events.list_organised(viewer.user_id)
    return {event.id: event for event in (*mine, *await service.events.list_followed(viewer.user_id))}


def _has(event: EventView, words: Sequence[str]) -> bool:
    text = f"{event.name} {event.location} {event.description}".casefold()
    return bool(words) and all(word in text for word in words)


def _line(event: EventView) -> FoundThing:
    return FoundThing(title=event.name, path=f"{PATH}/{event.slug}", detail=event.location, at=event.start_date)
