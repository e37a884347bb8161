"""A pytest plugin: a limit for each asynchronous test, which counts the test alone and cancels nothing but its task.

So `finally` runs, fixtures are torn down, and nothing of the test lives on beside the next one. How long fixtures take
is not the test's fault. The signal of pytest-timeout strikes whatever runs in that moment, be it a server of the test;
it is the last resort, against fixtures and synchronous tests that hang.
"""

import asyncio
import functools
import inspect
from collections.abc import Awaitable, Callable, Generator

import pytest

from tests.patience import patience, slowness

# On a quiet machine. Longer than any wait of tests/waiting.py, so that a failure says what was waited for.
USUAL_SECONDS = 300.0
# For fixtures, and for the end of what was cancelled.
MORE_AT_LAST = 600.0


class TooSlowError(Exception):
    """The test took longer than its limit."""


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "limit(seconds): how long the test may take on a quiet machine, fixtures aside")
    # Before other processes are started, which then are told.
    slowness()


def pytest_report_header() -> str:
    return f"patience: times {slowness()}"


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    # Whoever gives a limit on the command line means it: 0 is none, for fuzzing and for looking around.
    if config.getoption("timeout") is None:
        for item in items:
            item.add_marker(pytest.mark.timeout(patience(limit_of(item) + MORE_AT_LAST)))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, None, None]:
    if not (isinstance(item, pytest.Function) and inspect.iscoroutinefunction(item.obj)):
        return (yield)
    if item.config.getoption("timeout") == 0:
        return (yield)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(item, "obj", limited(item.obj, limit_of(item)))
        return (yield)


def limit_of(item: pytest.Item) -> float:
    marker = item.get_closest_marker("limit")
    return float(marker.args[0]) if marker else USUAL_SECONDS


def limited(test: Callable[..., Awaitable[None]], seconds: float) -> Callable[..., Awaitable[None]]:
    said = f"longer than the limit of this test: {seconds:g} s, times {slowness()} on this machine"

    @functools.wraps(test)
    async def run(*arguments: object, **fixtures: object) -> None:
        try:
            async with asyncio.timeout(patience(seconds)) as limit:
                await test(*arguments, **fixtures)
        except TimeoutError as error:
            if not limit.expired():
                raise
            cancelled = error.__cause__
            # The traceback shows where it hung, and nothing else.
            raise TooSlowError(said).with_traceback(cancelled.__traceback__ if cancelled else None) from None
        except Exception as error:
            if limit.expired():
                error.add_note(said)
            raise
        if limit.expired():
            raise TooSlowError(f"{said}; it took no notice of being cancelled")

    return run
