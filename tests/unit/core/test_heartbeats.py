"""Heartbeats of activities that are made of others, and of those that are cancelled at their end."""

import asyncio

from temporalio.testing import ActivityEnvironment

from pressbox.core.contracts import Contract
from pressbox.core.temporal.heartbeat import Heartbeat, ResumableHeartbeat


class Reached(Contract):
    step: int = 0


async def test_a_heartbeat_inside_another_does_not_overwrite_its_cursor() -> None:
    beats: list[tuple[object, ...]] = []
    environment = ActivityEnvironment()
    environment.on_heartbeat = lambda *details: beats.append(details)

    async def part() -> None:
        async with Heartbeat(every_seconds=0.001):
            seen = len(beats)
            while len(beats) < seen + 3:
                await asyncio.sleep(0.001)

    async def whole() -> None:
        async with ResumableHeartbeat(Reached(), every_seconds=0.001) as heartbeat:
            heartbeat.advance(Reached(step=1))
            await asyncio.gather(part(), part())

    await environment.run(whole)
    assert set(beats) == {(Reached(step=1),)}
    beats.clear()
    await environment.run(part)
    assert set(beats) == {()}


async def test_a_cancellation_at_the_end_of_a_block_does_not_undo_it() -> None:
    """An activity that has told others what it did must not be recorded as cancelled."""
    environment = ActivityEnvironment()

    async def work() -> str:
        task = asyncio.current_task()
        assert task is not None
        async with Heartbeat():
            # The next time that this task waits for anything.
            asyncio.get_running_loop().call_soon(task.cancel)
        return "done"

    assert await asyncio.create_task(environment.run(work)) == "done"
