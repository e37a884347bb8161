"""Functions in child processes: what they return, and what they cannot do to their caller."""

import asyncio
import os
import signal
from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path

import pytest

from pressbox.core.errors import ConfigurationError, ConflictError, InvalidInputError, TransientError
from pressbox.core.processes.calls import CallFailedError, Limits, Terms
from pressbox.core.processes.pool import CALLS_PER_CHILD, ChildDiedError, ChildPool
from tests.fakes import child_functions as functions
from tests.waiting import until


@pytest.fixture(scope="module")
async def pool() -> AsyncIterator[ChildPool]:
    pool = ChildPool("The child", limits=Limits(memory_bytes=200_000_000, file_bytes=1000))
    yield pool
    await pool.close()


async def test_arguments_and_results_keep_their_types(pool: ChildPool) -> None:
    greeting = await pool.run(functions.greet, "Ann", pause=timedelta(minutes=2))
    assert greeting == functions.Greeting("Hello, Ann", timedelta(minutes=2))
    assert (await pool.run(functions.greet, "Bob")).pause == timedelta(seconds=1)
    assert await pool.run(functions.reverse_all, (b"\x00\xff\n", b"")) == (b"\n\xff\x00", b"")


async def test_what_a_library_prints_is_not_taken_for_an_answer(pool: ChildPool) -> None:
    assert await pool.run(functions.print_and_count, Path("a/b/c")) == 3


async def test_errors_of_ours_come_back_as_what_they_are(pool: ChildPool) -> None:
    with pytest.raises(InvalidInputError, match="cannot be used") as refused:
        await pool.run(functions.refuse, "rules")
    assert refused.value.field == "rules"
    with pytest.raises(ConflictError, match="Not now"):
        await pool.run(functions.conflict)


async def test_other_errors_are_failures_of_the_call_and_the_child_goes_on(pool: ChildPool, tmp_path: Path) -> None:
    child = await pool.run(functions.process_number)
    with pytest.raises(CallFailedError, match="division by zero") as failed:
        await pool.run(functions.divide_by_zero)
    assert failed.value.exception == "ZeroDivisionError"
    with pytest.raises(CallFailedError) as failed:
        await pool.run(functions.take_memory, 500_000_000)
    assert failed.value.exception == "MemoryError"
    assert await pool.run(functions.process_number) == child


async def test_a_file_larger_than_allowed_is_not_written(pool: ChildPool, tmp_path: Path) -> None:
    await pool.run(functions.write_file, tmp_path / "small", 1000)
    with pytest.raises((CallFailedError, ChildDiedError)):
        await pool.run(functions.write_file, tmp_path / "large", 2000)


async def test_a_child_that_crashes_is_replaced(pool: ChildPool) -> None:
    before = await pool.run(functions.process_number)
    with pytest.raises(ChildDiedError) as died:
        await pool.run(functions.crash)
    assert died.value.status == -signal.SIGSEGV
    assert await pool.run(functions.process_number) != before


async def test_a_child_killed_while_idle_is_replaced_before_the_next_call(pool: ChildPool) -> None:
    child = await pool.run(functions.process_number)
    os.kill(child, signal.SIGKILL)
    await until(lambda: not pool.process_ids)
    assert await pool.run(functions.process_number) != child


async def test_a_call_that_takes_too_long_ends_with_its_child() -> None:
    pool = ChildPool("The child", limits=Limits(seconds=0.5))
    with pytest.raises(TransientError, match="The child took too long"):
        await pool.run(functions.sleep, 60)
    assert pool.process_ids == ()
    await pool.close()


async def test_a_call_that_takes_too_much_processor_time_ends_with_its_child() -> None:
    pool = ChildPool("The child", limits=Limits(processor_seconds=0))
    with pytest.raises(ChildDiedError) as died:
        await pool.run(functions.work_for_ever)
    assert died.value.status == -signal.SIGXCPU
    await pool.close()


async def test_an_endless_answer_is_refused() -> None:
    pool = ChildPool("The child", limits=Limits(result_bytes=1000))
    with pytest.raises(TransientError, match="more than 1,000 bytes"):
        await pool.run(functions.say_much, 1_000_000)
    assert len(await pool.run(functions.say_much, 900)) == 900
    await pool.close()


async def test_calls_run_side_by_side_up_to_the_size_of_the_pool() -> None:
    pool = ChildPool("The child", size=2)
    calls = [asyncio.create_task(pool.run(functions.sleep, 0.3)) for _ in range(3)]
    await asyncio.gather(*calls)
    assert len(pool.process_ids) == 2
    await pool.close()
    assert not pool.process_ids


async def test_a_caller_that_gives_up_leaves_no_child_behind(pool: ChildPool) -> None:
    await pool.run(functions.process_number)
    asked = asyncio.create_task(pool.run(functions.sleep, 60))
    await until(lambda: not pool.is_idle)
    asked.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asked
    assert pool.process_ids == ()


async def test_an_idle_child_is_ended() -> None:
    pool = ChildPool("The child", idle_seconds=0.05)
    await pool.run(functions.process_number)
    await until(lambda: not pool.process_ids)
    await pool.close()


async def test_a_child_is_replaced_after_many_calls(pool: ChildPool) -> None:
    seen = {await pool.run(functions.process_number) for _ in range(CALLS_PER_CHILD + 1)}
    assert len(seen) == 2


async def test_a_library_that_is_missing_is_told_with_the_command_that_shows_it() -> None:
    pool = ChildPool("The child", setup=functions.fail_to_load)
    with pytest.raises(ConfigurationError, match=r"The child does not start .* -m pressbox.core.processes.server"):
        await pool.run(functions.process_number)
    assert pool.process_ids == ()
    await pool.close()


async def test_only_plain_functions_of_a_module_can_be_called(pool: ChildPool) -> None:
    def inner() -> None:
        pass

    with pytest.raises((ValueError, AttributeError)):
        await pool.run(inner)


async def test_a_child_knows_none_of_our_secrets(monkeypatch: pytest.MonkeyPatch) -> None:
    planted = ("PRESSBOX_SECRET_KEY", "DEEPL_API_KEY", "AWS_SECRET_ACCESS_KEY", "PGPASSWORD", "SOMETHING_NEW_TOKEN")
    for name in planted:
        monkeypatch.setenv(name, "planted-secret")
    pool = ChildPool("The child")
    seen = await pool.run(functions.environment)
    await pool.close()
    assert "planted-secret" not in seen.values()
    assert seen["PATH"] == os.environ["PATH"], "programs are still found"


async def test_an_owner_with_many_calls_does_not_keep_another_waiting() -> None:
    pool = ChildPool("The child")
    await pool.run(functions.process_number)
    ended: list[str] = []

    async def call(owner: str, seconds: float) -> None:
        await pool.run_by(Terms(owner=owner), functions.sleep, seconds)
        ended.append(owner)

    calls = [asyncio.create_task(call("greedy", 0.02)) for _ in range(20)]
    await until(lambda: not pool.is_idle)
    calls.append(asyncio.create_task(call("honest", 0)))
    await asyncio.gather(*calls)
    await pool.close()
    assert ended.index("honest") <= 2


async def test_a_caller_that_gives_up_in_the_queue_gives_its_place_away() -> None:
    pool = ChildPool("The child")
    first = asyncio.create_task(pool.run(functions.sleep, 0.2))
    second = asyncio.create_task(pool.run_by(Terms(owner="b"), functions.sleep, 60))
    third = asyncio.create_task(pool.run_by(Terms(owner="c"), functions.process_number))
    await until(lambda: not pool.is_idle)
    second.cancel()
    await first
    assert await third
    await pool.close()


async def test_a_call_may_have_a_smaller_budget_than_its_pool() -> None:
    pool = ChildPool("The child", limits=Limits(processor_seconds=600))
    with pytest.raises(ChildDiedError) as died:
        await pool.run_by(Terms(processor_seconds=0), functions.work_for_ever)
    assert died.value.status == -signal.SIGXCPU
    assert await pool.run(functions.process_number)
    await pool.close()
