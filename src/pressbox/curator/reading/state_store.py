"""What a person did with entries, and their labels, in PostgreSQL. The unread counts follow by triggers."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta

from sqlalchemy import BigInteger, ColumnElement, Select, delete, exists, func, literal, or_, select, update
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.exc import IntegrityError
from sqlalchemy.ext.asyncio import AsyncSession

from pressbox.core.db.database import Database
from pressbox.core.errors import ConflictError, NotFoundError
from pressbox.core.notices.follows import end_follow, name_subject
from pressbox.core.quotas.store import demand
from pressbox.curator.library.domain import PERSON_CHANGED
from pressbox.curator.library.quotas import LABELS
from pressbox.curator.library.rows import (
    BACKLOG,
    EntryLabelRow,
    EntryRow,
    EntryStateRow,
    LabelRow,
    OfflineMarkRow,
    SubscriptionRow,
)
from pressbox.curator.library.store import demand_visible, subscribed_by, visible_to
from pressbox.curator.library.subjects import FollowedKind
from pressbox.curator.reading.domain import CountedLabel, Label, MarkedRead, OfflineMark, Preference, Selection
from pressbox.curator.reading.selection import load_scope, select_listed

# For so long a phone may try to send a mark again.
MARKS_REMEMBERED = timedelta(days=90)


class SqlReadingStates:
    """States of entries. Reading one copy of a story reads all of them."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def mark_read(self, user_id: int, entry_ids: Sequence[int], read: bool, now: datetime) -> None:
        async with self._database.unit_of_work() as work:
            await _mark(work.session, user_id, entry_ids, read, now)
            work.changed(PERSON_CHANGED, str(user_id))

    async def apply_marks(self, user_id: int, marks: Sequence[OfflineMark], now: datetime) -> None:
        """Apply what was not applied before, in this order. Entries that are gone, or somebody else's, are left alone.

        A mark and the note that it was applied are one transaction: sent twice, also at once, it counts once.
        """
        known = insert(OfflineMarkRow).values([{"user_id": user_id, "key": mark.key} for mark in marks])
        old = (OfflineMarkRow.user_id == user_id, OfflineMarkRow.received_at < now - MARKS_REMEMBERED)
        async with self._database.unit_of_work() as work:
            new = set(
                await work.session.scalars(known.on_conflict_do_nothing().returning(OfflineMarkRow.key)),
            )
            for mark in marks:
                if mark.key in new:
                    await _apply(work.session, user_id, mark, now)
            await work.session.execute(delete(OfflineMarkRow).where(*old))
            work.changed(PERSON_CHANGED, str(user_id))

    async def mark_all_read(self, user_id: int, selection: Selection, until: datetime, now: datetime) -> MarkedRead:
        async with self._database.unit_of_work() as work:
            scope = await load_scope(work.session, user_id, selection)
            seen = select_listed(user_id, selection, scope, every_copy=True).where(
                EntryRow.first_seen_at <= until, EntryStateRow.read_at.is_(None)
            )
            count = await _mark_read(work.session, user_id, seen, now)
            # The same stories in feeds outside the list; when all feeds were in it, nothing is left to look through.
            if await work.session.scalar(
                select(exists().where(SubscriptionRow.user_id == user_id, SubscriptionRow.unread > 0))
            ):
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


async def _mark(session: AsyncSession, user_id: int, entry_ids: Sequence[int], read: bool, now: datetime) -> None:
    chosen = EntryRow.id.in_(entry_ids) & visible_to(user_id)
    mine = select(EntryRow.id).where(chosen).union(_select_copies(user_id, chosen))
    with_copies = sorted(await session.scalars(mine))
    if read:
        wanted = select(EntryRow.id).where(EntryRow.id.in_(with_copies))
        await _mark_read(session, user_id, wanted, now, opened=True)
        return
    await session.execute(
        update(EntryStateRow)
        .where(EntryStateRow.user_id == user_id, EntryStateRow.entry_id.in_(with_copies))
        .values(read_at=None)
    )


async def _apply(session: AsyncSession, user_id: int, mark: OfflineMark, now: datetime) -> None:
    if mark.read is not None:
        await _mark(session, user_id, [mark.entry_id], mark.read, now)
    if mark.starred is None:
        return
    visible = select(EntryRow.id).where(EntryRow.id == mark.entry_id, visible_to(user_id))
    if await session.scalar(visible) is not None:
        values = {"starred_at": now if mark.starred else None}
        statement = insert(EntryStateRow).values(user_id=user_id, entry_id=mark.entry_id, **values)
        await session.execute(statement.on_conflict_do_update(index_elements=["user_id", "entry_id"], set_=values))


async def _mark_read(
    session: AsyncSession,
    user_id: int,
    entry_ids: Select[tuple[int]],
    now: datetime,
    *,
    opened: bool = False,
) -> int:
    """Mark what is unread of these, in the order of ids so that two windows cannot deadlock; return how many.

    Whoever opened them has read those of the backlog too.
    """
    ordered = entry_ids.order_by(EntryRow.id).subquery()
    unread = EntryStateRow.read_at.is_(None)
    statement = insert(EntryStateRow).from_select(
        ["user_id", "entry_id", "read_at"], select(literal(user_id, BigInteger), ordered.c.id, literal(now))
    )
    statement = statement.on_conflict_do_update(
        index_elements=["user_id", "entry_id"],
        set_={"read_at": statement.excluded.read_at},
        where=or_(unread, EntryStateRow.read_at == BACKLOG) if opened else unread,
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
                await name_subject(work.session, user_id, FollowedKind.LABEL.subject(label_id), name)
                work.changed(PERSON_CHANGED, str(user_id))
        except IntegrityError as error:
            raise ConflictError("Another label has this name already.") from error

    async def delete(self, user_id: int, label_id: int) -> None:
        gone = delete(LabelRow).where(LabelRow.id == label_id, LabelRow.user_id == user_id)
        async with self._database.unit_of_work() as work:
            if not (await work.session.scalars(gone.returning(LabelRow.id))).all():
                raise NotFoundError(_NO_LABEL)
            await end_follow(work, user_id, FollowedKind.LABEL.subject(label_id))
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
