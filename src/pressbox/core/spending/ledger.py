"""The ledger and the claims in PostgreSQL."""

import random
from collections.abc import Collection, Sequence
from datetime import datetime

from sqlalchemy import ColumnElement, and_, delete, exists, func, insert, or_, select, update
from sqlalchemy.dialects.postgresql import insert as upsert
from sqlalchemy.ext.asyncio import AsyncSession

from pressbox.core.db.database import Database
from pressbox.core.spending.domain import (
    VAIN,
    Budget,
    Order,
    Outcome,
    PaidAnswer,
    PaidCall,
    Spent,
    Tries,
    day_start,
    month_start,
    weigh,
)
from pressbox.core.spending.ports import Opening
from pressbox.core.spending.rows import ClaimRow, PaidRequestRow

_LOCK = 0x4D_4F_4E_45_59  # "MONEY": an advisory lock of our own
_KEY = ("content_hash", "prompt_version", "model", "feature")
_NOTHING = {"tokens_in": 0, "tokens_out": 0, "characters": 0, "posts": 0, "weight": 0, "cost": 0.0}
DIED = "Its process ended before the answer came."


class SqlLedger:
    """What was paid for, with the answers, so that nothing is paid for twice."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def find_answer(self, call: PaidCall) -> str | None:
        answered = and_(_same_work(call), PaidRequestRow.outcome == Outcome.ANSWERED)
        async with self._database.unit_of_work() as work:
            answer: str | None = await work.session.scalar(
                select(PaidRequestRow.answer).where(answered).order_by(PaidRequestRow.id.desc()).limit(1)
            )
        return answer

    async def find_tries(self, call: PaidCall, since: datetime) -> Tries:
        vain = and_(_same_work(call), PaidRequestRow.outcome.in_(VAIN), PaidRequestRow.at >= since)
        columns = select(PaidRequestRow.at, PaidRequestRow.outcome, PaidRequestRow.reason)
        async with self._database.unit_of_work() as work:
            tries = (await work.session.execute(columns.where(vain).order_by(PaidRequestRow.id))).all()
            if not tries:
                return Tries()
            heard = and_(
                PaidRequestRow.model == call.model,
                PaidRequestRow.outcome.in_((Outcome.ANSWERED, Outcome.UNUSABLE)),
                PaidRequestRow.at >= tries[0].at,
            )
            answers_others = bool(await work.session.scalar(select(exists().where(heard))))
        # Whoever asks holds the claim of this work, so what still runs has no process any more.
        died = sum(one.outcome == Outcome.RUNNING or one.reason == DIED for one in tries)
        return Tries(len(tries), answers_others, tries[-1].reason, died)

    async def open(self, order: Order, budget: Budget, until: datetime, now: datetime) -> Opening:
        async with self._database.unit_of_work() as work:
            # One caller at a time: two that look together would both see the last token.
            await work.session.execute(select(func.pg_advisory_xact_lock(_LOCK)))
            await _write_off(work.session, order.call, now)
            if budget.is_used_up(await _spent(work.session, now)):
                paid = await _spent(work.session, now, PaidRequestRow.outcome != Outcome.RUNNING)
                return Opening(held_by_others=not budget.is_used_up(paid))
            if order.posts_per_month is not None:
                posts = await _posts(work.session, order.call.model, now)
                if posts + order.posts > order.posts_per_month:
                    return Opening(month_used_up=True)
            values = {**_key_values(order.call), **_amounts(order), "outcome": Outcome.RUNNING}
            ids = {"item_id": order.call.item_id, "source_id": order.call.source_id}
            line = insert(PaidRequestRow).values(**values, **ids, at=now, until=until).returning(PaidRequestRow.id)
            return Opening(await work.session.scalar(line))

    async def record(self, number: int, answer: PaidAnswer) -> None:
        outcome = Outcome.ANSWERED if answer.usable else Outcome.UNUSABLE
        said = {"answer": _make_storable(answer.text), "reason": _make_storable(answer.reason)}
        await self._end(number, **said, **_amounts(answer), outcome=outcome)

    async def close(self, number: int, outcome: Outcome, reason: str) -> None:
        amounts = _NOTHING if outcome is Outcome.REFUSED else {}
        await self._end(number, **amounts, outcome=outcome, reason=_make_storable(reason))

    async def drop(self, number: int) -> None:
        async with self._database.unit_of_work() as work:
            await work.session.execute(delete(PaidRequestRow).where(PaidRequestRow.id == number))

    async def posts_this_month(self, model: str, now: datetime) -> int:
        async with self._database.unit_of_work() as work:
            return await _posts(work.session, model, now)

    async def spent_today(self, now: datetime) -> Spent:
        async with self._database.unit_of_work() as work:
            return await _spent(work.session, now)

    async def _end(self, number: int, **values: object) -> None:
        async with self._database.unit_of_work() as work:
            line = update(PaidRequestRow).where(PaidRequestRow.id == number)
            await work.session.execute(line.values(**values, until=None))


async def forget_answers(session: AsyncSession, features: Collection[str], before: datetime | None = None) -> None:
    """Empty what was answered to such work; what it cost stays. Its hash goes too: a question can be guessed by it."""
    known = [PaidRequestRow.feature.in_(features), PaidRequestRow.content_hash != "", PaidRequestRow.until.is_(None)]
    if before is not None:
        known.append(PaidRequestRow.at < before)
    await session.execute(update(PaidRequestRow).where(*known).values(answer="", reason="", content_hash=""))


class SqlClaims:
    """Claims: one statement decides who has a piece of work."""

    def __init__(self, database: Database) -> None:
        self._database = database

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

    async def take_any(self, keys: Sequence[str], owner: str, until: datetime, now: datetime) -> str | None:
        held = select(ClaimRow.key).where(ClaimRow.key.in_(keys), ClaimRow.until > now)
        async with self._database.unit_of_work() as work:
            taken = set(await work.session.scalars(held))
        free = [key for key in keys if key not in taken]
        if not free:
            return None
        # Two that look together rarely choose the same one.
        return next(iter(await self.take([random.choice(free)], owner, until, now)), None)  # noqa: S311

    async def release(self, keys: Sequence[str], owner: str) -> None:
        async with self._database.unit_of_work() as work:
            await work.session.execute(delete(ClaimRow).where(ClaimRow.key.in_(keys), ClaimRow.owner == owner))


async def _spent(session: AsyncSession, now: datetime, *only: ColumnElement[bool]) -> Spent:
    sums = select(func.sum(PaidRequestRow.weight), func.sum(PaidRequestRow.cost))
    tokens, cost = (await session.execute(sums.where(PaidRequestRow.at >= day_start(now), *only))).one()
    return Spent(int(tokens or 0), float(cost or 0.0))


async def _posts(session: AsyncSession, model: str, now: datetime) -> int:
    this_month = and_(PaidRequestRow.model == model, PaidRequestRow.at >= month_start(now))
    return int(await session.scalar(select(func.sum(PaidRequestRow.posts)).where(this_month)) or 0)


async def _write_off(session: AsyncSession, call: PaidCall, now: datetime) -> None:
    """Count requests whose processes died. Whoever orders the same work holds its claim: nobody else is at it."""
    dead = and_(
        PaidRequestRow.outcome == Outcome.RUNNING,
        or_(PaidRequestRow.until <= now, _same_work(call)),
    )
    await session.execute(update(PaidRequestRow).where(dead).values(outcome=Outcome.LOST, reason=DIED, until=None))


def _key_values(call: PaidCall) -> dict[str, str]:
    return {name: getattr(call, name) for name in _KEY}


def _same_work(call: PaidCall) -> ColumnElement[bool]:
    return and_(*(getattr(PaidRequestRow, name) == value for name, value in _key_values(call).items()))


def _amounts(of: Order | PaidAnswer) -> dict[str, float]:
    amounts: dict[str, float] = {name: getattr(of, name) for name in _NOTHING if name != "weight"}
    return {**amounts, "weight": weigh(of)}


def _make_storable(text: str) -> str:
    """Remove NUL characters and replace halves of characters, which PostgreSQL cannot store."""
    return text.replace("\x00", "").encode(errors="replace").decode()
