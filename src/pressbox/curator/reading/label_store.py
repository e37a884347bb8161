"""Categories and labels in PostgreSQL: each person's own."""

from collections.abc import Sequence

from sqlalchemy import case, delete, exists, func, select, update
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.exc import IntegrityError
from sqlalchemy.ext.asyncio import AsyncSession

from pressbox.core.db.database import Database
from pressbox.core.errors import ConflictError, NotFoundError
from pressbox.curator.library.domain.changes import PERSON_CHANGED
from pressbox.curator.library.domain.views import CategoryView, FeedView, LabelView
from pressbox.curator.library.rows import CategoryRow, EntryLabelRow, LabelRow
from pressbox.curator.library.visibility import demand_visible

_NO_CATEGORY = "There is no such category."
_NO_LABEL = "There is no such label."


class SqlCategories:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def create(self, user_id: int, name: str) -> CategoryView[FeedView]:
        last = select(func.coalesce(func.max(CategoryRow.position), -1) + 1).where(CategoryRow.user_id == user_id)
        statement = insert(CategoryRow).values(user_id=user_id, name=name, position=last.scalar_subquery())
        statement = statement.on_conflict_do_update(index_elements=["user_id", "name"], set_={"name": name})
        async with self._database.unit_of_work() as work:
            category_id = await work.session.scalar(statement.returning(CategoryRow.id))
            assert category_id is not None
            work.changed(PERSON_CHANGED, str(user_id))
        return CategoryView(category_id, name, 0, ())

    async def rename(self, user_id: int, category_id: int, name: str) -> None:
        renamed = update(CategoryRow).where(CategoryRow.id == category_id, CategoryRow.user_id == user_id)
        try:
            async with self._database.unit_of_work() as work:
                if not (await work.session.scalars(renamed.values(name=name).returning(CategoryRow.id))).all():
                    raise NotFoundError(_NO_CATEGORY)
                work.changed(PERSON_CHANGED, str(user_id))
        except IntegrityError as error:
            raise ConflictError("Another category has this name already.") from error

    async def delete(self, user_id: int, category_id: int) -> None:
        gone = delete(CategoryRow).where(CategoryRow.id == category_id, CategoryRow.user_id == user_id)
        async with self._database.unit_of_work() as work:
            if not (await work.session.scalars(gone.returning(CategoryRow.id))).all():
                raise NotFoundError(_NO_CATEGORY)
            work.changed(PERSON_CHANGED, str(user_id))

    async def arrange(self, user_id: int, category_ids: Sequence[int]) -> None:
        places = {category_id: place for place, category_id in enumerate(category_ids)}
        position = case(places, value=CategoryRow.id, else_=len(places) + CategoryRow.position)
        async with self._database.unit_of_work() as work:
            if places:
                await work.session.execute(
                    update(CategoryRow).where(CategoryRow.user_id == user_id).values(position=position)
                )
            work.changed(PERSON_CHANGED, str(user_id))


class SqlLabels:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def all(self, user_id: int) -> Sequence[LabelView]:
        async with self._database.unit_of_work() as work:
            return await label_views(work.session, user_id)

    async def create(self, user_id: int, name: str) -> LabelView:
        async with self._database.unit_of_work() as work:
            await _labels(work.session, user_id, [name])
            work.changed(PERSON_CHANGED, str(user_id))
            return next(label for label in await label_views(work.session, user_id) if label.name == name)

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

    async def put(self, user_id: int, entry_id: int, names: Sequence[str]) -> Sequence[LabelView]:
        wanted = list(dict.fromkeys(names))
        mine = select(LabelRow.id).where(LabelRow.user_id == user_id)
        async with self._database.unit_of_work() as work:
            session = work.session
            await demand_visible(session, user_id, entry_id)
            chosen = await _labels(session, user_id, wanted)
            others = EntryLabelRow.label_id.in_(mine) & EntryLabelRow.label_id.not_in(chosen.values())
            await session.execute(delete(EntryLabelRow).where(EntryLabelRow.entry_id == entry_id, others))
            if chosen:
                statement = insert(EntryLabelRow).on_conflict_do_nothing()
                values = [{"label_id": label_id, "entry_id": entry_id} for label_id in sorted(chosen.values())]
                await session.execute(statement, values)
            work.changed(PERSON_CHANGED, str(user_id))
        return [LabelView(chosen[name], name) for name in sorted(wanted, key=str.casefold)]


async def label_views(session: AsyncSession, user_id: int) -> list[LabelView]:
    """All labels of a person by name, with how many entries each has."""
    entries = select(func.count()).where(EntryLabelRow.label_id == LabelRow.id).scalar_subquery()
    statement = select(LabelRow.id, LabelRow.name, entries).where(LabelRow.user_id == user_id)
    rows = await session.execute(statement.order_by(func.lower(LabelRow.name), LabelRow.id))
    return [LabelView(*row) for row in rows.tuples()]


async def demand_label(session: AsyncSession, user_id: int, label_id: int | None) -> None:
    if not await session.scalar(select(exists().where(LabelRow.id == label_id, LabelRow.user_id == user_id))):
        raise NotFoundError(_NO_LABEL)


async def _labels(session: AsyncSession, user_id: int, names: Sequence[str]) -> dict[str, int]:
    if not names:
        return {}
    statement = insert(LabelRow)
    statement = statement.on_conflict_do_update(index_elements=["user_id", "name"], set_={"name": LabelRow.name})
    values = [{"user_id": user_id, "name": name} for name in sorted(names)]
    return dict((await session.execute(statement.returning(LabelRow.name, LabelRow.id), values)).tuples().all())
