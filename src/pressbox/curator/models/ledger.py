"""The cost ledger: what models were paid for, and their answers, so that nothing is paid twice."""

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import ColumnElement, Delete, and_, delete, func, insert, or_, select, text, tuple_
from sqlalchemy.dialects.postgresql import insert as upsert
from sqlalchemy.ext.asyncio import AsyncSession

from pressbox.core.db.database import Database
from pressbox.curator.library.domain.identity import storable
from pressbox.curator.library.rows import EntryRow, ModelCallRow, ModelReservationRow
from pressbox.curator.models.domain import day_start
from pressbox.curator.models.ports import Expected, PaidCall, Reserved

_LOCK = 0x4D_4F_4E_45_59  # "MONEY": an advisory lock of our own
_WORK = ["content_hash", "prompt_version", "model", "feature"]
_LOST = ("content_hash", "prompt_version", "model", "feature", "entry_id", "feed_id", "tokens_in", "cost", "at")


class SqlModelLedger:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def known(self, call: PaidCall) -> str | None:
        statement = select(ModelCallRow.answer).where(_same(call), ModelCallRow.usable)
        async with self._database.unit_of_work() as work:
            answer: str | None = await work.session.scalar(statement)
        return answer

    async def useless(self, call: PaidCall, since: datetime) -> int:
        # Without tokens out nothing was heard: that says nothing about the answer.
        heard = and_(_same(call), ~ModelCallRow.usable, ModelCallRow.tokens_out > 0, ModelCallRow.at >= since)
        async with self._database.unit_of_work() as work:
            return int(await work.session.scalar(select(func.count()).where(heard)) or 0)

    async def reserve(self, wanted: Sequence[Expected], per_day: int, until: datetime, now: datetime) -> Reserved:
        held = func.sum(ModelReservationRow.tokens_in + ModelReservationRow.tokens_out)
        async with self._database.unit_of_work() as work:
            # One after the other: two that look at the same time would both see the last token.
            await work.session.execute(select(func.pg_advisory_xact_lock(_LOCK)))
            await _write_off(work.session, delete(ModelReservationRow).where(_left_behind(wanted, now)))
            used = await _used(work.session, now)
            if used + int(await work.session.scalar(select(held)) or 0) >= per_day:
                return Reserved(spoken_for=used < per_day)
            rows = [_reservation(one, until, now) for one in wanted]
            statement = insert(ModelReservationRow).returning(ModelReservationRow.id, sort_by_parameter_order=True)
            return Reserved(tuple(await work.session.scalars(statement, rows)))

    async def free(self, reserved: Sequence[int], *, paid: bool = False) -> None:
        statement = delete(ModelReservationRow).where(ModelReservationRow.id.in_(reserved))
        async with self._database.unit_of_work() as work:
            if paid:
                await _write_off(work.session, statement)
            else:
                await work.session.execute(statement)

    async def record(
        self,
        call: PaidCall,
        answer: str,
        tokens_in: int,
        tokens_out: int,
        cost: float,
        now: datetime,
        *,
        usable: bool = True,
        reserved: int | None = None,
    ) -> None:
        """Two that paid for the same at the same time keep the first answer, and both costs, each on its day."""
        async with self._database.unit_of_work() as work:
            feed_id = call.feed_id
            if feed_id is None and call.entry_id is not None:
                feed_id = await work.session.scalar(select(EntryRow.feed_id).where(EntryRow.id == call.entry_id))
            values = {
                **_key(call),
                "entry_id": call.entry_id,
                "feed_id": feed_id,
                "answer": storable(answer),
                "tokens_in": tokens_in,
                "tokens_out": tokens_out,
                "cost": cost,
                "at": now,
            }
            statement = upsert(ModelCallRow).values(**values, usable=usable)
            first = statement.on_conflict_do_nothing(index_elements=_WORK, index_where=text("usable"))
            if await work.session.scalar(first.returning(ModelCallRow.id)) is None:
                await work.session.execute(insert(ModelCallRow).values(**values, usable=False))
            if reserved is not None:
                await work.session.execute(delete(ModelReservationRow).where(ModelReservationRow.id == reserved))

    async def tokens_today(self, now: datetime) -> int:
        """Since midnight UTC."""
        async with self._database.unit_of_work() as work:
            return await _used(work.session, now)


async def _used(session: AsyncSession, now: datetime) -> int:
    used = func.sum(ModelCallRow.tokens_in + ModelCallRow.tokens_out)
    return int(await session.scalar(select(used).where(ModelCallRow.at >= day_start(now))) or 0)


async def _write_off(session: AsyncSession, gone: Delete) -> None:
    """Questions that went out and whose answers nobody heard: counted as far as they are known, never given out."""
    columns = [getattr(ModelReservationRow, name) for name in _LOST]
    lost = (await session.execute(gone.returning(*columns))).mappings().all()
    if lost:
        rows = [{**line, "answer": "", "usable": False, "tokens_out": 0} for line in lost]
        await session.execute(insert(ModelCallRow), rows)


def _key(call: PaidCall) -> dict[str, str]:
    return {name: getattr(call, name) for name in _WORK}


def _same(call: PaidCall) -> ColumnElement[bool]:
    return and_(*(getattr(ModelCallRow, name) == value for name, value in _key(call).items()))


def _left_behind(wanted: Sequence[Expected], now: datetime) -> ColumnElement[bool]:
    """Who asks for the same again holds its claim, so nobody else is at it."""
    keys = [tuple(_key(one.call).values()) for one in wanted]
    again = tuple_(*(getattr(ModelReservationRow, name) for name in _WORK)).in_(keys)
    return or_(ModelReservationRow.until <= now, again)


def _reservation(one: Expected, until: datetime, now: datetime) -> dict[str, object]:
    return {
        **_key(one.call),
        "entry_id": one.call.entry_id,
        "feed_id": one.call.feed_id,
        "tokens_in": one.tokens_in,
        "tokens_out": one.tokens_out,
        "cost": one.cost,
        "at": now,
        "until": until,
    }
