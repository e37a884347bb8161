"""The worker is killed around the main steps of an ingestion: the next run completes every entry, once.

`make soak` does it around every activity.
"""

from pathlib import Path

import pytest
from temporalio.client import Client

from pressbox.core.db.database import Database
from pressbox.core.temporal.faults import Action, Fault, Moment, plant
from tests.conftest import Parts
from tests.reading_faults import disturbed

# After an effect that Temporal does not know of yet: where a thing is lost or done twice, if anywhere.
STRIKES = (
    "crawl_due_feeds",
    "fetch_due_contents",
    "distill_due_entries",
    "index_entries_batch",
    "compute_embeddings",
)


@pytest.mark.slow
@pytest.mark.limit(900)
async def test_killed_between_the_steps_of_an_ingestion_no_entry_is_missing_doubled_or_distilled_twice(
    parts: Parts, database_url: str, database: Database, temporal: Client, tmp_path: Path
) -> None:
    for name in STRIKES:
        plant(tmp_path / "faults", Fault(name, Moment.AFTER, Action.KILL))
    async with disturbed(parts, database_url, database, temporal, tmp_path) as run:
        await run.until_struck()
        await run.settle()
        await run.judge()
