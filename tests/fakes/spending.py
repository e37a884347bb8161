"""A ledger and claims in memory, and spending for tests on a real one."""

from collections.abc import Sequence
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
    weigh,
)
from pressbox.core.spending.ledger import SqlClaims, SqlLedger
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

    async def release(self, keys: Sequence[str], owner: str) -> None:
        for key in keys:
            if self.held.get(key, ("",))[0] == owner:
                del self.held[key]


@dataclass(frozen=True)
class Line:
    order: Order
    outcome: Outcome = Outcome.RUNNING
    reason: str = ""


class FakeLedger:
    """`tokens` are those of today, apart from what is reserved."""

    def __init__(self) -> None:
        self.lines: dict[int, Line] = {}
        self.answers: dict[str, str] = {}
        self.tokens = 0
        self.cost = 0.0

    @property
    def reserved(self) -> dict[int, Order]:
        return {number: line.order for number, line in self.lines.items() if line.outcome is Outcome.RUNNING}

    @property
    def outcomes(self) -> list[Outcome]:
        return [line.outcome for line in self.lines.values()]

    async def find_answer(self, call: PaidCall) -> str | None:
        return self.answers.get(call.key)

    async def find_tries(self, call: PaidCall, since: datetime) -> Tries:
        vain = [one for one in self.lines.values() if one.order.call.key == call.key and one.outcome in VAIN]
        heard = any(one.outcome in (Outcome.ANSWERED, Outcome.UNUSABLE) for one in self.lines.values())
        return Tries(len(vain), heard, vain[-1].reason if vain else "")

    async def open(self, order: Order, budget: Budget, until: datetime, now: datetime) -> Opening:
        held = sum(weigh(one) for one in self.reserved.values())
        if budget.is_used_up(Spent(self.tokens + held, self.cost)):
            return Opening(held_by_others=not budget.is_used_up(Spent(self.tokens, self.cost)))
        number = next(_numbers)
        self.lines[number] = Line(order)
        return Opening(number)

    async def record(self, number: int, answer: PaidAnswer) -> None:
        outcome = Outcome.ANSWERED if answer.usable else Outcome.UNUSABLE
        line = self.lines[number] = replace(self.lines[number], outcome=outcome, reason=answer.reason)
        if answer.usable:
            self.answers[line.order.call.key] = answer.text
        self.tokens += weigh(answer)
        self.cost += answer.cost

    async def close(self, number: int, outcome: Outcome, reason: str) -> None:
        line = self.lines[number] = replace(self.lines[number], outcome=outcome, reason=reason)
        self.tokens += 0 if outcome is Outcome.REFUSED else weigh(line.order)

    async def drop(self, number: int) -> None:
        del self.lines[number]

    async def spent_today(self, now: datetime) -> Spent:
        return Spent(self.tokens, self.cost)


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
