"""Reads calendar files of strangers in a child process, so that one of them costs the pages nothing."""

import signal
from datetime import datetime

from pressbox.core.errors import InvalidInputError
from pressbox.core.processes.calls import CallFailedError, Limits, Terms
from pressbox.core.processes.pool import ChildDiedError, ChildPool
from pressbox.soonish.domain.calendar_files import MAX_BYTES, CalendarFile, read_file

# A megabyte with thousands of events takes about a second of processor time.
LIMITS = Limits(seconds=60, processor_seconds=10, memory_bytes=400_000_000, result_bytes=16_000_000)


class CalendarReader:
    def __init__(self, *, limits: Limits = LIMITS) -> None:
        self._children = ChildPool("The calendar reader", limits=limits)

    async def read(self, user_id: int, data: bytes, default_zone: str, now: datetime) -> CalendarFile:
        """The events of a file. One that cannot be read is an InvalidInputError with a reason for people."""
        if len(data) > MAX_BYTES:
            raise InvalidInputError("The file is too large: at most one megabyte.", field="calendar")
        terms = Terms(owner=f"person {user_id}")
        try:
            return await self._children.run_by(terms, read_file, data, default_zone, now)
        # Libraries raise whatever a file makes them raise: it concerns that file alone.
        except CallFailedError as error:
            raise InvalidInputError("This calendar file cannot be read.", field="calendar") from error
        except ChildDiedError as error:
            if error.status != -signal.SIGXCPU:
                raise
            raise InvalidInputError("This calendar file takes too much time to be read.", field="calendar") from error

    async def close(self) -> None:
        await self._children.close()
