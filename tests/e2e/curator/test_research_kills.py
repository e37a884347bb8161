"""The worker is killed in the middle of research: it goes on where it stood, and pays for nothing twice.

`make soak` does it before and after every step.
"""

from pathlib import Path

import pytest
from temporalio.client import Client

from pressbox.core.db.database import Database
from pressbox.core.temporal.faults import Action, Fault, Moment
from tests.conftest import Parts
from tests.research_faults import disturbed

# After an effect that Temporal does not know of yet: where a thing is lost or done twice, if anywhere.
STRIKES = ("read_for_research",)


@pytest.mark.slow
@pytest.mark.limit(900)
async def test_killed_between_its_steps_research_still_ends_in_one_report_that_is_paid_for_once(
    parts: Parts, database_url: str, database: Database, temporal: Client, tmp_path: Path
) -> None:
    faults = [Fault(name, Moment.AFTER, Action.KILL) for name in STRIKES]
    async with disturbed(parts, database_url, database, temporal, tmp_path, faults) as room:
        run = await room.researched()
        assert room.left() == []
        await room.judge(run)
