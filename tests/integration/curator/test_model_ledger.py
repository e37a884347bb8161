"""The ledger in PostgreSQL: what is set aside, what is paid, and what was lost with a worker."""

import asyncio
from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import select

from pressbox.core.db.database import Database
from pressbox.core.models.client import ModelClient, OnText, Question
from pressbox.core.models.completions import Said
from pressbox.core.spending.domain import Budget, Order, Outcome, PaidAnswer, PaidCall, Prices, Spent
from pressbox.core.spending.holding import CLAIM_LIFETIME
from pressbox.core.spending.ledger import SqlClaims, SqlLedger
from pressbox.core.spending.pay_once import PayOnce
from pressbox.core.spending.rows import PaidRequestRow
from pressbox.core.spending.till import Till
from tests.fakes.curator_rows import NOW, Rows
from tests.fakes.spending import PLENTY, spend, sql_pay_once

UNTIL = NOW + timedelta(minutes=15)


def call(number: int = 1, feature: str = "answer") -> PaidCall:
    return PaidCall(f"hash {number}", "1", "model", feature)


def expected(number: int = 1, tokens_in: int = 60, tokens_out: int = 40) -> Order:
    return Order(call(number), tokens_in, tokens_out, 0.5)


async def opened(ledger: SqlLedger, order: Order, budget: Budget = PLENTY, later: timedelta = timedelta()) -> int:
    number = (await ledger.open(order, budget, UNTIL + later, NOW + later)).number
    assert number is not None
    return number


@pytest.fixture
def ledger(database: Database) -> SqlLedger:
    return SqlLedger(database)


@pytest.fixture
def rows(database: Database) -> Rows:
    return Rows(database)


async def test_eight_at_a_time_cannot_overshoot_the_budget_by_more_than_one_call(ledger: SqlLedger) -> None:
    given = await asyncio.gather(*(ledger.open(expected(number), Budget(250), UNTIL, NOW) for number in range(8)))
    assert len([one for one in given if one.number is not None]) == 3
    assert all(one.held_by_others for one in given if one.number is None)


async def test_a_budget_that_is_used_up_is_not_one_that_is_held_by_others(database: Database) -> None:
    ledger = SqlLedger(database)
    await spend(database, call(), PaidAnswer("said", 90, 10), NOW)
    full = await ledger.open(expected(2), Budget(100), UNTIL, NOW)
    assert (full.number, full.held_by_others) == (None, False)
    await opened(ledger, expected(2), Budget(101))
    held = await ledger.open(expected(3), Budget(101), UNTIL, NOW)
    assert (held.number, held.held_by_others) == (None, True)


async def test_a_limit_of_costs_stops_as_tokens_do(database: Database) -> None:
    ledger = SqlLedger(database)
    await spend(database, call(), PaidAnswer("said", 1, 1, cost=2.0), NOW)
    assert (await ledger.open(expected(2), Budget(1000, 2.0), UNTIL, NOW)).number is None
    assert (await ledger.open(expected(2), Budget(1000, 2.1), UNTIL, NOW)).number is not None


async def test_characters_and_posts_take_tokens_of_the_day(database: Database) -> None:
    await spend(database, call(1), PaidAnswer("", characters=401), NOW)
    await spend(database, call(2), PaidAnswer("", posts=10), NOW)
    assert await SqlLedger(database).spent_today(NOW) == Spent(101 + 700, 0.0)


async def test_what_was_expected_gives_way_to_what_was_used(ledger: SqlLedger, rows: Rows) -> None:
    await ledger.record(await opened(ledger, expected(1)), PaidAnswer("said", 10, 5, 0.1))
    await ledger.drop(await opened(ledger, expected(2)))
    await ledger.close(await opened(ledger, expected(3)), Outcome.REFUSED, "The key is wrong.")
    assert await ledger.spent_today(NOW) == Spent(15, 0.1)
    await ledger.close(await opened(ledger, expected(4)), Outcome.LOST, "It broke off.")
    assert await ledger.spent_today(NOW) == Spent(115, 0.6)
    lines = await rows.all(select(PaidRequestRow).order_by(PaidRequestRow.id))
    assert [(line.content_hash, line.outcome, line.reason) for line in lines] == [
        ("hash 1", "answered", ""),
        ("hash 3", "refused", "The key is wrong."),
        ("hash 4", "lost", "It broke off."),
    ]


@pytest.mark.parametrize(
    ("again", "later"), [(1, timedelta(seconds=1)), (2, timedelta(minutes=15))], ids=["the same is asked", "it lapsed"]
)
async def test_a_question_whose_worker_died_is_counted_as_lost(
    ledger: SqlLedger, rows: Rows, again: int, later: timedelta
) -> None:
    await opened(ledger, expected(1))
    assert (await ledger.find_tries(call(1), NOW)).count == 1, "whoever asks holds the claim: nobody else is at it"
    await opened(ledger, expected(again), later=later)
    first, second = await rows.all(select(PaidRequestRow).order_by(PaidRequestRow.id))
    assert (first.outcome, first.weight, first.at, second.outcome) == ("lost", 100, NOW, "running")
    assert await ledger.find_answer(call(1)) is None


async def test_answers_of_no_use_are_counted_and_never_given_out(database: Database) -> None:
    ledger = SqlLedger(database)
    for _ in range(2):
        await spend(database, call(), PaidAnswer("nonsense", 10, 5, usable=False, reason="Nonsense."), NOW)
    assert await ledger.find_answer(call()) is None
    assert (await ledger.spent_today(NOW)).tokens == 30
    tries = await ledger.find_tries(call(), NOW)
    assert (tries.count, tries.answers_others, tries.reason) == (2, True, "Nonsense.")
    assert (await ledger.find_tries(call(), NOW + timedelta(seconds=1))).count == 0
    assert (await ledger.find_tries(call(feature="context"), NOW)).count == 0
    await spend(database, call(), PaidAnswer("at last", 10, 5), NOW)
    assert await ledger.find_answer(call()) == "at last"


async def test_a_service_that_answers_nobody_is_told_from_one_that_answers_others(database: Database) -> None:
    ledger = SqlLedger(database)
    await spend(database, call(2), PaidAnswer("before", 1, 1), NOW - timedelta(minutes=1))
    await ledger.close(await opened(ledger, expected(1)), Outcome.LOST, "It broke off.")
    assert not (await ledger.find_tries(call(1), NOW)).answers_others
    await spend(database, call(3), PaidAnswer("after", 1, 1), NOW)
    assert (await ledger.find_tries(call(1), NOW)).answers_others


async def test_the_same_text_for_two_features_is_two_pieces_of_work(database: Database) -> None:
    await spend(database, call(feature="answer"), PaidAnswer("an answer", 1, 1), NOW)
    assert await SqlLedger(database).find_answer(call(feature="graph")) is None


QUESTION = Question("answer", "1", "hash", "Say it in short.", "A text of some length.", 50)


class _SlowModel:
    model = "model"

    def __init__(self) -> None:
        self.asked = 0

    async def converse(self, question: Question, on_text: OnText | None = None) -> Said:
        self.asked += 1
        await asyncio.sleep(0.3)
        return Said("In short.", 20, 2)


async def test_two_processes_that_ask_the_same_at_a_time_pay_once(database: Database, rows: Rows) -> None:
    model = _SlowModel()
    workers = [ModelClient(model, sql_pay_once(database), Prices(1.0, 1.0)) for _ in range(3)]
    replies = await asyncio.gather(*(worker.ask(QUESTION) for worker in workers))
    assert sorted(reply.bought for reply in replies) == [False, False, True]
    assert (model.asked, len(await rows.all(select(PaidRequestRow)))) == (1, 1)


class _KilledError(BaseException):
    """The end of a process: nothing after it happens, and nobody is told."""


class _Dying:
    """A worker that dies at one place: `at` is the name of a step, before which or after which it is gone."""

    def __init__(self, database: Database, model: _SlowModel, at: str) -> None:
        self._ledger, self._claims, self._model = SqlLedger(database), SqlClaims(database), model
        self._at = at
        for name, part in (("open", self._ledger), ("record", self._ledger), ("converse", model)):
            setattr(part, name, self._mortal(name, getattr(part, name)))
        # The dead give nothing back.
        setattr(self._ledger, "close", _nothing)  # noqa: B010
        setattr(self._claims, "release", _nothing)  # noqa: B010

    def _mortal(self, name: str, step: Callable[..., Awaitable[Any]]) -> Callable[..., Awaitable[Any]]:
        async def taken(*arguments: Any, **named: Any) -> Any:
            if self._at == f"before {name}":
                raise _KilledError
            result = await step(*arguments, **named)
            if self._at == f"after {name}":
                raise _KilledError
            return result

        return taken

    async def work(self) -> None:
        till = Till(self._ledger, Budget(1000), lambda: NOW)
        worker = ModelClient(self._model, PayOnce(self._ledger, self._claims, till, lambda: NOW))
        with pytest.raises(_KilledError):
            await worker.ask(QUESTION)


async def _nothing(*arguments: Any, **named: Any) -> None: ...


@pytest.mark.parametrize(
    ("place", "asked", "lost"),
    [
        ("before open", 1, 0),
        ("after open", 1, 1),
        ("before converse", 1, 1),
        ("after converse", 2, 1),
        ("before record", 2, 1),
        ("after record", 1, 0),
    ],
)
async def test_a_worker_that_dies_anywhere_costs_one_question_at_most_and_the_books_know_it(
    database: Database, rows: Rows, place: str, asked: int, lost: int
) -> None:
    model = _SlowModel()
    await _Dying(database, model, place).work()
    first = model.asked
    heir = _SlowModel()
    later = NOW + CLAIM_LIFETIME
    reply = await ModelClient(heir, sql_pay_once(database, 1000, lambda: later)).ask(QUESTION)
    assert reply.text == "In short."
    assert first + heir.asked == asked
    lines = await rows.all(select(PaidRequestRow))
    assert [line.outcome for line in lines].count(Outcome.ANSWERED) == 1
    assert [line.outcome for line in lines].count(Outcome.LOST) == lost
    assert len(lines) == 1 + lost
