"""What the doctor and the status page say of a part that does not answer in time."""

import asyncio
from datetime import timedelta

import pytest

from pressbox.core import health
from pressbox.core.app import Resources
from pressbox.core.health import HealthState, PartHealth


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
