"""Rate and concurrency limits of sending."""

import asyncio
from datetime import timedelta

from pressbox.soonish.adapters.send_limits import ConcurrencyLimit, RateLimit
from pressbox.soonish.domain.pacing import Pace


async def test_without_spacing_nobody_waits() -> None:
    limit = RateLimit()
    await asyncio.wait_for(asyncio.gather(*(limit.wait_turn("one", Pace(0.0)) for _ in range(1000))), 60)


async def test_whoever_stops_waiting_gives_the_turn_back() -> None:
    limit, hour = RateLimit(), Pace(3600.0)
    await limit.wait_turn("one", hour)
    waiting = [asyncio.create_task(limit.wait_turn("one", hour)) for _ in range(20)]
    await limit.wait_turn("other", hour)
    for task in waiting:
        task.cancel()
    await asyncio.gather(*waiting, return_exceptions=True)
    now = asyncio.get_running_loop().time()
    assert limit._free_at["one"] <= now + 3600, "nobody has to wait for those who went away"


async def test_a_host_that_never_answers_is_left_alone_until_it_answers() -> None:
    limit = RateLimit()
    for _ in range(2):
        limit.note_miss("one")
    limit.note_answer("one")
    limit.note_miss("one")
    assert limit.blocked_for("one") == timedelta()
    for _ in range(2):
        limit.note_miss("one")
    assert limit.blocked_for("one") > timedelta()


async def test_a_block_is_never_shortened() -> None:
    limit = RateLimit()
    limit.block("one", timedelta(seconds=30))
    limit.block("one", timedelta(seconds=1))
    assert timedelta(seconds=29) < limit.blocked_for("one") <= timedelta(seconds=30)
    assert limit.blocked_for("other") == timedelta()


async def test_no_more_run_at_once_than_allowed_per_key_and_in_all() -> None:
    limit = ConcurrencyLimit(at_once=5, at_once_per_key=3)
    now: list[str] = []
    most = {"a": 0, "all": 0}

    async def use(key: str) -> None:
        async with limit.slot(key):
            now.append(key)
            most["a"] = max(most["a"], now.count("a"))
            most["all"] = max(most["all"], len(now))
            await asyncio.sleep(0.01)
            now.remove(key)

    await asyncio.gather(*(use(key) for key in "aaaaaaaabbbbbbbb"))
    assert most == {"a": 3, "all": 5}
    assert limit._keys == {}, "nothing is kept of hosts that nobody uses"
