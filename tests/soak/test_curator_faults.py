"""The worker is killed before and after the effect of every activity of the curator, while articles are published."""

import asyncio
from pathlib import Path

import pytest
from temporalio.client import Client

from pressbox.core.db.database import Database
from pressbox.core.temporal.faults import Action, every_fault, plant
from pressbox.curator.cleanup.activities import CleanupActivities
from pressbox.curator.distil.activities import DistilPages
from pressbox.curator.ingest.page_activities import CrawlPages, FetchPages
from pressbox.curator.search.activities import EmbeddingActivities, IndexActivities, IndexSelection
from tests.conftest import Parts
from tests.patience import patience
from tests.reading_faults import disturbed

LONGEST_SECONDS = 1800.0
# From a feed to what is read; asking, research and the like have loops of their own.
INGESTING = (CrawlPages, FetchPages, DistilPages, IndexActivities, IndexSelection)
# Of those that also have what only runs from before rows were the queue still do.
ONE_FEED = ("find_due_work", "crawl_single_feed", "get_entries_to_fetch", "get_entries", "fetch_contents")
UPKEEP = (EmbeddingActivities, CleanupActivities)


@pytest.mark.slow
@pytest.mark.limit(LONGEST_SECONDS + 300)
async def test_killed_before_and_after_every_effect_no_entry_is_missing_doubled_or_paid_for_twice(
    parts: Parts, database_url: str, database: Database, temporal: Client, tmp_path: Path
) -> None:
    names = [*ONE_FEED, *(name for kind in (*INGESTING, *UPKEEP) for name in activity_names(kind))]
    for fault in every_fault(names, Action.KILL):
        plant(tmp_path / "faults", fault)
    async with disturbed(parts, database_url, database, temporal, tmp_path) as run:
        async with asyncio.timeout(patience(LONGEST_SECONDS)):
            number = 0
            while run.left():
                run.publish()
                run.publish_old()
                await run.ingest()
                await run.upkeep(number)
                number += 1
        await run.settle()
        await run.clean_up()
        await run.settle()
        await run.judge()


def activity_names(kind: type) -> list[str]:
    return [name for name, method in vars(kind).items() if hasattr(method, "__temporal_activity_definition")]
