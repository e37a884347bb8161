"""The graph kept by LightRAG, against a simulated model: offline but for that, and no error swallowed."""

import asyncio
import json
import sys
from collections.abc import AsyncIterator
from dataclasses import replace
from importlib import import_module
from pathlib import Path

import pytest
from sqlalchemy import select
from temporalio.testing import ActivityEnvironment

from pressbox.core.app import Resources
from pressbox.core.errors import ConfigurationError, TransientError
from pressbox.core.spending.rows import PaidRequestRow
from pressbox.curator.graph.activities import Addition, GraphDocument
from pressbox.curator.graph.lightrag import LightRagGraph
from pressbox.curator.graph.lightrag_library import _Characters, exclusive_writer, library
from pressbox.curator.graph.wiring import build_graph
from pressbox.curator.settings import CuratorSettings, GraphKind
from pressbox.demo.simulators.model import MODEL, Mistake, ModelRequest, ModelService
from tests.fakes.graph import Stacks

ROWS = (
    "entity<|#|>{name}<|#|>Person<|#|>{name} wrote programs.\n"
    "entity<|#|>Engine<|#|>Artifact<|#|>A machine.\n"
    "relation<|#|>{name}<|#|>Engine<|#|>writes about, programs<|#|>{name} wrote about the engine.\n"
    "<|COMPLETE|>"
)


def answer(asked: ModelRequest) -> str:
    """About the first capitalised name of the text; texts that say nonsense get nonsense."""
    text = asked.texts[-1]
    if "nonsense" in text:
        return ""
    return ROWS.format(name="Charles" if "Charles" in text else "Ada")


@pytest.fixture
async def model() -> AsyncIterator[ModelService]:
    async with ModelService(script=answer) as service:
        yield service


@pytest.fixture
def rag(resources: Resources, model: ModelService) -> LightRagGraph:
    curator = CuratorSettings(graph=GraphKind.LIGHTRAG, model_url=model.base_url, model_name=MODEL)
    settings = resources.settings.with_group(curator)
    graph = build_graph(replace(resources, settings=settings))
    assert isinstance(graph, LightRagGraph)
    return graph


@pytest.fixture
def stacks(resources: Resources) -> Stacks:
    return Stacks(resources.database)


async def document(stacks: Stacks, feed: int, text: str) -> GraphDocument:
    entry_id = await stacks.article(feed, text)
    return replace(await stacks.document(entry_id), context=None)


async def add(rag: LightRagGraph, *documents: GraphDocument, generation: int = 0) -> list[Addition]:
    async def work() -> list[Addition]:
        return list(await rag.add(documents, generation))

    found: list[Addition] = await ActivityEnvironment().run(work)
    return found


@pytest.mark.slow
async def test_lightrag_reads_texts_with_the_model_of_the_ledger_and_each_entry_keeps_what_it_said(
    rag: LightRagGraph, stacks: Stacks, model: ModelService, resources: Resources
) -> None:
    anna = await stacks.rows.user()
    feed, foreign = await stacks.rows.feed(anna), await stacks.rows.feed()
    first = await document(stacks, feed, "Ada wrote about the Engine. It was long ago.")
    other = await document(stacks, foreign, "Charles built the Engine.")
    assert [one.reason for one in await add(rag, first, other)] == ["", ""]
    entity = await stacks.pages.entity(anna, "ada", 8)
    assert [one.quote for one in entity.evidence] == ["Ada wrote about the Engine."]
    assert [(one.key, one.relations[0].word) for one in entity.neighbours] == [("engine", "writes about")]
    assert [one.key for one in await stacks.pages.entities(anna, "", 10) if one.key == "charles"] == []
    paid = await stacks.rows.all(select(PaidRequestRow).order_by(PaidRequestRow.id))
    assert [(one.feature, one.item_id) for one in paid] == [
        ("graph", first.source.entry_id),
        ("graph", other.source.entry_id),
    ]
    # Its own storages hold both; nothing is paid twice when a text comes again.
    (workspace,) = (resources.settings.home / "lightrag").glob("generation*")
    assert {"Ada", "Charles", "Engine"} <= names_in(workspace)
    assert [one.reason for one in await add(rag, first)] == [""]
    assert len(model.asked) == 2

    # A text that changed replaces what it said, here and there.
    await stacks.rewrite(first.source.entry_id, "Charles again.")
    changed = replace(await stacks.document(first.source.entry_id), context=None)
    await add(rag, changed)
    await rag.prune()
    assert await stacks.pages.entities(anna, "ada", 10) == []
    assert "Ada" not in names_in(workspace)

    # A clean rebuild is another workspace, which takes the place of the first.
    generation = await rag.begin_generation()
    await add(rag, changed, generation=generation)
    await rag.swap(generation)
    assert [path.name for path in (resources.settings.home / "lightrag").glob("generation*")] == [
        f"generation{generation}"
    ]
    await stacks.remove(changed.source.entry_id)
    await rag.prune()
    assert names_in(resources.settings.home / "lightrag" / f"generation{generation}") == set()


@pytest.mark.slow
async def test_a_text_that_lightrag_fails_on_is_an_error_and_a_model_that_is_away_is_waited_for(
    rag: LightRagGraph, stacks: Stacks, model: ModelService
) -> None:
    feed = await stacks.rows.feed()
    good, bad = await document(stacks, feed, "Ada wrote."), await document(stacks, feed, "Charles speaks nonsense.")
    model.err(Mistake.UNAVAILABLE)
    with pytest.raises(TransientError):
        await add(rag, good)
    assert await stacks.keys() == []
    assert [one.reason for one in await add(rag, good)] == [""]

    (failed,) = await add(rag, bad)
    assert failed.reason
    assert "charles" not in await stacks.keys()
    async with exclusive_writer(rag._folder):
        second = await asyncio.create_subprocess_exec(
            sys.executable, "-c", SECOND_WRITER, str(rag._folder), stderr=asyncio.subprocess.PIPE
        )
        _, said = await second.communicate()
    assert "Another process writes LightRAG's folder." in said.decode()


async def test_without_a_model_lightrag_says_which_settings_it_needs(resources: Resources) -> None:
    settings = resources.settings.with_group(CuratorSettings(graph=GraphKind.LIGHTRAG))
    graph = build_graph(replace(resources, settings=settings))
    with pytest.raises(ConfigurationError, match="PRESSBOX_CURATOR_MODEL_URL"):
        await graph.add([])


@pytest.mark.slow
async def test_lightrag_cannot_install_packages() -> None:
    await asyncio.to_thread(library)
    with pytest.raises(ConfigurationError, match="Nothing is installed while it runs"):
        import_module("pipmaster").install("neo4j")


def test_tokens_of_characters_give_back_the_text() -> None:
    text = "Ada, 東京大学 and an emoticon \U0001f600!"
    assert _Characters().decode(_Characters().encode(text)) == text
    assert len(_Characters().encode(text)) == -(-len(text) // 4)


SECOND_WRITER = """
import asyncio, sys
from pathlib import Path
from pressbox.curator.graph.lightrag_library import exclusive_writer

async def main():
    async with exclusive_writer(Path(sys.argv[1])):
        pass

asyncio.run(main())
"""


def names_in(workspace: Path) -> set[str]:
    """Of the entities in LightRAG's own files."""
    stored = json.loads(next(workspace.glob("vdb_entities*.json")).read_text())
    return {one["entity_name"] for one in stored["data"]}
