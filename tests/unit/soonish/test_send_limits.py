"""Rate and concurrency limits of sending."""

import asyncio
import time
from datetime import timedelta

from pressbox.soonish.adapters.send_limits import ConcurrencyLimit, RateLimit


async def test_calls_with_one_key_are_kept_apart_and_others_do_not_wait() -> None:
    limit = RateLimit()
    began = time.monotonic()
    await asyncio.gather(
        *(limit.wait_turn("one", 0.05) for _ in range(4)), *(limit.wait_turn(f"other-{n}", 5) for n in range(20))
    )
    assert 0.15 <= time.monotonic() - began < 1.0


async def test_without_spacing_nobody_waits() -> None:
    limit = RateLimit()
    await asyncio.wait_for(asyncio.gather(*(limit.wait_turn("one", 0) for _ in range(1000))), 1)


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
