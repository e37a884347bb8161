"""A calendar file of a stranger is read in a child, and costs the pages nothing but a refusal."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from pressbox.core.errors import InvalidInputError
from pressbox.core.processes.calls import CallFailedError, Limits
from pressbox.core.processes.pool import ChildPool
from pressbox.soonish.adapters.calendar_reader import LIMITS, CalendarReader
from pressbox.soonish.domain.calendar_files import MAX_BYTES

NOW = datetime(2026, 11, 1, tzinfo=UTC)
PARTY = b"BEGIN:VEVENT\nDTSTART;TZID=Europe/Berlin:20261025T023000\nSUMMARY:Party\nRRULE:FREQ=YEARLY\nEND:VEVENT\n"
# The thirtieth of February is looked for on every day to the end of the calendar.
ENDLESS = b"BEGIN:VEVENT\nDTSTART:20261025\nRRULE:FREQ=DAILY;BYMONTH=2;BYMONTHDAY=30\nEND:VEVENT\n"


async def test_a_file_is_read_in_a_child_as_it_would_be_here() -> None:
    reader = CalendarReader()
    try:
        file = await reader.read(1, PARTY + PARTY, "UTC", NOW)
    finally:
        await reader.close()
    assert file.count == 2
    entry = file.offered[0]
    assert (entry.name, entry.timezone, entry.repeats) == ("Party", "Europe/Berlin", True)
    assert entry.start == datetime(2027, 10, 25, 0, 30, tzinfo=UTC)


@pytest.mark.parametrize(
    ("data", "limits"),
    [
        (b"x" * (MAX_BYTES + 1), LIMITS),
        (b"<html>", LIMITS),
        (ENDLESS * 20, replace(LIMITS, processor_seconds=1)),
    ],
    ids=["large", "none", "slow"],
)
async def test_a_file_that_cannot_be_read_is_an_error_of_the_field(data: bytes, limits: Limits) -> None:
    reader = CalendarReader(limits=limits)
    try:
        with pytest.raises(InvalidInputError) as caught:
            await reader.read(1, data, "UTC", NOW)
    finally:
        await reader.close()
    assert caught.value.field == "calendar"


async def test_a_file_that_takes_all_the_memory_is_an_error_of_the_field(monkeypatch: pytest.MonkeyPatch) -> None:
    async def run_out(*_: object) -> None:
        raise CallFailedError("MemoryError", "")

    monkeypatch.setattr(ChildPool, "run_by", run_out)
    with pytest.raises(InvalidInputError) as caught:
        await CalendarReader().read(1, PARTY, "UTC", NOW)
    assert caught.value.field == "calendar"
