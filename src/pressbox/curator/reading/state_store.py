"""What a person did with entries, and their labels, in PostgreSQL. The unread counts follow by triggers."""

from collections.abc import Mapping, Sequence
from datetime import datetime

from sqlalchemy import BigInteger, ColumnElement, Select, delete, func, literal, select, update
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.exc import IntegrityError
from sqlalchemy.ext.asyncio import AsyncSession

from pressbox.core.db.database import Database
from pressbox.core.errors import ConflictError, NotFoundError
from pressbox.core.quotas.store import demand
from pressbox.curator.library.domain.changes import PERSON_CHANGED
from pressbox.curator.library.quotas import LABELS
from pressbox.curator.library.rows import EntryLabelRow, EntryRow, EntryStateRow, LabelRow
from pressbox.curator.library.visibility import demand_visible, subscribed_by, visible_to
from pressbox.curator.reading.domain import CountedLabel, Label, MarkedRead, Preference, Selection
from pressbox.curator.reading.selection import load_scope, select_listed


class SqlReadingStates:
    """States of entries. Reading one copy of a story reads all of them."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def mark_read(self, user_id: int, entry_ids: Sequence[int], read: bool, now: datetime) -> None:
        mine = select(EntryRow.id).where(EntryRow.id.in_(entry_ids), visible_to(user_id))
        async with self._database.unit_of_work() as work:
            chosen = list(await work.session.scalars(mine))
            with_copies = sorted(
                {*chosen, *await work.session.scalars(_select_copies(user_id, EntryRow.id.in_(chosen)))}
            )
            if read:
                await _mark_read(work.session, user_id, select(EntryRow.id).where(EntryRow.id.in_(with_copies)), now)
            else:
                await work.session.execute(
                    update(EntryStateRow)
                    .where(EntryStateRow.user_id == user_id, EntryStateRow.entry_id.in_(with_copies))
                    .values(read_at=None)
                )
            work.changed(PERSON_CHANGED, str(user_id))

    async def mark_all_read(self, user_id: int, selection: Selection, until: datetime, now: datetime) -> MarkedRead:
        async with self._database.unit_of_work() as work:
            scope = await load_scope(work.session, user_id, selection)
            seen = select_listed(user_id, selection, scope, every_copy=True).where(
                EntryRow.first_seen_at <= until, EntryStateRow.read_at.is_(None)
            )
            count = await _mark_read(work.session, user_id, seen, now)
            # The same stories in feeds outside the list.
            own = EntryRow.id.in_(
                select(EntryStateRow.entry_id).where(EntryStateRow.user_id == user_id, EntryStateRow.read_at == now)
            )
            count += await _mark_read(work.session, user_id, _select_copies(user_id, own), now)
            work.changed(PERSON_CHANGED, str(user_id))
        return MarkedRead(count, now if count else None)

    async def undo_all_read(self, user_id: int, stamp: datetime) -> int:
        undone = update(EntryStateRow).where(EntryStateRow.user_id == user_id, EntryStateRow.read_at == stamp)
        async with self._database.unit_of_work() as work:
            result = await work.session.execute(undone.values(read_at=None).returning(EntryStateRow.entry_id))
            count = len(result.all())
            work.changed(PERSON_CHANGED, str(user_id))
        return count

    async def star(self, user_id: int, entry_id: int, starred: bool, now: datetime) -> None:
        await self._set(user_id, entry_id, {"starred_at": now if starred else None})

    async def prefer(self, user_id: int, entry_id: int, preference: Preference) -> None:
        await self._set(user_id, entry_id, {"preference": int(preference)})

    async def set_note(self, user_id: int, entry_id: int, note: str) -> None:
        await self._set(user_id, entry_id, {"note": note})

    async def _set(self, user_id: int, entry_id: int, values: Mapping[str, object]) -> None:
        statement = insert(EntryStateRow).values(user_id=user_id, entry_id=entry_id, **values)
        async with self._database.unit_of_work() as work:
            await demand_visible(work.session, user_id, entry_id)
            await work.session.execute(
                statement.on_conflict_do_update(index_elements=["user_id", "entry_id"], set_=values)
            )
            work.changed(PERSON_CHANGED, str(user_id))


async def _mark_read(session: AsyncSession, user_id: int, entry_ids: Select[tuple[int]], now: datetime) -> int:
    """Mark what is unread of these, in the order of ids so that two windows cannot deadlock; return how many."""
    ordered = entry_ids.order_by(EntryRow.id).subquery()
    statement = insert(EntryStateRow).from_select(
        ["user_id", "entry_id", "read_at"], select(literal(user_id, BigInteger), ordered.c.id, literal(now))
    )
    statement = statement.on_conflict_do_update(
        index_elements=["user_id", "entry_id"],
        set_={"read_at": statement.excluded.read_at},
        where=EntryStateRow.read_at.is_(None),
    )
    marked = statement.returning(EntryStateRow.entry_id).cte("marked")
    return await session.scalar(select(func.count()).select_from(marked)) or 0


def _select_copies(user_id: int, chosen: ColumnElement[bool]) -> Select[tuple[int]]:
    """Select the same stories in the person's other feeds."""
    stories = select(EntryRow.story_id).where(chosen, EntryRow.story_id.is_not(None))
    return select(EntryRow.id).where(EntryRow.story_id.in_(stories.correlate(None)), subscribed_by(user_id))


_NO_LABEL = "There is no such label."


class SqlLabels:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def load_all(self, user_id: int) -> Sequence[CountedLabel]:
        async with self._database.unit_of_work() as work:
            return await load_labels(work.session, user_id)

    async def create(self, user_id: int, name: str) -> CountedLabel:
        async with self._database.unit_of_work() as work:
            await _create_labels(work.session, user_id, [name])
            work.changed(PERSON_CHANGED, str(user_id))
            return next(label for label in await load_labels(work.session, user_id) if label.name == name)

    async def rename(self, user_id: int, label_id: int, name: str) -> None:
        renamed = update(LabelRow).where(LabelRow.id == label_id, LabelRow.user_id == user_id).values(name=name)
        try:
            async with self._database.unit_of_work() as work:
                if not (await work.session.scalars(renamed.returning(LabelRow.id))).all():
                    raise NotFoundError(_NO_LABEL)
                work.changed(PERSON_CHANGED, str(user_id))
        except IntegrityError as error:
            raise ConflictError("Another label has this name already.") from error

    async def delete(self, user_id: int, label_id: int) -> None:
        gone = delete(LabelRow).where(LabelRow.id == label_id, LabelRow.user_id == user_id)
        async with self._database.unit_of_work() as work:
            if not (await work.session.scalars(gone.returning(LabelRow.id))).all():
                raise NotFoundError(_NO_LABEL)
            work.changed(PERSON_CHANGED, str(user_id))

    async def set(self, user_id: int, entry_id: int, names: Sequence[str]) -> Sequence[Label]:
        wanted = list(dict.fromkeys(names))
        mine = select(LabelRow.id).where(LabelRow.user_id == user_id)
        async with self._database.unit_of_work() as work:
            session = work.session
            await demand_visible(session, user_id, entry_id)
            chosen = await _create_labels(session, user_id, wanted)
            others = EntryLabelRow.label_id.in_(mine) & EntryLabelRow.label_id.not_in(chosen.values())
            await session.execute(delete(EntryLabelRow).where(EntryLabelRow.entry_id == entry_id, others))
            if chosen:
                statement = insert(EntryLabelRow).on_conflict_do_nothing()
                values = [{"label_id": label_id, "entry_id": entry_id} for label_id in sorted(chosen.values())]
                await session.execute(statement, values)
            work.changed(PERSON_CHANGED, str(user_id))
        return [Label(chosen[name], name) for name in sorted(wanted, key=str.casefold)]


async def load_labels(session: AsyncSession, user_id: int) -> list[CountedLabel]:
    """Load all labels of a person by name, with how many entries each has."""
    entries = select(func.count()).where(EntryLabelRow.label_id == LabelRow.id).scalar_subquery()
    statement = select(LabelRow.id, LabelRow.name, entries).where(LabelRow.user_id == user_id)
    rows = await session.execute(statement.order_by(func.lower(LabelRow.name), LabelRow.id))
    return [CountedLabel(*row) for row in rows.tuples()]


async def _create_labels(session: AsyncSession, user_id: int, names: Sequence[str]) -> dict[str, int]:
    if not names:
        return {}
    statement = insert(LabelRow)
    statement = statement.on_conflict_do_update(index_elements=["user_id", "name"], set_={"name": LabelRow.name})
    values = [{"user_id": user_id, "name": name} for name in sorted(names)]
    made = dict((await session.execute(statement.returning(LabelRow.name, LabelRow.id), values)).tuples().all())
    await demand(session, LABELS, user_id)
    return made
