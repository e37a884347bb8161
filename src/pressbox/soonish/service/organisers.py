"""Follow the organiser of a public event, to hear of their next ones. Organisers do not see who does."""

from pressbox.core.db.database import Database
from pressbox.core.errors import ConflictError
from pressbox.core.notices.follows import PersonalFollows
from pressbox.soonish.adapters.event_rows import load_view, load_visible
from pressbox.soonish.domain.events import is_shown
from pressbox.soonish.domain.notice_kinds import organiser_subject
from pressbox.soonish.domain.views import EventView, Viewer
from pressbox.soonish.ids import PATH

# Where the next events of an organiser stand among others.
PUBLIC_EVENTS = f"{PATH}#public"


class OrganiserService:
    def __init__(self, database: Database) -> None:
        self._database = database
        self._follows = PersonalFollows(database)

    async def follow(self, user_id: int, slug: str) -> None:
        """Hear of new public events by the organiser of this one. Doing it twice is fine."""
        subject, event = await self._find(user_id, slug)
        if subject is None:
            raise ConflictError("Only the organiser of a public event of somebody else can be followed.")
        await self._follows.follow(user_id, subject, event.organiser, PUBLIC_EVENTS)

    async def unfollow(self, user_id: int, slug: str) -> None:
        subject, _ = await self._find(user_id, slug)
        if subject is not None:
            await self._follows.unfollow(user_id, subject)

    async def follows(self, user_id: int, slug: str) -> bool | None:
        """Whether somebody follows the organiser of an event that they may see; None: nobody can follow this one."""
        subject, _ = await self._find(user_id, slug)
        return None if subject is None else await self._follows.find(user_id, subject) is not None

    async def _find(self, user_id: int, slug: str) -> tuple[str | None, EventView]:
        """The subject of its organiser, where there is one to follow.

        Whoever gives no name does not show that two events are theirs, so they cannot be followed.
        """
        async with self._database.unit_of_work() as work:
            row = await load_visible(work.session, Viewer(user_id), slug)
            event = await load_view(work.session, row, user_id)
        organiser = row.organiser_id
        can_be_followed = is_shown(row.status, row.visibility) and event.organiser and not event.organises
        return (organiser_subject(organiser) if organiser is not None and can_be_followed else None), event
