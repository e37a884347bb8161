"""Callers that ask at the same time share a load, and the next group waits for the one before it."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field

import pytest

from pressbox.core.errors import TransientError
from pressbox.delivery.adapters.gathered import Gathered


@dataclass
class Shelf:
    """Doubles numbers, but knows no odd ones; its first load waits until it is let go."""

    loads: list[Sequence[int]] = field(default_factory=list)
    entered: asyncio.Event = field(default_factory=asyncio.Event)
    go_on: asyncio.Event = field(default_factory=asyncio.Event)

    async def load(self, numbers: Sequence[int]) -> dict[int, int]:
        self.loads.append(sorted(numbers))
        self.entered.set()
        await self.go_on.wait()
        return {number: 2 * number for number in numbers if number % 2 == 0}


async def test_those_who_ask_together_share_one_load() -> None:
    shelf = Shelf()
    shelf.go_on.set()
    gathered = Gathered(shelf.load)
    assert await asyncio.gather(*(gathered.get(number) for number in (1, 2, 2, 4))) == [None, 4, 4, 8]
    assert shelf.loads == [[1, 2, 4]]


async def test_while_one_load_runs_the_next_group_gathers() -> None:
    shelf = Shelf()
    gathered = Gathered(shelf.load)
    first = asyncio.create_task(gathered.get(2))
    await shelf.entered.wait()
    later = [asyncio.create_task(gathered.get(number)) for number in (4, 6)]
    await asyncio.sleep(0.1)
    assert shelf.loads == [[2]], "the second load waits for the first"
    shelf.go_on.set()
    assert await asyncio.gather(first, *later) == [4, 8, 12]
    assert shelf.loads == [[2], [4, 6]]


async def test_a_load_that_fails_fails_for_everybody_who_waits_and_for_nobody_else() -> None:
    async def fail(numbers: Sequence[int]) -> dict[int, int]:
        raise TransientError("The database is away.")

    gathered = Gathered(fail)
    for _ in range(2):
        found = await asyncio.gather(gathered.get(1), gathered.get(2), return_exceptions=True)
        assert [type(one) for one in found] == [TransientError, TransientError]


async def test_somebody_who_leaves_does_not_take_the_others_along() -> None:
    shelf = Shelf()
    gathered = Gathered(shelf.load)
    leaving, staying = asyncio.create_task(gathered.get(2)), asyncio.create_task(gathered.get(2))
    await shelf.entered.wait()
    leaving.cancel()
    with pytest.raises(asyncio.CancelledError):
        await leaving
    shelf.go_on.set()
    assert await staying == 4
