"""Research in a real database and on its pages: kept step by step, shown safely, exported, and nobody else's."""

import re
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Any

import pytest
from fastapi import FastAPI
from sqlalchemy import update
from temporalio.testing import ActivityEnvironment

from pressbox.core.app import Resources
from pressbox.core.clock import utc_now
from pressbox.core.config import Settings
from pressbox.core.errors import NotFoundError, TransientError
from pressbox.curator.articles.extraction import PooledExtractor
from pressbox.curator.articles.page_reader import GuardedPageReader
from pressbox.curator.context.domain import EntityKind
from pressbox.curator.context.store import EntryLinkRow
from pressbox.curator.graph.domain import EntityView, GraphState, MentionedEntity, Neighbour
from pressbox.curator.ingest.fetcher import HostRateLimiter
from pressbox.curator.ingest.queues import SqlHostRateLimits
from pressbox.curator.library.parser_pool import ParserPool
from pressbox.curator.library.rows import EntryBodyRow
from pressbox.curator.manifest import APP
from pressbox.curator.research.activities import ResearchActivities
from pressbox.curator.research.contracts import CloseResearchInput, ResearchStepInput
from pressbox.curator.research.domain import EndedBy, Limits, Link, ResearchState, StepKind, StepState
from pressbox.curator.research.ports import Draft, GuardedLinkedPages, LinkedPages
from pressbox.curator.research.researchers import GraphNeighbours
from pressbox.curator.research.service import ResearchService
from pressbox.curator.research.store import SqlReadings, SqlResearch
from pressbox.curator.research.wiring import research_service
from tests.fakes.reader import NOW, Library
from tests.fakes.research import FakePages, FakeResearchWorld
from tests.site import browsing, serving

QUESTION = "Why does the <b>ferry</b> leave?"
EVIL = 'The ferry leaves at six <script>alert("ferry")</script> in the morning, said [99](https://evil.example.org).'


@dataclass
class FakeWorkflows:
    calls: list[tuple[str, int]] = field(default_factory=list)
    away: bool = False
    running: bool = True

    async def start_run(self, run_id: int) -> str:
        if self.away:
            raise TransientError("Temporal does not answer.")
        self.calls.append(("research", run_id))
        return f"research-{run_id}"

    async def stop(self, run_id: int) -> bool:
        self.calls.append(("stop", run_id))
        return self.running

    async def cancel(self, run_id: int) -> None:
        self.calls.append(("give up", run_id))


@pytest.fixture
def library(resources: Resources) -> Library:
    return Library(resources)


@pytest.fixture
def store(resources: Resources) -> SqlResearch:
    return SqlResearch(resources.database)


@pytest.fixture
def workflows() -> FakeWorkflows:
    return FakeWorkflows()


@pytest.fixture
async def app(
    library: Library, store: SqlResearch, workflows: FakeWorkflows, settings: Settings
) -> AsyncIterator[FastAPI]:
    research = ResearchService(store, workflows, Limits(), has_model=True)
    overrides = library.overrides() | {research_service: lambda: research}
    async with serving(library.resources, settings, [APP], overrides) as app:
        yield app


async def researched(
    store: SqlResearch, run_id: int, world: FakeResearchWorld, pages: LinkedPages | None = None
) -> None:
    """All steps of one round, in the real database."""
    activities = ResearchActivities(store, world, world, world.researcher, pages or FakePages(world))

    async def did(name: str, **values: Any) -> Any:
        step = ResearchStepInput(run_id=run_id, seconds=90.0, **values)
        return await ActivityEnvironment().run(getattr(activities, name), step)

    await did("open_research")
    await did("plan_research")
    found = await did("search_for_research", round=1)
    for position in found.to_read:
        await did("read_for_research", round=1, position=position)
    await did("check_research", round=1)
    await did("write_research", round=1, ended_by=EndedBy.ROUNDS)


def press(reader: int, *, offline: bool = False) -> FakeResearchWorld:
    world = FakeResearchWorld(offline=offline)
    world.article("The “ferry” <i>and</i> (more)", EVIL, readers=(reader,))
    world.article(
        "The pier", "The pier was built for the ferry in 1921, and why it leaves is known.", readers=(reader,)
    )
    return world


async def test_a_run_is_read_back_as_it_was_written(store: SqlResearch, library: Library) -> None:
    reader = await library.person()
    run_id = await store.create(Draft(reader, QUESTION, Limits(links=True)), NOW)
    await researched(store, run_id, press(reader))
    run = await store.load_own(reader, run_id)
    assert (run.state, run.seconds, run.limits, run.method) == (ResearchState.DONE, 90.0, Limits(links=True), "llm")
    assert [source.number for source in run.sources] == [1, 2]
    assert all(step.state is StepState.DONE for step in run.steps)
    assert run.tokens == sum(step.tokens for step in run.steps) > 0
    assert [one.id for one in await store.list_newest(reader, 10)] == [run_id]
    with pytest.raises(NotFoundError):
        await store.load_own(reader + 1, run_id)


async def test_what_is_done_stays_done_and_a_deleted_run_takes_nothing(store: SqlResearch, library: Library) -> None:
    reader = await library.person()
    run_id = await store.create(Draft(reader, QUESTION, Limits()), NOW)
    await researched(store, run_id, press(reader))
    world = press(reader)
    activities = ResearchActivities(store, world, world, world.researcher, FakePages(world))
    closed = CloseResearchInput(run_id=run_id, state=ResearchState.STOPPED)
    await ActivityEnvironment().run(activities.close_research, closed)
    assert (await store.load_own(reader, run_id)).state is ResearchState.DONE
    step = (await store.load_own(reader, run_id)).steps[0]
    await store.delete(reader, run_id)
    await store.finish(run_id, (step,), 1.0, NOW)
    assert await store.run(run_id) is None


async def test_only_what_a_person_may_see_is_read_and_only_its_stored_links(library: Library) -> None:
    reader, other = await library.person(), await library.person()
    feed_id = await library.feed(reader)
    entry_id = await library.entry(feed_id, "The ferry")
    async with library.database.unit_of_work() as work:
        await work.session.execute(
            update(EntryBodyRow).where(EntryBodyRow.entry_id == entry_id).values(filtered_content="It leaves.")
        )
        work.session.add(EntryLinkRow(entry_id=entry_id, url="https://example.org/a", title="A", position=1))
    readings = SqlReadings(library.database)
    assert await readings.text(reader, entry_id) == "It leaves."
    assert await readings.links(reader, [entry_id]) == [Link(entry_id, "https://example.org/a", "A")]
    assert await readings.text(other, entry_id) == ""
    assert await readings.links(other, [entry_id]) == []


async def test_the_page_shows_steps_report_and_sources_and_runs_nothing_that_strangers_wrote(
    app: FastAPI, store: SqlResearch
) -> None:
    async with browsing(app, "reader") as client:
        reader = client.user_id
        run_id = await store.create(Draft(reader, QUESTION, Limits()), NOW)
        blank = await client.get(f"/reader/research/{run_id}")
        assert "It has not started yet." in blank.text
        assert "It has not started yet." in (await client.get(f"/reader/research/{run_id}/part")).text
        await researched(store, run_id, press(reader))
        page = await client.get(f"/reader/research/{run_id}")
        part = await client.get(f"/reader/research/{run_id}/part")
        whole = await client.get("/reader/research", params={"question": "And why <now>?"})
        runs = await client.get("/reader/research/runs")
    assert page.status_code == part.status_code == whole.status_code == 200
    assert len(page.content) < 50_000
    assert "<script>alert" not in page.text + part.text
    assert 'href="https://evil' not in page.text
    assert '<a class="cite" href="#source-1">1</a>' in page.text
    assert 'id="source-2"' in page.text
    assert re.search(r'<blockquote>\s*<a href="/reader/entries/2\?passage=0-\d+#passage">', page.text)
    report = re.search(r'id="report-text">(.*?)</section>', page.text, re.DOTALL)
    assert report is not None
    assert "[99]" not in report[1]
    assert 'data-follow="curator.research:' in part.text
    assert "&lt;b&gt;ferry&lt;/b&gt;" in whole.text
    assert "And why &lt;now&gt;?</textarea>" in whole.text
    assert "&lt;b&gt;ferry&lt;/b&gt;" in runs.text


async def test_a_report_is_exported_as_markdown_and_as_html(app: FastAPI, store: SqlResearch) -> None:
    async with browsing(app, "reader") as client:
        reader = client.user_id
        run_id = await store.create(Draft(reader, QUESTION, Limits()), NOW)
        early = await client.get(f"/reader/research/{run_id}/report.md")
        await researched(store, run_id, press(reader))
        markdown = await client.get(f"/reader/research/{run_id}/report.md")
        html = await client.get(f"/reader/research/{run_id}/report.html")
    assert early.status_code == 409
    for answer in (markdown, html):
        assert answer.headers["content-disposition"].startswith("attachment")
    assert markdown.text.startswith("# Why does the \\<b\\>ferry\\</b\\> leave?")
    assert "## Sources" in markdown.text
    assert "1. [The “ferry” \\<i\\>and\\</i\\> (more)](https://example.org/1)" in markdown.text
    assert "<script>alert" not in html.text
    assert "\\<script\\>alert" in markdown.text
    assert not re.search(r"(?<!\\)<", markdown.text)
    assert '<a class="cite" href="#source-1">1</a>' in html.text
    assert 'id="source-1"' in html.text


async def test_extracts_are_labelled_as_extracts(app: FastAPI, store: SqlResearch) -> None:
    async with browsing(app, "reader") as client:
        reader = client.user_id
        run_id = await store.create(Draft(reader, QUESTION, Limits()), NOW)
        await researched(store, run_id, press(reader, offline=True))
        page = await client.get(f"/reader/research/{run_id}")
        markdown = await client.get(f"/reader/research/{run_id}/report.md")
    assert "These are extracts" in page.text
    assert "No model took part." in markdown.text
    assert "of 60,000 tokens" not in page.text


async def test_research_of_others_does_not_exist(app: FastAPI, store: SqlResearch, workflows: FakeWorkflows) -> None:
    async with browsing(app, "reader") as owner, browsing(app, "other") as client:
        reader = owner.user_id
        run_id = await store.create(Draft(reader, QUESTION, Limits()), NOW)
        path, api = f"/reader/research/{run_id}", f"/api/curator/research/{run_id}"
        answers = [await client.get(one) for one in (path, f"{path}/part", f"{path}/report.md", api)]
        answers += [await client.post(f"{path}/act", data={"what": what}) for what in ("stop", "resume", "delete")]
        answers += [await client.post(f"{api}/stop"), await client.delete(api)]
        assert {answer.status_code for answer in answers} == {404}
        assert (await client.get("/api/curator/research")).json() == []
    assert workflows.calls == []


async def test_start_stop_resume_and_delete_from_the_page(
    app: FastAPI, store: SqlResearch, workflows: FakeWorkflows
) -> None:
    async with browsing(app, "reader") as client:
        reader = client.user_id
        form = {"question": " Why?  Now ", "rounds": "2", "tokens": "5000", "minutes": "7.5", "links": "yes"}
        started = await client.post("/reader/research", data=form)
        path = started.headers["location"]
        run_id = int(path.rpartition("/")[2])
        run = await store.load_own(reader, run_id)
        assert (run.question, run.limits) == ("Why? Now", Limits(2, 5000, 7.5, links=True))
        await client.post(f"{path}/act", data={"what": "stop"})
        assert (await store.load_own(reader, run_id)).state is ResearchState.STOPPING
        await client.post(f"{path}/act", data={"what": "resume"})
        assert (await store.load_own(reader, run_id)).state is ResearchState.RUNNING, "somebody thought better of it"
        workflows.running = False
        await client.post(f"{path}/act", data={"what": "stop"})
        assert (await store.load_own(reader, run_id)).state is ResearchState.STOPPED
        assert (await client.post(f"{path}/act", data={"what": "stop"})).status_code == 409
        await client.post(f"{path}/act", data={"what": "resume"})
        assert (await client.post(f"{path}/act", data={"what": "delete"})).headers["location"] == "/reader/research"
        assert (await client.get(path)).status_code == 404
        bad = await client.post("/reader/research", data={"question": "Why is it?", "rounds": "99"})
        assert (bad.status_code, "Rounds are from 1 to 10." in bad.text) == (422, True)
        assert "Why is it?" in bad.text, "what was typed stays"
    assert [name for name, _ in workflows.calls] == ["research", "stop", "research", "stop", "research", "give up"]


async def test_when_temporal_is_away_the_question_is_kept_and_can_be_started_later(
    app: FastAPI, store: SqlResearch, workflows: FakeWorkflows
) -> None:
    workflows.away = True
    async with browsing(app, "reader") as client:
        reader = client.user_id
        answer = await client.post("/reader/research", data={"question": "Why is it so?"})
        assert (answer.status_code, "Temporal does not answer." in answer.text) == (503, True)
        (run,) = await store.list_newest(reader, 10)
        page = await client.get(f"/reader/research/{run.id}")
        assert (run.state, 'id="research-resume"' in page.text) == (ResearchState.QUEUED, True)
        workflows.away = False
        await client.post(f"/reader/research/{run.id}/act", data={"what": "resume"})
    assert workflows.calls == [("research", run.id)]


async def test_research_as_json(app: FastAPI, store: SqlResearch) -> None:
    async with browsing(app, "reader") as client:
        reader = client.user_id
        body = {"question": "Why does the ferry leave?", "rounds": 1, "links": True}
        run_id = (await client.post("/api/curator/research", json=body)).json()["id"]
        await researched(store, run_id, press(reader))
        found = (await client.get(f"/api/curator/research/{run_id}")).json()
        assert (await client.post(f"/api/curator/research/{run_id}/resume")).status_code == 409
        assert (await client.delete(f"/api/curator/research/{run_id}")).status_code == 204
        assert (await client.get("/api/curator/research")).json() == []
        assert (await client.post("/api/curator/research", json=body | {"tokens": 1})).status_code == 422
    assert (found["state"], found["ended_by"], found["limits"]["rounds"]) == ("done", "rounds", 1)
    assert [source["number"] for source in found["sources"]] == [1, 2]
    assert {step["kind"] for step in found["steps"]} == {"plan", "search", "choose", "read", "check", "write"}


async def test_a_private_address_that_an_article_links_to_is_refused_and_the_step_says_so(
    resources: Resources, store: SqlResearch, library: Library
) -> None:
    reader = await library.person()
    world = press(reader)
    world.articles[1].links = [Link(2, "http://127.0.0.1:9/ferry", "The ferry")]
    run_id = await store.create(Draft(reader, QUESTION, Limits(links=True)), NOW)
    pages = GuardedLinkedPages(
        GuardedPageReader(resources.http),
        PooledExtractor(ParserPool(1)),
        HostRateLimiter(SqlHostRateLimits(resources.database), utc_now),
    )
    await researched(store, run_id, world, pages)
    steps = (await store.load_own(reader, run_id)).of(StepKind.READ)
    (linked,) = [step for step in steps if step.outcome.material is not None and step.outcome.material.link]
    assert linked.state is StepState.SKIPPED
    assert "private" in linked.outcome.reason or "127.0.0.1" in linked.outcome.reason


async def test_neighbours_in_the_graph_are_named_once_and_unknown_names_have_none(library: Library) -> None:
    class Pages:
        async def entity(self, user_id: int, key: str, neighbours: int) -> EntityView:
            if key != "ferry":
                raise NotFoundError("There is no such entity.")
            near = [Neighbour(name.lower(), name, EntityKind.OTHER, ()) for name in ("Harbour", "Pier", "Sunrise")]
            return EntityView(key, "Ferry", EntityKind.OTHER, (), 1, (), near, (), False)

        async def entities(self, user_id: int, words: str, limit: int) -> list[MentionedEntity]:
            return []

        async def state(self, user_id: int) -> GraphState:
            return GraphState(0, 0, None, False, ())

    found = await GraphNeighbours(Pages()).near(1, ["Ferry", "Pier", "Nobody"], 2)
    assert found == ["Harbour", "Sunrise"]
