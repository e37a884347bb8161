"""Waiting for what another task, process or server does: there is no event for it, so a test looks again and again."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

from temporalio.client import WorkflowHandle

from tests.patience import patience

# Longer than anything takes on a busy machine, and shorter than the limit of a test, so that a failure says what for.
PATIENCE_SECONDS = patience(90)
PAUSE_SECONDS = 0.02

T = TypeVar("T")


async def until(happened: Callable[[], object], what: str = "what was waited for") -> None:
    async def look() -> object:
        return happened()

    await look_until(look, what=what)


async def look_until(
    look: Callable[[], Awaitable[T]],
    wanted: Callable[[T], object] = bool,
    what: str = "what was waited for",
    seconds: float = PATIENCE_SECONDS,
) -> T:
    """The first answer that is as wanted."""
    deadline = asyncio.get_running_loop().time() + seconds
    while not wanted(found := await look()):
        if asyncio.get_running_loop().time() > deadline:
            raise AssertionError(f"{what} did not happen; the last answer was {found!r}")
        await asyncio.sleep(PAUSE_SECONDS)
    return found


async def progress_when_waiting(handle: WorkflowHandle[Any, Any], get_progress: Callable[[Any], Any]) -> Any:
    """What a workflow that waits says of itself."""
    return await look_until(
        lambda: handle.query(get_progress), lambda progress: progress.current_step == "waiting", f"{handle.id} waiting"
    )
