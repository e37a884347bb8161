"""The choice of each person, and what they looked at, in PostgreSQL."""

from collections.abc import Collection, Sequence
from datetime import datetime
from functools import cache
from typing import Any

from sqlalchemy import ColumnElement, Select, delete, exists, func, not_, or_, select
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncSession

from pressbox.core.db.arrays import one_of_texts
from pressbox.core.db.database import Database
from pressbox.core.db.parameters import PERSON, PersonId
from pressbox.core.notices.withholding import arrange_inbox, mark_revealed
from pressbox.core.spoilers.choice import Sight, SpoilerChoice, SpoilerMode
from pressbox.core.spoilers.rows import GuardedSubjectRow, RevealRow, SpoilerChoiceRow
from pressbox.core.spoilers.titles import GuardedMatch

# What a person looked at is remembered for so many subjects, the newest ones: years of matches.
MOST_REVEALED = 5000


class PersonalSpoilers:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def load_choice(self, user_id: int) -> SpoilerChoice:
        async with self._database.unit_of_work() as work:
            return await _load_choice(work.session, user_id)

    async def choose(self, user_id: int, choice: SpoilerChoice) -> None:
        """It counts at once, also for what is in the inbox already."""
        async with self._database.unit_of_work() as work:
            if choice.mode is SpoilerMode.OFF:
                await work.session.execute(delete(SpoilerChoiceRow).where(SpoilerChoiceRow.user_id == user_id))
            else:
                chosen = {"mode": choice.mode, "minutes": choice.minutes}
                statement = insert(SpoilerChoiceRow).values(user_id=user_id, **chosen)
                await work.session.execute(
                    statement.on_conflict_do_update(index_elements=["user_id"], set_=chosen),
                )
            await arrange_inbox(work.session, user_id)

    async def reveal(self, user_id: int, subjects: Collection[str]) -> None:
        """They looked: nothing of these is hidden from them any more."""
        if not subjects:
            return
        rows = [{"user_id": user_id, "subject": subject} for subject in sorted(set(subjects))]
        async with self._database.unit_of_work() as work:
            await work.session.execute(insert(RevealRow).values(rows).on_conflict_do_nothing())
            kept = (
                select(RevealRow.subject)
                .where(RevealRow.user_id == user_id)
                .order_by(RevealRow.revealed_at.desc(), RevealRow.subject)
                .limit(MOST_REVEALED)
            )
            await work.session.execute(
                delete(RevealRow).where(RevealRow.user_id == user_id, RevealRow.subject.not_in(kept))
            )
            await mark_revealed(work.session, user_id, subjects)
            await arrange_inbox(work.session, user_id)

    async def conceal(self, user_id: int, subjects: Collection[str]) -> None:
        """Hide these again."""
        async with self._database.unit_of_work() as work:
            own = (RevealRow.user_id == user_id, RevealRow.subject == one_of_texts(subjects))
            await work.session.execute(delete(RevealRow).where(*own))
            await arrange_inbox(work.session, user_id)

    async def load_sight(self, user_id: int) -> Sight:
        async with self._database.unit_of_work() as work:
            return await load_sight(work.session, user_id)


async def load_sight(session: AsyncSession, user_id: int) -> Sight:
    """What the person may know now, by the clock of the database, which also dates what happened."""
    return read_sight(*(await session.execute(_select_sight(), {"person": user_id})).one())


@cache
def _select_sight() -> Select[Any]:
    return select(*sight_columns(PERSON))


def sight_columns(user_id: PersonId) -> tuple[ColumnElement[Any], ...]:
    """What a statement selects so that `read_sight` can say what the person may know."""
    own = SpoilerChoiceRow.user_id == user_id
    hides = exists().where(own)
    revealed = select(func.array_agg(RevealRow.subject)).where(RevealRow.user_id == user_id, hides)
    mode, minutes = select(SpoilerChoiceRow.mode).where(own), select(SpoilerChoiceRow.minutes).where(own)
    return func.now(), mode.scalar_subquery(), minutes.scalar_subquery(), revealed.scalar_subquery()


def read_sight(now: datetime, mode: str | None, minutes: int | None, revealed: Sequence[str] | None) -> Sight:
    if mode is None:
        return Sight(now)
    return Sight(now, SpoilerChoice(SpoilerMode(mode), minutes), frozenset(revealed or ()))


async def _load_choice(session: AsyncSession, user_id: int) -> SpoilerChoice:
    row = await session.get(SpoilerChoiceRow, user_id)
    return SpoilerChoice(SpoilerMode(row.mode), row.minutes) if row else SpoilerChoice()


async def load_guarded(session: AsyncSession, user_id: int) -> Sequence[GuardedMatch]:
    """The matches whose scores this person does not want to read in titles yet; none for who sees them at once."""
    rows = (await session.execute(_select_guarded(), {"person": user_id})).tuples()
    return [GuardedMatch(*row) for row in rows]


async def load_all_guarded(session: AsyncSession) -> Sequence[GuardedMatch]:
    """All matches whose scores somebody may hide: what is told to many is told of with each of them in mind."""
    columns = (GuardedSubjectRow.subject, GuardedSubjectRow.home, GuardedSubjectRow.away)
    return [GuardedMatch(*row) for row in (await session.execute(select(*columns))).tuples()]


@cache
def _select_guarded() -> Select[tuple[str, list[str], list[str]]]:
    choice, guarded = SpoilerChoiceRow, GuardedSubjectRow
    recent = guarded.changed_at > func.now() - func.make_interval(0, 0, 0, 0, 0, choice.minutes)
    looked = exists().where(RevealRow.user_id == PERSON, RevealRow.subject == guarded.subject)
    return (
        select(guarded.subject, guarded.home, guarded.away)
        .join(choice, choice.user_id == PERSON)
        .where(not_(looked), or_(choice.mode == SpoilerMode.HIDDEN, recent))
    )
