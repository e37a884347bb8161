"""Calls in processes of their own: what they return, and that none of them holds up or outlives anything."""

import asyncio
import os
import signal
import socket
from collections.abc import Iterator
from datetime import timedelta

import pytest

from pressbox.core.errors import InvalidInputError, TransientError
from pressbox.core.processes.calls import CallFailedError, Limits
from pressbox.core.processes.forks import ForkServer
from pressbox.core.processes.pool import ChildDiedError
from tests.blocking import forbid_blocking
from tests.fakes import child_functions as functions
from tests.patience import patience
from tests.waiting import until

HOUR = 3600.0


@pytest.fixture(scope="module")
def forks() -> Iterator[ForkServer]:
    """Nothing ends here by the clock."""
    forks = ForkServer("The fork", limits=Limits(seconds=HOUR, result_bytes=100_000, memory_bytes=200_000_000))
    yield forks
    forks.close()


@pytest.fixture(scope="module")
def hurried() -> Iterator[ForkServer]:
    forks = ForkServer("The fork", limits=Limits(seconds=patience(1)))
    yield forks
    forks.close()


def is_alive(number: int) -> bool:
    return os.path.exists(f"/proc/{number}")


async def test_every_call_has_a_process_of_its_own_and_leaves_none_behind(forks: ForkServer) -> None:
    numbers = await asyncio.gather(*(forks.run(functions.process_number) for _ in range(20)))
    assert len({*numbers, os.getpid(), forks.process_id}) == 22
    await until(lambda: not any(map(is_alive, numbers)))
    greeting = await forks.run(functions.greet, "Ann", pause=timedelta(minutes=2))
    assert greeting == functions.Greeting("Hello, Ann", timedelta(minutes=2))


async def test_what_hangs_is_killed(hurried: ForkServer) -> None:
    hanging = [hurried.run(functions.sleep, HOUR) for _ in range(8)]
    found = await asyncio.gather(*hanging, return_exceptions=True)
    assert [type(each) for each in found] == [TransientError] * 8


async def test_the_neighbours_of_what_hangs_answer(forks: ForkServer) -> None:
    hanging = [asyncio.create_task(forks.run(functions.sleep, HOUR)) for _ in range(8)]
    assert (await forks.run(functions.greet, "Bob")).text == "Hello, Bob"
    assert not any(task.done() for task in hanging)
    for task in hanging:
        task.cancel()
    await asyncio.gather(*hanging, return_exceptions=True)
    await until(lambda: not _children(forks))


async def test_whoever_stops_waiting_ends_the_process(forks: ForkServer) -> None:
    before = set(os.listdir("/proc"))
    task = asyncio.create_task(forks.run(functions.sleep, 60))
    await until(lambda: bool(_children(forks) - before))
    [number] = _children(forks) - before
    task.cancel()
    await until(lambda: not is_alive(int(number)))


async def test_failures_are_answers_or_the_end_of_one_call_only(forks: ForkServer) -> None:
    with pytest.raises(InvalidInputError):
        await forks.run(functions.refuse, "url")
    with pytest.raises(CallFailedError):
        await forks.run(functions.divide_by_zero)
    with pytest.raises(CallFailedError) as failed:
        await forks.run(functions.take_memory, 500_000_000)
    assert failed.value.exception == "MemoryError"
    with pytest.raises(ChildDiedError):
        await forks.run(functions.crash)
    with pytest.raises(TransientError):
        await forks.run(functions.say_much, 200_000)
    assert (await forks.run(functions.greet, "Cy")).text == "Hello, Cy"


async def test_a_farewell_runs_after_the_answer_and_is_cut_when_it_takes_too_long(hurried: ForkServer) -> None:
    number = await hurried.run(functions.answer_before_sleeping, HOUR)
    await until(lambda: not is_alive(number))


async def test_a_server_that_was_killed_is_started_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PRESSBOX_SECRET_KEY", "nothing for strangers")
    forks = ForkServer("The fork")
    try:
        assert "PRESSBOX_SECRET_KEY" not in await forks.run(functions.environment)
        first = forks.process_id
        assert first is not None
        os.kill(first, 9)
        await until(lambda: forks._process is None or forks._process.poll() is not None)
        assert (await forks.run(functions.greet, "Di")).text == "Hello, Di"
        assert forks.process_id != first
    finally:
        await asyncio.to_thread(forks.close)


async def test_more_calls_than_the_server_takes_at_once_wait_beside_the_event_loop() -> None:
    forks = ForkServer("The fork", limits=Limits(seconds=60))
    try:
        await forks.run(functions.greet, "Eve")
        server, control = forks.process_id, forks._control
        assert server is not None
        assert control is not None
        # The least that the kernel grants: a handful of lines.
        control.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1)
        os.kill(server, signal.SIGSTOP)
        with forbid_blocking():
            calls = [asyncio.create_task(forks.run(functions.process_number)) for _ in range(30)]
            for _ in range(100):
                await asyncio.sleep(0)
            taken = forks._taken
            os.kill(server, signal.SIGCONT)
            numbers = await asyncio.gather(*calls)
        assert taken < 30, "all fitted: nothing had to wait"
        assert len(set(numbers)) == 30
        assert forks.process_id == server
    finally:
        await asyncio.to_thread(forks.close)


def _children(forks: ForkServer) -> set[str]:
    if forks.process_id is None:
        return set()
    with open(f"/proc/{forks.process_id}/task/{forks.process_id}/children") as file:
        return set(file.read().split())
