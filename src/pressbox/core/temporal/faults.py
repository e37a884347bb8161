"""Planted faults: a test or the demo lets the worker die, fail or hang before or after an activity's effect.

A fault is an empty file `{activity}.{moment}.{action}` in the folder that PRESSBOX_TESTING_FAULTS_DIRECTORY names.
Whoever unlinks the file has taken the fault, so each happens exactly once, also across killed processes. Without the
setting the interceptor is not installed at all.
"""

import asyncio
import os
import signal
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

from temporalio import activity
from temporalio.worker import ActivityInboundInterceptor, ExecuteActivityInput, Interceptor

from pressbox.core.errors import InvalidInputError, PermanentError, TransientError
from pressbox.core.logs import get_logger

log = get_logger(__name__)

HANG_SECONDS = 3600


class Moment(StrEnum):
    """BEFORE: nothing has happened. AFTER: the effect is durable, but Temporal does not know it yet."""

    BEFORE = "before"
    AFTER = "after"


class Action(StrEnum):
    KILL = "kill"
    FAIL = "fail"
    REFUSE = "refuse"
    HANG = "hang"


@dataclass(frozen=True)
class Fault:
    activity: str
    moment: Moment
    action: Action

    @property
    def filename(self) -> str:
        return f"{self.activity}.{self.moment}.{self.action}"

    @classmethod
    def parse(cls, text: str) -> "Fault":
        """Read `activity.moment.action`, as on the command line."""
        try:
            name, moment, action = text.split(".")
            return cls(name, Moment(moment), Action(action))
        except ValueError as error:
            raise InvalidInputError(
                f"{text!r} is not a fault. Write ACTIVITY.MOMENT.ACTION with moment {' | '.join(Moment)} and action "
                f"{' | '.join(Action)}, for example prune_sessions.after.kill."
            ) from error


def plant(directory: Path, fault: Fault) -> None:
    directory.mkdir(parents=True, exist_ok=True)
    (directory / fault.filename).touch()


def list_planted(directory: Path) -> tuple[Fault, ...]:
    """Faults that have not happened yet."""
    return tuple(Fault.parse(file.name) for file in sorted(directory.iterdir())) if directory.is_dir() else ()


def every_fault(activities: Iterable[str], action: Action) -> tuple[Fault, ...]:
    """The table over which the applications' tests loop."""
    return tuple(Fault(name, moment, action) for name in sorted(activities) for moment in Moment)


class FaultInterceptor(Interceptor):
    def __init__(self, directory: Path) -> None:
        self._directory = directory

    def intercept_activity(self, next: ActivityInboundInterceptor) -> ActivityInboundInterceptor:
        return _Faults(next, self._directory)


class _Faults(ActivityInboundInterceptor):
    def __init__(self, next: ActivityInboundInterceptor, directory: Path) -> None:
        super().__init__(next)
        self._directory = directory

    async def execute_activity(self, input: ExecuteActivityInput) -> Any:
        await self._strike(Moment.BEFORE)
        result = await self.next.execute_activity(input)
        await self._strike(Moment.AFTER)
        return result

    async def _strike(self, moment: Moment) -> None:
        for action in Action:
            fault = Fault(activity.info().activity_type, moment, action)
            if self._take(fault):
                log.warning(
                    "fault_struck", msg=f"Planted fault {fault.filename}", workflow_id=activity.info().workflow_id
                )
                await _act(fault)

    def _take(self, fault: Fault) -> bool:
        try:
            (self._directory / fault.filename).unlink()
        except FileNotFoundError:
            return False
        return True


async def _act(fault: Fault) -> None:
    match fault.action:
        case Action.KILL:
            os.kill(os.getpid(), signal.SIGKILL)
        case Action.FAIL:
            raise TransientError(f"Planted fault {fault.filename}")
        case Action.REFUSE:
            raise PermanentError(f"Planted fault {fault.filename}")
        case Action.HANG:
            await asyncio.sleep(HANG_SECONDS)
