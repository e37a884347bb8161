"""An activity that is made of others keeps its own cursor."""

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
