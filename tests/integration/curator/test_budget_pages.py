"""What people are told when the tokens of the day are used up: in the reader, with the costs, and in the status."""

from datetime import timedelta

import pytest

from pressbox.core.app import Resources
from pressbox.core.health import HealthState, check_parts
from pressbox.core.spending import status
from pressbox.core.spending.domain import PaidAnswer, PaidCall
from pressbox.curator.manifest import APP
from tests.fakes.besieged import Besieged, besieged, browser
from tests.fakes.spending import spend


async def used_up(room: Besieged) -> list[str]:
    """The reader's page, that of costs, and the line of the status page."""
    parts = {part.name: part for part in await check_parts(room.resources, [APP])}
    async with browser(room) as client:
        pages = [(await client.get(path)).text for path in ("/reader", "/reader/costs")]
    return [*pages, f"{parts['spending'].state} {parts['spending'].detail} {parts['spending'].fix}"]


async def test_reader_costs_and_status_say_what_waits_until_when_and_what_to_do(
    resources: Resources, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(status, "CACHED_FOR", timedelta(0))
    async with besieged(resources, tokens_per_day=100) as room:
        quiet = await used_up(room)
        assert "used up" not in "".join(quiet)
        assert quiet[2].startswith(HealthState.OK)
        call = PaidCall("hash", "1", "model", "answer")
        await spend(resources.database, call, PaidAnswer("said", 90, 20), room.now)
        reader, cost_page, health = await used_up(room)
        assert "tokens are used up" in reader
        assert "PRESSBOX_SPENDING_TOKENS_PER_DAY" in cost_page
        assert "110" in cost_page
        assert health.startswith(HealthState.WARNING)
        assert "until 00:00 UTC" in health
        assert "PRESSBOX_SPENDING_TOKENS_PER_DAY" in health
