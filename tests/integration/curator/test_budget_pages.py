"""What people are told when the tokens of the day are used up: in the reader, with the costs, and in the status."""

from datetime import timedelta

import pytest

from pressbox.core.app import Resources
from pressbox.core.health import HealthState
from pressbox.curator.manifest import APP
from pressbox.curator.models import costs
from pressbox.curator.models.ports import PaidAnswer, PaidCall
from tests.fakes.besieged import Besieged, besieged, browser


async def used_up(room: Besieged) -> list[str]:
    """The reader's page, that of costs, and the line of the status page."""
    assert APP.health is not None
    parts = {part.name: part for part in await APP.health(room.resources)}
    async with browser(room) as client:
        pages = [(await client.get(path)).text for path in ("/reader", "/reader/costs")]
    return [*pages, f"{parts['models'].state} {parts['models'].detail} {parts['models'].fix}"]


async def test_reader_costs_and_status_say_what_waits_until_when_and_what_to_do(
    resources: Resources, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(costs, "BUDGET_CACHED_FOR", timedelta(0))
    async with besieged(resources, tokens_per_day=100) as room:
        quiet = await used_up(room)
        assert "used up" not in "".join(quiet)
        assert quiet[2].startswith(HealthState.OK)
        ledger = room.ledger
        await ledger.record(PaidCall("hash", "1", "model", "answer", None, None), PaidAnswer("said", 90, 20), room.now)
        reader, cost_page, status = await used_up(room)
        assert "tokens are used up" in reader
        assert "PRESSBOX_CURATOR_TOKENS_PER_DAY" in cost_page
        assert "110" in cost_page
        assert status.startswith(HealthState.WARNING)
        assert "until 00:00 UTC" in status
        assert "PRESSBOX_CURATOR_TOKENS_PER_DAY" in status
