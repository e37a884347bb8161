"""The benchmark of ingestion measures what it says. No test looks at a time."""

from pathlib import Path

from temporalio.client import Client

from pressbox.bench.ingest import PAYLOAD_AIM, measure_ingest
from pressbox.core.config import HttpSettings, Settings
from pressbox.core.db.database import Database
from pressbox.demo.simulators.news_site import NewsSite
from tests.conftest import TEST_KEY
from tests.reading_room import open_room, reading_resources, working


async def test_all_entries_of_all_feeds_are_done_and_no_payload_is_large(
    database: Database, temporal: Client, tmp_path: Path
) -> None:
    async with NewsSite() as site:
        for name in ("one", "two"):
            site.channel(name, 4)
        http = HttpSettings(allow=(f"127.0.0.1:{site.port}",))
        settings = Settings(home=tmp_path, secret_key=TEST_KEY, http=http)
        async with reading_resources(settings, database, temporal) as resources:
            await open_room(resources)
            async with working(resources):
                found = await measure_ingest(resources, [site.feed_url("one"), site.feed_url("two")], 8)
    assert found.entries == 8
    assert 0 < found.first_seconds <= found.seconds
    assert found.costs.events > 0
    assert 0 < found.costs.largest_payload < PAYLOAD_AIM
