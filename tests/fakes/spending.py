"""A ledger and claims in memory, and spending for tests on a real one."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from itertools import count

from pressbox.core.clock import Clock, utc_now
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
from pressbox.core.spending.ledger import DIED, SqlClaims, SqlLedger
from pressbox.core.spending.pay_once import PayOnce
from pressbox.core.spending.ports import Claims, Ledger, Opening
from pressbox.core.spending.till import Till

PLENTY = Budget(10**9)
_numbers = count(1)


class FakeClaims:
    def __init__(self) -> None:
        self.held: dict[str, tuple[str, datetime]] = {}

    async def take(self, keys: Sequence[str], owner: str, until: datetime, now: datetime) -> frozenset[str]:
        free = [key for key in keys if key not in self.held or self.held[key][0] == owner or self.held[key][1] <= now]
        self.held |= dict.fromkeys(free, (owner, until))
        return frozenset(free)

    async def take_any(self, keys: Sequence[str], owner: str, until: datetime, now: datetime) -> str | None:
        free = [key for key in keys if key not in self.held or self.held[key][1] <= now]
        return next(iter(await self.take(free[:1], owner, until, now)), None)

    async def release(self, keys: Sequence[str], owner: str) -> None:
        for key in keys:
            if self.held.get(key, ("",))[0] == owner:
                del self.held[key]


@dataclass(frozen=True)
class Line:
    """`takes` is what the order may take, then what the answer took; nothing when it was refused."""

    order: Order
    at: datetime
    until: datetime
    takes: Order | PaidAnswer | None
    outcome: Outcome = Outcome.RUNNING
    reason: str = ""

    @property
    def spent(self) -> Spent:
        return Spent(weigh(self.takes), self.takes.cost) if self.takes else Spent()


class FakeLedger:
    """`tokens` are those of requests that have ended; a test may say that so many were spent today."""

    def __init__(self) -> None:
        self.lines: dict[int, Line] = {}
        self._earlier = 0

    @property
    def tokens(self) -> int:
        ended = (line for line in self.lines.values() if line.outcome is not Outcome.RUNNING)
        return self._earlier + sum(line.spent.tokens for line in ended)

    @tokens.setter
    def tokens(self, tokens: int) -> None:
        self._earlier += tokens - self.tokens

    @property
    def answers(self) -> dict[str, str]:
        """The newest of each piece of work."""
        return {
            line.order.call.key: line.takes.text
            for line in self.lines.values()
            if line.outcome is Outcome.ANSWERED and isinstance(line.takes, PaidAnswer)
        }

    @property
    def reserved(self) -> dict[int, Order]:
        return {number: line.order for number, line in self.lines.items() if line.outcome is Outcome.RUNNING}

    @property
    def outcomes(self) -> list[Outcome]:
        return [line.outcome for line in self.lines.values()]

    async def find_answer(self, call: PaidCall) -> str | None:
        return self.answers.get(call.key)

    async def find_tries(self, call: PaidCall, since: datetime) -> Tries:
        same = [line for line in self.lines.values() if line.order.call.key == call.key and line.at >= since]
        vain = [line for line in same if line.outcome in VAIN]
        if not vain:
            return Tries()
        heard = any(
            line.outcome in (Outcome.ANSWERED, Outcome.UNUSABLE) and line.at >= vain[0].at
            for line in self.lines.values()
            if line.order.call.model == call.model
        )
        died = sum(line.outcome is Outcome.RUNNING or line.reason == DIED for line in vain)
        return Tries(len(vain), heard, vain[-1].reason, died)

    async def open(self, order: Order, budget: Budget, until: datetime, now: datetime) -> Opening:
        for number, line in self.lines.items():
            dead = line.until <= now or line.order.call.key == order.call.key
            if line.outcome is Outcome.RUNNING and dead:
                self.lines[number] = replace(line, outcome=Outcome.LOST, reason=DIED)
        if budget.is_used_up(await self.spent_today(now)):
            ended = [line for line in self.lines.values() if line.outcome is not Outcome.RUNNING]
            return Opening(held_by_others=not budget.is_used_up(self._sum(ended, now)))
        posts = await self.posts_this_month(order.call.model, now)
        if order.posts_per_month is not None and posts + order.posts > order.posts_per_month:
            return Opening(month_used_up=True)
        number = next(_numbers)
        self.lines[number] = Line(order, now, until, order)
        return Opening(number)

    async def record(self, number: int, answer: PaidAnswer) -> None:
        outcome = Outcome.ANSWERED if answer.usable else Outcome.UNUSABLE
        self.lines[number] = replace(self.lines[number], outcome=outcome, reason=answer.reason, takes=answer)

    async def close(self, number: int, outcome: Outcome, reason: str) -> None:
        line = self.lines[number]
        takes = None if outcome is Outcome.REFUSED else line.takes
        self.lines[number] = replace(line, outcome=outcome, reason=reason, takes=takes)

    async def posts_this_month(self, model: str, now: datetime) -> int:
        of_model = (line for line in self.lines.values() if line.order.call.model == model)
        return sum(line.takes.posts for line in of_model if line.takes and line.at >= month_start(now))

    async def drop(self, number: int) -> None:
        del self.lines[number]

    async def spent_today(self, now: datetime) -> Spent:
        return self._sum(self.lines.values(), now)

    def _sum(self, lines: Iterable[Line], now: datetime) -> Spent:
        today = [line.spent for line in lines if line.at >= day_start(now)]
        return Spent(self._earlier + sum(one.tokens for one in today), sum(one.cost for one in today))


def free_till() -> Till:
    """A till of nobody, for adapters whose costs are not looked at."""
    return Till(FakeLedger(), PLENTY)


def pay_once_of(
    ledger: Ledger | None = None, claims: Claims | None = None, budget: Budget = PLENTY, now: Clock = utc_now
) -> PayOnce:
    ledger = ledger or FakeLedger()
    return PayOnce(ledger, claims or FakeClaims(), Till(ledger, budget, now), now)


def sql_pay_once(database: Database, tokens_per_day: int = 10**9, now: Clock = utc_now) -> PayOnce:
    ledger = SqlLedger(database)
    return PayOnce(ledger, SqlClaims(database), Till(ledger, Budget(tokens_per_day), now), now)


async def spend(database: Database, call: PaidCall, answer: PaidAnswer, at: datetime) -> None:
    """One request that was answered then."""
    ledger = SqlLedger(database)
    number = (await ledger.open(Order(call), PLENTY, at + timedelta(minutes=15), at)).number
    assert number is not None
    await ledger.record(number, answer)
