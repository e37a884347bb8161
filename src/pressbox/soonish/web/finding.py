"""Events as the search of the top line and the first page show them."""

from collections.abc import Sequence

from markupsafe import Markup

from pressbox.core.app import OfflineThing, Resources
from pressbox.core.audiences.members import Viewer
from pressbox.core.clock import utc_now
from pressbox.core.db.database import UnitOfWork
from pressbox.core.db.words import split_words
from pressbox.core.today.contracts import (
    Attention,
    FoundThing,
    LineKind,
    PageReader,
    SearchGroup,
    SectionView,
    TodaySection,
)
from pressbox.soonish.adapters.event_rows import read_facts
from pressbox.soonish.adapters.found_events import find_visible, has_any, list_broken, load_coming
from pressbox.soonish.adapters.rows import EventRow
from pressbox.soonish.domain.events import EventStatus
from pressbox.soonish.domain.views import EventView
from pressbox.soonish.ids import PATH
from pressbox.soonish.service.soonish import Soonish


async def find_events(resources: Resources, viewer: Viewer, typed: str, limit: int) -> Sequence[FoundThing]:
    """Events with all these words that somebody organises or follows, or that are public and to come."""
    if not split_words(typed):
        return ()
    async with resources.database.unit_of_work() as work:
        return [_line(row) for row in await find_visible(work.session, viewer.user_id, typed, utc_now(), limit)]


async def load_agenda(work: UnitOfWork, _: Resources, reader: PageReader, limit: int) -> SectionView:
    """What somebody organises or follows and is not over, the nearest first."""
    rows = await load_coming(work.session, reader.user_id, utc_now(), limit)
    return SectionView([_line(row) for row in rows], begun=bool(rows) or await has_any(work.session, reader.user_id))


async def look_for_trouble(work: UnitOfWork, _: Resources, viewer: Viewer) -> Sequence[Attention]:
    """Channels of the person that do not work: messages do not reach them."""
    broken = await list_broken(work.session, viewer.user_id)
    if len(broken) > 1:
        return (Attention(f"{len(broken)} of your channels do not work.", f"{PATH}/channels"),)
    return [Attention(f"Your channel {name} does not work.", f"{PATH}/channels") for name in broken]


def _line(row: EventRow) -> FoundThing:
    return FoundThing(
        title=row.name,
        path=f"{PATH}/{row.slug}",
        detail=row.location,
        at=row.start_date,
        withdrawn=row.status == EventStatus.CANCELLED,
        live=row.status == EventStatus.ACTIVE and row.start_date <= utc_now() and not _is_past(row),
    )


def _is_past(row: EventRow) -> bool:
    return read_facts(row).ends_at <= utc_now()


async def list_offline(service: Soonish, viewer: Viewer) -> Sequence[OfflineThing]:
    """What somebody organises or follows and is not over, as phones keep it."""
    mine = await service.events.list_organised(viewer.user_id)
    own = {event.id: event for event in (*mine, *await service.events.list_followed(viewer.user_id))}.values()
    coming = [event for event in own if event.status is EventStatus.ACTIVE and event.ends_at > utc_now()]
    return [_kept(event) for event in sorted(coming, key=lambda event: event.start_date)]


def _kept(event: EventView) -> OfflineThing:
    paragraphs = [part for part in event.description.split("\n") if part.strip()]
    html = Markup("").join(Markup("<p>{}</p>").format(part) for part in paragraphs)
    return OfflineThing(f"{PATH}/{event.slug}", event.name, event.location, event.start_date, str(html))


SECTIONS = (
    TodaySection(
        "events",
        "Events",
        PATH,
        load_agenda,
        kind=LineKind.TIMETABLE,
        first_step="soonish/_begin.html",
        nothing="No event of yours is coming up.",
    ),
)
GROUPS = (SearchGroup("events", "Events", find_events),)
