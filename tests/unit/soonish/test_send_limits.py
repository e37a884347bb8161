"""The pace and the places of sending."""

import asyncio
import time
from datetime import timedelta

from pressbox.soonish.adapters.limits import Pace, Places


async def test_turns_of_one_key_lie_apart_and_those_of_others_do_not_wait() -> None:
    pace = Pace()
    began = time.monotonic()
    await asyncio.gather(*(pace.turn("one", 0.05) for _ in range(4)), *(pace.turn(f"other-{n}", 5) for n in range(20)))
    assert 0.15 <= time.monotonic() - began < 1.0


async def test_without_spacing_nobody_waits() -> None:
    pace = Pace()
    await asyncio.wait_for(asyncio.gather(*(pace.turn("one", 0) for _ in range(1000))), 1)


async def test_a_hold_is_never_shortened() -> None:
    pace = Pace()
    pace.hold("one", timedelta(seconds=30))
    pace.hold("one", timedelta(seconds=1))
    assert timedelta(seconds=29) < pace.wait_for("one") <= timedelta(seconds=30)
    assert pace.wait_for("other") == timedelta()


async def test_no_more_at_once_than_there_are_places_per_key_and_in_all() -> None:
    places = Places(at_once=5, at_once_per_key=3)
    now: list[str] = []
    most = {"a": 0, "all": 0}

    async def use(key: str) -> None:
        async with places.place(key):
            now.append(key)
            most["a"] = max(most["a"], now.count("a"))
            most["all"] = max(most["all"], len(now))
            await asyncio.sleep(0.01)
            now.remove(key)

    await asyncio.gather(*(use(key) for key in "aaaaaaaabbbbbbbb"))
    assert most == {"a": 3, "all": 5}
    assert places._keys == {}, "nothing is kept of hosts that nobody uses"
