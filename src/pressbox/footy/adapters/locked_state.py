"""Small states that all processes share: one row each, changed under its lock by whoever needs it."""

from collections.abc import Callable
from typing import Generic, TypeVar

from sqlalchemy import select
from sqlalchemy.dialects.postgresql import insert

from pressbox.core.clock import utc_now
from pressbox.core.contracts import Contract
from pressbox.core.db.database import Database
from pressbox.footy.adapters.rows import RequestBudgetRow

StateT = TypeVar("StateT", bound=Contract)
ResultT = TypeVar("ResultT")


class LockedState(Generic[StateT]):
    """`empty` is what holds before anybody has changed it."""

    def __init__(self, database: Database, name: str, empty: StateT) -> None:
        self._database = database
        self._name = name
        self._empty = empty

    async def load(self) -> StateT:
        async with self._database.unit_of_work() as work:
            row = await work.session.get(RequestBudgetRow, self._name)
        return self._empty if row is None else type(self._empty).model_validate(row.state)

    async def change(self, decide: Callable[[StateT], tuple[StateT, ResultT]]) -> ResultT:
        locked = select(RequestBudgetRow).where(RequestBudgetRow.name == self._name).with_for_update()
        async with self._database.unit_of_work() as work:
            row = await work.session.scalar(locked)
            if row is None:
                empty = {"name": self._name, "state": {}, "changed_at": utc_now()}
                await work.session.execute(insert(RequestBudgetRow).values(empty).on_conflict_do_nothing())
                row = (await work.session.execute(locked)).scalar_one()
            before = type(self._empty).model_validate(row.state)
            after, result = decide(before)
            if after != before:
                row.state = after.model_dump(mode="json", exclude_defaults=True)
                row.changed_at = utc_now()
        return result
