"""Two processes that want the same answer pay once, also when one of them is killed while it pays."""

import asyncio
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator

import pytest
from sqlalchemy import select

from pressbox.core.clock import utc_now
from pressbox.core.db.database import Database
from pressbox.core.errors import TransientError
from pressbox.core.spending import pay_once
from pressbox.core.spending.holding import CLAIM_LIFETIME
from pressbox.core.spending.rows import PaidRequestRow
from pressbox.demo.simulators.http_service import Answer, Request
from tests.fakes.buyer import buy
from tests.fakes.paid_services import Counter, completion
from tests.waiting import until


class Holding(Counter):
    """Answers nobody before `let_go`."""

    def __init__(self) -> None:
        super().__init__()
        self.given = completion("In short.")
        self.let_go = asyncio.Event()

    async def answer(self, request: Request) -> Answer:
        answer = await super().answer(request)
        await self.let_go.wait()
        return answer


@pytest.fixture
async def endpoint() -> AsyncIterator[Holding]:
    async with Holding() as endpoint:
        yield endpoint
        endpoint.let_go.set()


async def start_buyer(database_url: str, endpoint: Holding) -> Process:
    arguments = ("-m", "tests.fakes.buyer", database_url, f"{endpoint.url}/v1")
    return await asyncio.create_subprocess_exec(sys.executable, *arguments, stdout=PIPE)


async def outcomes(database: Database) -> list[str]:
    async with database.unit_of_work() as work:
        return list(await work.session.scalars(select(PaidRequestRow.outcome).order_by(PaidRequestRow.id)))


async def test_two_processes_that_want_the_same_answer_pay_once(
    database: Database, database_url: str, endpoint: Holding
) -> None:
    buyers = [await start_buyer(database_url, endpoint) for _ in range(2)]
    await until(lambda: endpoint.received > 0)
    endpoint.let_go.set()
    said = [(await buyer.communicate())[0].decode().strip() for buyer in buyers]
    assert sorted(said) == ["bought", "found"]
    assert (endpoint.received, await outcomes(database)) == (1, ["answered"])


async def test_a_process_that_is_killed_while_it_pays_costs_one_more_try_and_is_in_the_ledger(
    database: Database, database_url: str, endpoint: Holding, monkeypatch: pytest.MonkeyPatch
) -> None:
    doomed = await start_buyer(database_url, endpoint)
    await until(lambda: endpoint.received > 0)
    doomed.kill()
    await doomed.communicate()
    endpoint.let_go.set()
    with monkeypatch.context() as impatient:
        impatient.setattr(pay_once, "PATIENCE", -pay_once.PATIENCE)
        with pytest.raises(TransientError, match="Another run is paying"):
            await buy(database_url, f"{endpoint.url}/v1")
    assert (endpoint.received, await outcomes(database)) == (1, ["running"])
    heirs = [buy(database_url, f"{endpoint.url}/v1", lambda: utc_now() + CLAIM_LIFETIME) for _ in range(2)]
    assert sorted(reply.bought for reply in await asyncio.gather(*heirs)) == [False, True]
    assert (endpoint.received, await outcomes(database)) == (2, ["lost", "answered"])
