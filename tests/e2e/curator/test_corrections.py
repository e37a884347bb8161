"""A corrected article reaches everything that was made of it, and nothing that did not change is paid for again."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from html import escape
from pathlib import Path

import pytest
from sqlalchemy import select
from temporalio.client import Client

from pressbox.core.config import HttpSettings, Settings
from pressbox.core.db.database import Database
from pressbox.core.errors import NotFoundError
from pressbox.core.spending.rows import PaidRequestRow
from pressbox.curator.graph.page_store import SqlGraphPages
from pressbox.curator.graph.service import GraphStarter
from pressbox.curator.library.contracts import QUEUE
from pressbox.curator.library.rows import EntryBodyRow, EntryEmbeddingRow, EntryRow
from pressbox.curator.search.ports import SearchScope
from pressbox.curator.search.wiring import article_search
from pressbox.curator.settings import ContextKind, CuratorSettings, DistillerKind
from pressbox.curator.translate.contracts import Provider
from pressbox.curator.translate.service import TranslationStarter
from pressbox.curator.translate.store import EntryTranslationRow
from pressbox.demo.simulators.http_service import Answer, HttpService, Request
from pressbox.demo.simulators.model import ModelService
from pressbox.demo.simulators.task_script import answer_task
from tests.conftest import TEST_KEY
from tests.reading_room import ReadingRoom, open_room, reading_resources, working

OLD, NEW = "Rahel Lindqvist", "Tomas Brandt"


@dataclass(frozen=True)
class Story:
    title: str
    text: str


def bridge(engineer: str, month: str) -> Story:
    return Story(
        f"{engineer} repairs the old bridge",
        f"The engineer {engineer} repairs the old bridge over the Elbe. The bridge stays closed until {month}. "
        f"{engineer} told the council of Dresden that the pillars are sound. Cyclists use the ferry meanwhile, which "
        "sails every ten minutes from early in the morning until late in the evening.",
    )


MARKET = Story(
    "The market moves indoors",
    "The market moves into the hall behind the station. Traders from all over Saxony sell cheese, bread and apples "
    "there. The hall was built a hundred years ago for the railway and has been empty since the spring.",
)


@dataclass
class Paper:
    """What stands in the feed and on the pages of a small newspaper."""

    stories: dict[str, Story]
    pages: dict[str, Story] = field(default_factory=dict)

    def print(self, slug: str, story: Story) -> None:
        self.stories[slug] = self.pages[slug] = story


class Publisher(HttpService):
    def __init__(self, paper: Paper) -> None:
        super().__init__()
        self.paper = paper

    async def answer(self, request: Request) -> Answer:
        if request.path == "/feed.xml":
            items = "".join(
                f"<item><guid>{slug}</guid><link>{self.url}/{slug}</link><title>{escape(story.title)}</title>"
                f"<description>{escape(story.text)}</description></item>"
                for slug, story in self.paper.stories.items()
            )
            feed = f"<rss version='2.0'><channel><title>The Estuary</title>{items}</channel></rss>"
            return Answer(200, feed.encode(), {"Content-Type": "application/rss+xml"})
        story = self.paper.pages[request.path.strip("/")]
        sentences = "".join(f"<p>{escape(part)}.</p>" for part in story.text.rstrip(".").split(". "))
        page = f"<html lang='en'><body><article><h1>{escape(story.title)}</h1>{sentences}</article></body></html>"
        return Answer(200, page.encode(), {"Content-Type": "text/html; charset=utf-8"})


@dataclass(frozen=True)
class Made:
    """All that exists of one entry."""

    entry: EntryRow
    body: EntryBodyRow
    vector: tuple[float, ...]
    translation: str
    paid: Counter[str]


async def made(room: ReadingRoom) -> Mapping[str, Made]:
    found = {}
    async with room.resources.database.unit_of_work() as work:
        for entry in await work.session.scalars(select(EntryRow)):
            body = await work.session.get_one(EntryBodyRow, entry.id)
            (vector,) = await work.session.scalars(
                select(EntryEmbeddingRow).where(EntryEmbeddingRow.entry_id == entry.id)
            )
            assert vector.shown_hash == entry.shown_hash == entry.indexed_hash
            translated = select(EntryTranslationRow).where(EntryTranslationRow.entry_id == entry.id)
            (translation,) = await work.session.scalars(translated)
            assert translation.complete
            features = select(PaidRequestRow.feature).where(PaidRequestRow.item_id == entry.id)
            found[entry.guid] = Made(
                entry,
                body,
                tuple(float(number) for number in vector.embedding),
                " ".join([translation.title, *(block["html"] for block in translation.blocks)]),
                Counter(await work.session.scalars(features)),
            )
    return found


async def do_everything(room: ReadingRoom) -> Mapping[str, Made]:
    """Ingest, then what people and schedules ask for afterwards."""
    resources = room.resources
    await room.ingest()
    # What one round leaves, such as the vector of a text whose summary came late, the next one does.
    await room.ingest()
    graph = GraphStarter(resources.temporal, QUEUE, room.policy)
    await resources.temporal.get_workflow_handle(await graph.update(50)).result()
    translations = TranslationStarter(resources.temporal, QUEUE, room.policy)
    started = await translations.start_translation([], Provider.LLM, "de")
    await resources.temporal.get_workflow_handle(started).result()
    return await made(room)


async def found_by(room: ReadingRoom, words: str) -> list[int]:
    search = article_search(room.resources)
    return [hit.entry_id for hit in (await search.search(SearchScope(f'"{words}"'), 10))[0]]


async def knows(room: ReadingRoom, name: str) -> bool:
    try:
        entity = await SqlGraphPages(room.resources.database).entity(room.user_id, name.lower(), 8)
    except NotFoundError:
        return False
    return bool(entity.evidence)


@pytest.mark.slow
@pytest.mark.limit(900)
async def test_a_correction_reaches_everything_and_nothing_else_is_paid(
    database: Database, temporal: Client, tmp_path: Path
) -> None:
    paper = Paper({})
    paper.print("bridge", bridge(OLD, "October"))
    paper.print("market", MARKET)
    async with Publisher(paper) as publisher, ModelService(script=answer_task) as model:
        curator = CuratorSettings(
            host_delay_seconds=0.01,
            distiller=DistillerKind.LLM,
            context=ContextKind.LLM,
            model_url=model.base_url,
            model_name="simulated-model",
        )
        settings = Settings(
            home=tmp_path,
            secret_key=TEST_KEY,
            http=HttpSettings(allow=(f"127.0.0.1:{publisher.port}", f"127.0.0.1:{model.port}")),
            applications=(curator,),
        )
        async with reading_resources(settings, database, temporal) as resources:
            room = await open_room(resources)
            await room.subscribe([f"{publisher.url}/feed.xml"])
            async with working(resources):
                first = await do_everything(room)
                entry_id = first["bridge"].entry.id
                assert await found_by(room, OLD) == [entry_id]
                assert await knows(room, OLD)

                paper.print("bridge", bridge(NEW, "December"))
                second = await do_everything(room)
                before, after = first["bridge"], second["bridge"]
                assert (after.entry.id, after.entry.title) == (entry_id, f"{NEW} repairs the old bridge")
                assert NEW in after.body.filtered_content
                for text in (after.body.filtered_content, after.body.full_content, after.entry.summary):
                    assert OLD not in text
                    assert "October" not in text
                assert after.entry.summary not in ("", before.entry.summary)
                assert after.vector != before.vector
                assert await found_by(room, NEW) == [entry_id]
                assert await found_by(room, OLD) == []
                assert await knows(room, NEW)
                assert not await knows(room, OLD)
                assert after.translation != before.translation
                # Each was paid for once more; the neighbour, and what is still as it was, not at all.
                assert after.paid["distil"] == before.paid["distil"] + 1
                assert after.paid["context"] == before.paid["context"] + 1
                assert second["market"].paid == first["market"].paid
                assert second["market"].vector == first["market"].vector

                third = await do_everything(room)
                assert {slug: one.paid for slug, one in third.items()} == {
                    slug: one.paid for slug, one in second.items()
                }

                # A headline alone: found by its words, shown in the translation, and no summary is paid for.
                paper.print("market", replace(MARKET, title="The wintry bazaar moves indoors"))
                fourth = await do_everything(room)
                assert await found_by(room, "wintry bazaar") == [fourth["market"].entry.id]
                assert fourth["market"].paid["distil"] == third["market"].paid["distil"]
                assert fourth["market"].paid["context"] == third["market"].paid["context"]
                assert fourth["bridge"].paid == third["bridge"].paid
