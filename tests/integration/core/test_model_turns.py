"""Several processes ask one model: together they send as many requests at a time as one of them may."""

import asyncio
from collections.abc import AsyncIterator
from datetime import timedelta

import pytest

from pressbox.core.db.database import Database
from pressbox.core.errors import TransientError
from pressbox.core.models.chat import ChatModel
from pressbox.core.models.client import ModelClient, Question
from pressbox.core.models.endpoints import Endpoint
from pressbox.core.models.turns import SharedTurns
from pressbox.core.spending.ledger import SqlClaims
from pressbox.core.spending.till import UnbilledError
from pressbox.demo.simulators.http_service import Answer, Request
from pressbox.demo.simulators.model import MODEL, ModelService
from tests.fakes.paid_services import Counter, completion
from tests.fakes.spending import FakeClaims, sql_pay_once
from tests.waiting import until

AT_ONCE = 3


class Slow(Counter):
    """Answers when it is told to, and knows how many wait for it."""

    def __init__(self) -> None:
        super().__init__()
        self.released = asyncio.Event()
        self.waiting, self.most = 0, 0
        self.given = completion("In short.")

    async def answer(self, request: Request) -> Answer:
        self.waiting += 1
        self.most = max(self.most, self.waiting)
        await self.released.wait()
        self.waiting -= 1
        return await super().answer(request)


class Process:
    """What one worker has: a pool of its own and a model of its own."""

    def __init__(self, database_url: str, address: str) -> None:
        self.database = Database(database_url)
        endpoint = Endpoint(address, "a-model", None, "URL", "KEY", "NAME")
        self.turns = SharedTurns(SqlClaims(self.database), endpoint, AT_ONCE)
        self.chat = ChatModel("model", endpoint, longest_call=timedelta(minutes=2), at_once=AT_ONCE, turns=self.turns)
        self.model = ModelClient(self.chat, sql_pay_once(self.database))

    async def close(self) -> None:
        await self.chat.close()
        await self.database.close()


def question(number: int) -> Question:
    return Question("distil", "1", f"hash {number}", "Say it in short.", "A text of some length.", 50)


@pytest.fixture
async def slow() -> AsyncIterator[Slow]:
    async with Slow() as slow:
        yield slow
        slow.released.set()


@pytest.fixture
async def processes(database_url: str, slow: Slow) -> AsyncIterator[list[Process]]:
    processes = [Process(database_url, f"{slow.url}/v1") for _ in range(2)]
    yield processes
    for process in processes:
        await process.close()


async def take_and_return(turns: SharedTurns) -> None:
    async with turns.take(read_along=True):
        pass


async def test_two_processes_share_the_turns_and_one_is_kept_for_people(slow: Slow, processes: list[Process]) -> None:
    bulk = [asyncio.create_task(processes[n % 2].model.ask(question(n))) for n in range(8)]
    await until(lambda: slow.waiting == AT_ONCE - 1, "as many as bulk work may have")
    async with processes[0].turns.take(read_along=True):
        second = asyncio.create_task(take_and_return(processes[1].turns))
        # Those that wait look every quarter of a second.
        await asyncio.sleep(1)
        assert (slow.waiting, second.done()) == (AT_ONCE - 1, False)
    await second
    slow.released.set()
    await asyncio.gather(*bulk)
    assert slow.most == AT_ONCE - 1


async def test_what_a_dead_process_held_is_free_when_its_claim_lapses() -> None:
    claims, endpoint = FakeClaims(), Endpoint("http://localhost/v1", "a-model", None, "URL", "KEY", "NAME")
    turns = SharedTurns(claims, endpoint, 1)
    async with turns.take(read_along=False):
        (key,) = claims.held
    claims.held[key] = ("a process that died", turns._now() + timedelta(seconds=1))
    async with turns.take(read_along=False):
        assert claims.held[key][0] != "a process that died"
    assert claims.held == {}


async def test_without_a_database_nothing_is_sent_and_nothing_counts_as_paid(
    slow: Slow, database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    process = Process(database_url, f"{slow.url}/v1")

    async def away(*_: object) -> None:
        raise TransientError("The database is away.")

    monkeypatch.setattr(SqlClaims, "take_any", away)
    with pytest.raises(UnbilledError) as caught:
        await process.chat.converse(question(1))
    assert (caught.value.sent, slow.most) == (False, 0)
    await process.close()


async def test_only_an_answer_that_somebody_reads_along_takes_the_last_turn() -> None:
    async with ModelService(script=lambda asked: "In short.") as service:
        endpoint = Endpoint(service.base_url, MODEL, None, "URL", "KEY", "NAME")
        claims = FakeClaims()
        turns = SharedTurns(claims, endpoint, 2)
        chat = ChatModel("model", endpoint, longest_call=timedelta(seconds=30), at_once=2, turns=turns)
        async with turns.take(read_along=False):
            bulk = asyncio.create_task(chat.converse(question(1)))
            said = await chat.converse(question(2), on_text=ignore)
            assert (said.text, bulk.done()) == ("In short.", False)
        await bulk
        await chat.close()


async def ignore(_: str) -> None: ...
