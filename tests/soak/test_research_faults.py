"""The worker is killed before and after the effect of every step of research, while it is stopped and resumed."""

from pathlib import Path

import pytest
from temporalio.client import Client

from pressbox.core.db.database import Database
from pressbox.core.temporal.faults import Action, every_fault
from tests.conftest import Parts
from tests.research_faults import disturbed

STEPS = (
    "open_research",
    "plan_research",
    "search_for_research",
    "read_for_research",
    "check_research",
    "write_research",
    "close_research",
)


@pytest.mark.slow
@pytest.mark.limit(900)
async def test_killed_before_and_after_every_step_research_ends_in_one_report_that_is_paid_for_once(
    parts: Parts, database_url: str, database: Database, temporal: Client, tmp_path: Path
) -> None:
    faults = every_fault(STEPS, Action.KILL)
    async with disturbed(parts, database_url, database, temporal, tmp_path, faults) as room:
        run = await room.researched(stop=True)
        assert room.left() == []
        await room.judge(run)
