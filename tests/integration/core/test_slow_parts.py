"""What the doctor and the status page say of a part that does not answer in time."""

import asyncio
import re
from datetime import timedelta

import pytest

from pressbox.core import health
from pressbox.core.app import Resources
from pressbox.core.health import HealthState, PartHealth, mark_slow


async def test_a_slow_part_is_not_to_be_repaired(resources: Resources, monkeypatch: pytest.MonkeyPatch) -> None:
    async def never(*_: object) -> PartHealth:
        await asyncio.Event().wait()
        raise AssertionError

    monkeypatch.setattr(health, "PROBE_LIMIT", timedelta(milliseconds=10))
    monkeypatch.setattr(health, "_home", never)
    [home] = [part for part in await health.check_parts(resources) if part.name == "home"]
    assert home.state is HealthState.FAILED
    assert home.detail.startswith("No answer within")
    assert "may only be slow" in home.fix


async def test_who_waits_longer_tells_a_slow_part_from_a_broken_one(
    resources: Resources, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def late(*_: object) -> PartHealth:
        # However fast the clock of this machine is, this is longer than what pages wait.
        await asyncio.sleep(0.02)
        return PartHealth("home", HealthState.OK, "12.0 GB free on the disk of the home folder.")

    monkeypatch.setattr(health, "PROBE_LIMIT", timedelta(milliseconds=10))
    monkeypatch.setattr(health, "_home", late)
    parts = {part.name: part for part in await health.check_parts(resources, limit=health.PATIENT_LIMIT)}
    assert parts["home"].state is HealthState.WARNING
    assert re.match(r"It is slow: the answer took \d+ seconds\. 12\.0 GB free", parts["home"].detail)
    assert "may only be slow" in parts["home"].fix


def test_only_what_is_well_and_late_is_slow() -> None:
    well, ill = (PartHealth("home", state, "So it is.") for state in (HealthState.OK, HealthState.FAILED))
    assert mark_slow(well, health.PROBE_LIMIT) == well
    assert mark_slow(ill, 2 * health.PROBE_LIMIT) == ill
    late = mark_slow(well, 2 * health.PROBE_LIMIT)
    assert (late.state, late.detail) == (HealthState.WARNING, "It is slow: the answer took 10 seconds. So it is.")
