"""The searches of one account at X are counted once for all processes."""

import asyncio
from datetime import UTC, datetime, timedelta

import pytest

from pressbox.core.db.database import Database
from pressbox.footy.adapters.locked_state import LockedState
from pressbox.footy.adapters.sources.x_turns import SharedTurns, share_turns
from pressbox.footy.domain.errors import SourceBusyError, SourceError
from pressbox.footy.domain.search_turns import WINDOW, SearchTurns
from pressbox.footy.ports.outside import SearchRequest
from pressbox.footy.settings import FootySettings
from tests.fakes.footy import FakeSource

START = datetime(2026, 10, 3, 14, 0, tzinfo=UTC)
REQUEST = SearchRequest("Can BVB", ("Can",), ("BVB",), 5, timedelta(minutes=3))


class Process:
    """A worker with a source of its own, on the database of all."""

    def __init__(self, database: Database, clock: list[datetime], most: int = 45) -> None:
        self.service = FakeSource("x-browser")
        state = LockedState(database, "x-browser:one account", SearchTurns())
        self.source = SharedTurns(self.service, state, most, lambda: clock[0])

    async def search(self) -> bool:
        """False when there is no turn."""
        try:
            await self.source.search(REQUEST)
        except SourceBusyError:
            return False
        return True


async def test_two_processes_together_make_as_many_searches_as_the_account_may(database: Database) -> None:
    clock = [START]
    one, two = Process(database, clock), Process(database, clock)
    made = await asyncio.gather(*(process.search() for process in (one, two) for _ in range(40)))
    assert sum(made) == 45
    assert len(one.service.requests) + len(two.service.requests) == 45
    # A process that was restarted does not begin anew.
    assert not await Process(database, clock).search()
    clock[0] += WINDOW
    assert await one.search()


async def test_a_refusal_that_one_process_hears_holds_for_all(database: Database) -> None:
    clock = [START]
    one, two = Process(database, clock), Process(database, clock)
    one.service.failure = SourceBusyError("x-browser: busy", retry_after=timedelta(minutes=4))
    assert not await one.search()
    clock[0] += timedelta(minutes=3)
    assert not await two.search()
    assert two.service.requests == []
    clock[0] += timedelta(minutes=1)
    assert await two.search()


async def test_a_failure_that_is_no_refusal_costs_its_turn_only(database: Database) -> None:
    clock = [START]
    one = Process(database, clock, most=2)
    one.service.failure = SourceError("x-browser: away")
    with pytest.raises(SourceError):
        await one.source.search(REQUEST)
    one.service.failure = None
    assert [await one.search(), await one.search()] == [True, False]


def test_only_the_source_with_an_account_takes_turns(database: Database) -> None:
    browser, folder = FakeSource("x-browser"), FakeSource("folder")
    shared = share_turns([browser, folder], database, FootySettings())
    assert isinstance(shared[0], SharedTurns)
    assert shared[1] is folder
