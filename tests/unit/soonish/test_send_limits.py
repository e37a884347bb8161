"""How many are sent at once, and hosts that do not answer."""

import asyncio

from pressbox.delivery.adapters.send_limits import ConcurrencyLimit, Misses


def test_a_host_that_never_answers_is_left_alone_until_it_answers() -> None:
    misses = Misses()
    assert [misses.note("one", answered=answered) for answered in (False, False, True, False, False)] == [False] * 5
    assert not misses.note("other", answered=False)
    assert misses.note("one", answered=False)


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
