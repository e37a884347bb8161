"""The cost ledger, the claims and the costs in PostgreSQL."""

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import (
    ColumnElement,
    Date,
    Delete,
    and_,
    cast,
    delete,
    func,
    insert,
    or_,
    select,
    text,
    tuple_,
)
from sqlalchemy.dialects.postgresql import insert as upsert
from sqlalchemy.ext.asyncio import AsyncSession

from pressbox.curator.library.feed_names import feed_name
from pressbox.curator.library.rows import (
    ClaimRow,
    EntryRow,
    FeedRow,
    ModelCallRow,
    ModelReservationRow,
    SubscriptionRow,
)
from pressbox.curator.library.store import SqlStore
from pressbox.curator.models.domain import CostView, day_start
from pressbox.curator.models.ports import Order, PaidAnswer, PaidCall, Reservation
from pressbox.curator.text.plain_text import make_storable

_LOCK = 0x4D_4F_4E_45_59  # "MONEY": an advisory lock of our own
_KEY = ["content_hash", "prompt_version", "model", "feature"]
_LOST = (*_KEY, "entry_id", "feed_id", "tokens_in", "cost", "at")


class SqlModelLedger(SqlStore):
    """What models were paid for, with their answers, so that nothing is paid for twice."""

    async def find_answer(self, call: PaidCall) -> str | None:
        statement = select(ModelCallRow.answer).where(_same_work(call), ModelCallRow.usable)
        async with self._database.unit_of_work() as work:
            answer: str | None = await work.session.scalar(statement)
        return answer

    async def count_unusable(self, call: PaidCall, since: datetime) -> int:
        # Without tokens out no answer arrived, which says nothing about its quality.
        unusable = and_(~ModelCallRow.usable, ModelCallRow.tokens_out > 0, ModelCallRow.at >= since)
        async with self._database.unit_of_work() as work:
            return int(await work.session.scalar(select(func.count()).where(_same_work(call), unusable)) or 0)

    async def reserve(self, orders: Sequence[Order], per_day: int, until: datetime, now: datetime) -> Reservation:
        reserved = func.sum(ModelReservationRow.tokens_in + ModelReservationRow.tokens_out)
        async with self._database.unit_of_work() as work:
            # One caller at a time: two that look together would both see the last token.
            await work.session.execute(select(func.pg_advisory_xact_lock(_LOCK)))
            await _write_off(work.session, delete(ModelReservationRow).where(_is_abandoned(orders, now)))
            used = await _tokens_used(work.session, now)
            if used + int(await work.session.scalar(select(reserved)) or 0) >= per_day:
                return Reservation(held_by_others=used < per_day)
            rows = [_reservation_values(order, until, now) for order in orders]
            statement = insert(ModelReservationRow).returning(ModelReservationRow.id, sort_by_parameter_order=True)
            return Reservation(tuple(await work.session.scalars(statement, rows)))

    async def release(self, reserved: Sequence[int], *, paid: bool = False) -> None:
        if not reserved:
            return
        statement = delete(ModelReservationRow).where(ModelReservationRow.id.in_(reserved))
        async with self._database.unit_of_work() as work:
            if paid:
                await _write_off(work.session, statement)
            else:
                await work.session.execute(statement)

    async def record(self, call: PaidCall, answer: PaidAnswer, now: datetime, *, reserved: int | None = None) -> None:
        """Of two usable answers to the same call the first stays; both costs count, each on its day."""
        async with self._database.unit_of_work() as work:
            feed_id = call.feed_id
            if feed_id is None and call.entry_id is not None:
                feed_id = await work.session.scalar(select(EntryRow.feed_id).where(EntryRow.id == call.entry_id))
            values = {
                **_key_values(call),
                "entry_id": call.entry_id,
                "feed_id": feed_id,
                "answer": make_storable(answer.text),
                "tokens_in": answer.tokens_in,
                "tokens_out": answer.tokens_out,
                "cost": answer.cost,
                "at": now,
            }
            statement = upsert(ModelCallRow).values(**values, usable=answer.usable)
            first = statement.on_conflict_do_nothing(index_elements=_KEY, index_where=text("usable"))
            if await work.session.scalar(first.returning(ModelCallRow.id)) is None:
                await work.session.execute(insert(ModelCallRow).values(**values, usable=False))
            if reserved is not None:
                await work.session.execute(delete(ModelReservationRow).where(ModelReservationRow.id == reserved))

    async def tokens_today(self, now: datetime) -> int:
        """Tokens used since midnight UTC."""
        async with self._database.unit_of_work() as work:
            return await _tokens_used(work.session, now)


class SqlClaims(SqlStore):
    """Claims: one statement decides who has a piece of work."""

    async def take(self, keys: Sequence[str], owner: str, until: datetime, now: datetime) -> frozenset[str]:
        if not keys:
            return frozenset()
        # Sorted, because two workers that lock them in different orders would wait for each other.
        wanted = upsert(ClaimRow).values([{"key": key, "owner": owner, "until": until} for key in sorted(set(keys))])
        taken = wanted.on_conflict_do_update(
            index_elements=[ClaimRow.key],
            set_={"owner": owner, "until": until},
            where=or_(ClaimRow.owner == owner, ClaimRow.until <= now),
        ).returning(ClaimRow.key)
        async with self._database.unit_of_work() as work:
            return frozenset(await work.session.scalars(taken))

    async def release(self, keys: Sequence[str], owner: str) -> None:
        async with self._database.unit_of_work() as work:
            await work.session.execute(delete(ClaimRow).where(ClaimRow.key.in_(keys), ClaimRow.owner == owner))


class SqlCosts(SqlStore):
    """What models cost, from the ledger."""

    async def by_day(self, user_id: int | None, since: datetime) -> Sequence[CostView]:
        """Costs by day, feed, feature and model: of the person's feeds, or of all without one."""
        day = cast(func.timezone("UTC", ModelCallRow.at), Date)
        title = feed_name()
        statement = (
            select(
                day,
                FeedRow.id,
                title,
                ModelCallRow.feature,
                ModelCallRow.model,
                func.count(),
                func.count().filter(~ModelCallRow.usable),
                func.sum(ModelCallRow.tokens_in),
                func.sum(ModelCallRow.tokens_out),
                func.sum(ModelCallRow.cost),
            )
            .select_from(ModelCallRow)
            .outerjoin(FeedRow, FeedRow.id == ModelCallRow.feed_id)
            .where(ModelCallRow.at >= since)
            .group_by(day, FeedRow.id, title, ModelCallRow.feature, ModelCallRow.model)
            .order_by(day.desc(), func.sum(ModelCallRow.cost).desc(), title, ModelCallRow.feature, ModelCallRow.model)
        )
        if user_id is not None:
            own = select(SubscriptionRow.feed_id).where(SubscriptionRow.user_id == user_id)
            statement = statement.where(ModelCallRow.feed_id.in_(own))
        async with self._database.unit_of_work() as work:
            return [CostView(*row) for row in (await work.session.execute(statement)).tuples()]


async def _tokens_used(session: AsyncSession, now: datetime) -> int:
    used = func.sum(ModelCallRow.tokens_in + ModelCallRow.tokens_out)
    return int(await session.scalar(select(used).where(ModelCallRow.at >= day_start(now))) or 0)


async def _write_off(session: AsyncSession, gone: Delete) -> None:
    """Count questions that were sent and whose answers never arrived."""
    columns = [getattr(ModelReservationRow, name) for name in _LOST]
    lost = (await session.execute(gone.returning(*columns))).mappings().all()
    if lost:
        rows = [{**line, "answer": "", "usable": False, "tokens_out": 0} for line in lost]
        await session.execute(insert(ModelCallRow), rows)


def _key_values(call: PaidCall) -> dict[str, str]:
    return {name: getattr(call, name) for name in _KEY}


def _same_work(call: PaidCall) -> ColumnElement[bool]:
    return and_(*(getattr(ModelCallRow, name) == value for name, value in _key_values(call).items()))


def _is_abandoned(orders: Sequence[Order], now: datetime) -> ColumnElement[bool]:
    """Whoever orders the same work again holds its claim, so nobody else is at it."""
    keys = [tuple(_key_values(order.call).values()) for order in orders]
    same_work = tuple_(*(getattr(ModelReservationRow, name) for name in _KEY)).in_(keys)
    return or_(ModelReservationRow.until <= now, same_work)


def _reservation_values(order: Order, until: datetime, now: datetime) -> dict[str, object]:
    return {
        **_key_values(order.call),
        "entry_id": order.call.entry_id,
        "feed_id": order.call.feed_id,
        "tokens_in": order.tokens_in,
        "tokens_out": order.tokens_out,
        "cost": order.cost,
        "at": now,
        "until": until,
    }
