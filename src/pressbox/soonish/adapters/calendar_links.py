"""Private addresses of people's calendars: made with a proof, signed, and void once they are renewed or revoked.

The address carries the person and the generation of their link. A row says which generation is good.
"""

from collections.abc import Collection, Sequence
from datetime import datetime

from sqlalchemy import BigInteger, ForeignKey, Integer, delete, func, select
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncSession
from sqlalchemy.orm import Mapped, mapped_column

from pressbox.core.accounts.rows import UserRow
from pressbox.core.app import Credential, CredentialKind
from pressbox.core.db.base import Base
from pressbox.core.db.database import Database
from pressbox.core.errors import NotFoundError
from pressbox.soonish.adapters.rows import SCHEMA
from pressbox.soonish.domain.links import Purpose, SignedLinks

# The lower bits of the number in the address are the person's, those above the generation.
PERSON_BITS = 40
# Generations begin at a random number, so that one made after all were revoked is not one of those.
NEW_GENERATION = func.floor(func.random() * (1 << 22)).cast(Integer) + 1


class CalendarLinkRow(Base):
    __tablename__ = "calendar_links"
    __table_args__ = (SCHEMA,)

    user_id: Mapped[int] = mapped_column(
        BigInteger, ForeignKey("core.users.id", ondelete="CASCADE"), primary_key=True, autoincrement=False
    )
    generation: Mapped[int] = mapped_column(Integer)
    created_at: Mapped[datetime] = mapped_column(server_default=func.now())


class CalendarLinks:
    def __init__(self, database: Database, links: SignedLinks) -> None:
        self._database = database
        self._links = links

    async def find_url(self, user_id: int) -> str | None:
        """The address of this person's calendar; None when they have made none."""
        async with self._database.unit_of_work() as work:
            generation = await work.session.scalar(
                select(CalendarLinkRow.generation).where(CalendarLinkRow.user_id == user_id)
            )
        return None if generation is None else self._links.calendar_url(generation << PERSON_BITS | user_id)

    async def renew(self, user_id: int) -> None:
        """Make an address; the one before is void."""
        made = insert(CalendarLinkRow).values(user_id=user_id, generation=NEW_GENERATION)
        renewed = made.on_conflict_do_update(
            index_elements=[CalendarLinkRow.user_id], set_={"generation": NEW_GENERATION, "created_at": func.now()}
        )
        async with self._database.unit_of_work() as work:
            await work.session.execute(renewed)

    async def find_owner(self, token: str) -> int:
        """Whose calendar this is. An address that was revoked, or whose owner is disabled, is not found."""
        number = self._links.read_token(Purpose.CALENDAR, token)
        user_id, generation = number & ((1 << PERSON_BITS) - 1), number >> PERSON_BITS
        statement = (
            select(CalendarLinkRow.generation)
            .join(UserRow, UserRow.id == CalendarLinkRow.user_id)
            .where(CalendarLinkRow.user_id == user_id, UserRow.disabled_at.is_(None))
        )
        async with self._database.unit_of_work() as work:
            good = await work.session.scalar(statement)
        if good is None or good != generation:
            raise NotFoundError("There is no such calendar. Its owner may have made a new address.")
        return user_id


async def _load(session: AsyncSession, user_id: int) -> Sequence[Credential]:
    rows = await session.scalars(select(CalendarLinkRow).where(CalendarLinkRow.user_id == user_id))
    return [Credential(str(row.user_id), "Pressbox", row.created_at) for row in rows]


async def _revoke(session: AsyncSession, user_id: int, ids: Collection[str]) -> None:
    await session.execute(delete(CalendarLinkRow).where(CalendarLinkRow.user_id == user_id))


CALENDAR = CredentialKind("calendar", "Calendar", _load, _revoke)
