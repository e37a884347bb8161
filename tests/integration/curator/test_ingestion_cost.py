"""What ingestion costs, in events of histories and in statements. Counted, because seconds depend on the machine."""

from pathlib import Path

import pytest
from temporalio.client import Client

from pressbox.bench.cost.meter import Histories, count_histories, count_statements
from pressbox.core.config import HttpSettings, Settings
from pressbox.core.db.database import Database
from pressbox.curator.settings import CuratorSettings
from pressbox.demo.news.library import articles, variation
from pressbox.demo.simulators.news_site import NewsSite
from tests.conftest import TEST_KEY
from tests.reading_room import ReadingRoom, open_room, reading_resources, running, working

SECTIONS = ("harbour", "umland")
# Of a page of ordinary size; the most that an article may cost from its feed until it can be found.
ARTICLES = 40
MOST_EVENTS = 8
MOST_STATEMENTS = 12


async def cost(temporal: Client, before: Histories) -> Histories:
    after = await count_histories(temporal)
    return Histories(after.workflows - before.workflows, after.events - before.events, after.actions - before.actions)


@pytest.mark.slow
@pytest.mark.limit(900)
async def test_an_article_costs_few_events_and_statements_and_an_unchanged_feed_next_to_none(
    database: Database, temporal: Client, tmp_path: Path
) -> None:
    everything = [article.slug for article in articles()]
    async with NewsSite(held=everything) as site:
        curator = CuratorSettings(host_delay_seconds=0.0, unread_at_start=ARTICLES)
        http = HttpSettings(allow=(f"127.0.0.1:{site.port}",))
        settings = Settings(home=tmp_path, secret_key=TEST_KEY, http=http, applications=(curator,))
        for number in range(ARTICLES // len(SECTIONS)):
            for section in SECTIONS:
                site.publish(variation(number, section))
        async with reading_resources(settings, database, temporal) as resources:
            for workflow_id in await running(temporal):
                await temporal.get_workflow_handle(workflow_id).terminate("left by another test")
            room = await open_room(resources)
            await room.subscribe([site.feed_url(section) for section in SECTIONS])
            async with working(resources):
                before = await count_histories(temporal)
                with count_statements(database) as counted:
                    await ingest_whole(room)
                spent = await cost(temporal, before)
                statements = counted.number
                found = await room.entries()
                assert len(found) == ARTICLES
                assert {(row.distil_state, row.indexed, row.embedded) for row in found} == {("distilled", True, True)}
                assert spent.events / ARTICLES <= MOST_EVENTS, spent
                assert statements / ARTICLES <= MOST_STATEMENTS, statements

                before = await count_histories(temporal)
                with count_statements(database) as counted:
                    await room.ingest(only_due=True)
                spent = await cost(temporal, before)
                assert spent.workflows == 1
                assert spent.actions <= 4, "a look for due work is one activity"


async def ingest_whole(room: ReadingRoom) -> None:
    await room.ingest()
    await room.until_nothing_runs()
