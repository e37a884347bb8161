"""The ledger in PostgreSQL: what is set aside, what is paid, and what was lost with a worker."""

import asyncio
from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import select

from pressbox.core.db.database import Database
from pressbox.core.models.chat import Said
from pressbox.curator.library.rows import ModelCallRow, ModelReservationRow
from pressbox.curator.models.client import ModelClient
from pressbox.curator.models.domain import Prices
from pressbox.curator.models.pay_once import CLAIM_LIFETIME
from pressbox.curator.models.ports import Feature, OnText, Order, PaidAnswer, PaidCall, Question
from pressbox.curator.models.store import SqlClaims, SqlModelLedger
from tests.fakes.curator_rows import NOW, Rows

UNTIL = NOW + timedelta(minutes=15)


def call(number: int = 1, feature: str = "answer") -> PaidCall:
    return PaidCall(f"hash {number}", "1", "model", feature, None, None)


def expected(number: int = 1, tokens_in: int = 60, tokens_out: int = 40) -> Order:
    return Order(call(number), tokens_in, tokens_out, 0.5)


@pytest.fixture
def ledger(database: Database) -> SqlModelLedger:
    return SqlModelLedger(database)


@pytest.fixture
def rows(database: Database) -> Rows:
    return Rows(database)


async def test_eight_at_a_time_cannot_overshoot_the_budget_by_more_than_one_call(ledger: SqlModelLedger) -> None:
    asking = [ledger.reserve([expected(number)], 250, UNTIL, NOW) for number in range(8)]
    given = await asyncio.gather(*asking)
    assert sum(len(one.ids) for one in given) == 3
    assert all(one.held_by_others for one in given if not one.ids)


async def test_a_budget_that_is_used_up_is_not_one_that_is_held_by_others(ledger: SqlModelLedger) -> None:
    await ledger.record(call(), PaidAnswer("said", 90, 10), NOW)
    assert await ledger.reserve([expected(2)], 100, UNTIL, NOW) == await ledger.reserve([expected(3)], 1, UNTIL, NOW)
    assert not (await ledger.reserve([expected(2)], 100, UNTIL, NOW)).held_by_others
    assert (await ledger.reserve([expected(2)], 101, UNTIL, NOW)).ids, "one token of the day is left"
    assert (await ledger.reserve([expected(3)], 101, UNTIL, NOW)).held_by_others


async def test_what_was_set_aside_gives_way_to_what_was_used(ledger: SqlModelLedger, rows: Rows) -> None:
    (number,) = (await ledger.reserve([expected()], 1000, UNTIL, NOW)).ids
    await ledger.record(call(), PaidAnswer("said", 10, 5, 0.1), NOW, reserved=number)
    assert await rows.all(select(ModelReservationRow)) == []
    assert await ledger.tokens_today(NOW) == 15
    (other,) = (await ledger.reserve([expected(2)], 1000, UNTIL, NOW)).ids
    await ledger.release([other])
    assert await rows.all(select(ModelReservationRow)) == []
    assert await ledger.tokens_today(NOW) == 15


@pytest.mark.parametrize(
    ("again", "later"), [(1, timedelta(seconds=1)), (2, timedelta(minutes=15))], ids=["the same is asked", "it lapsed"]
)
async def test_a_question_whose_worker_died_is_counted_and_its_tokens_out_are_for_others(
    ledger: SqlModelLedger, rows: Rows, again: int, later: timedelta
) -> None:
    await ledger.reserve([expected(1)], 1000, UNTIL, NOW)
    assert (await ledger.reserve([expected(again)], 1000, UNTIL + later, NOW + later)).ids
    (line,) = await rows.all(select(ModelCallRow))
    assert (line.content_hash, line.usable, line.answer) == ("hash 1", False, "")
    assert (line.tokens_in, line.tokens_out, line.cost, line.at) == (60, 0, 0.5, NOW)
    assert await ledger.find_answer(call(1)) is None
    assert await ledger.count_unusable(call(1), NOW - timedelta(days=1)) == 0, "nobody heard what it was"


async def test_answers_of_no_use_are_counted_and_never_given_out(ledger: SqlModelLedger) -> None:
    for _ in range(2):
        await ledger.record(call(), PaidAnswer("nonsense", 10, 5, usable=False), NOW)
    assert await ledger.find_answer(call()) is None
    assert await ledger.tokens_today(NOW) == 30
    assert await ledger.count_unusable(call(), NOW) == 2
    assert await ledger.count_unusable(call(), NOW + timedelta(seconds=1)) == 0
    assert await ledger.count_unusable(call(feature="context"), NOW) == 0
    await ledger.record(call(), PaidAnswer("at last", 10, 5), NOW)
    assert await ledger.find_answer(call()) == "at last"


async def test_the_same_text_for_two_features_is_two_pieces_of_work(ledger: SqlModelLedger) -> None:
    await ledger.record(call(feature="answer"), PaidAnswer("an answer", 1, 1), NOW)
    assert await ledger.find_answer(call(feature="graph")) is None


async def test_who_pays_for_the_same_on_another_day_leaves_the_first_day_as_it_was(ledger: SqlModelLedger) -> None:
    tomorrow = NOW + timedelta(days=1)
    await ledger.record(call(), PaidAnswer("first", 10, 5), NOW)
    await ledger.record(call(), PaidAnswer("second", 7, 1), tomorrow)
    assert await ledger.find_answer(call()) == "first"
    assert await ledger.tokens_today(tomorrow) == 8


QUESTION = Question(Feature.ANSWER, "1", "hash", "Say it in short.", "A text of some length.", 50)


class _SlowModel:
    model = "model"

    def __init__(self) -> None:
        self.asked = 0

    async def converse(self, instructions: str, material: str, most_tokens: int, on_text: OnText | None = None) -> Said:
        self.asked += 1
        await asyncio.sleep(0.3)
        return Said("In short.", 20, 2)


async def test_two_processes_that_ask_the_same_at_a_time_pay_once(database: Database, rows: Rows) -> None:
    model = _SlowModel()
    workers = [
        ModelClient(model, SqlModelLedger(database), SqlClaims(database), 1000, Prices(1.0, 1.0)) for _ in range(3)
    ]
    replies = await asyncio.gather(*(worker.ask(QUESTION) for worker in workers))
    assert sorted(reply.bought for reply in replies) == [False, False, True]
    assert (model.asked, len(await rows.all(select(ModelCallRow)))) == (1, 1)


class _KilledError(BaseException):
    """The end of a process: nothing after it happens, and nobody is told."""


class _Dying:
    """A worker that dies at one place: `at` is the name of a step, before which or after which it is gone."""

    def __init__(self, database: Database, model: _SlowModel, at: str) -> None:
        self._ledger, self._claims, self._model = SqlModelLedger(database), SqlClaims(database), model
        self._at = at
        for name, part in (("reserve", self._ledger), ("record", self._ledger), ("converse", model)):
            setattr(part, name, self._mortal(name, getattr(part, name)))
        # The dead give nothing back.
        setattr(self._ledger, "release", _nothing)  # noqa: B010
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
        worker = ModelClient(self._model, self._ledger, self._claims, 1000, now=lambda: NOW)
        with pytest.raises(_KilledError):
            await worker.ask(QUESTION)


async def _nothing(*arguments: Any, **named: Any) -> None: ...


@pytest.mark.parametrize(
    ("place", "asked", "lost"),
    [
        ("before reserve", 1, 0),
        ("after reserve", 1, 1),
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
    reply = await ModelClient(heir, SqlModelLedger(database), SqlClaims(database), 1000, now=lambda: later).ask(
        QUESTION
    )
    assert reply.text == "In short."
    assert first + heir.asked == asked
    lines = await rows.all(select(ModelCallRow))
    assert [line.usable for line in lines].count(True) == 1
    assert [line.tokens_out == 0 and not line.usable for line in lines].count(True) == lost
    assert await rows.all(select(ModelReservationRow)) == []
