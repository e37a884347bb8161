"""The graph for programs and as pages, on the real application; Temporal is a stand-in."""

from collections.abc import AsyncIterator

import pytest
from fastapi import FastAPI

from pressbox.core.app import Resources
from pressbox.core.config import Settings
from pressbox.curator.graph.service import GraphService
from pressbox.curator.graph.wiring import graph_service
from pressbox.curator.manifest import APP
from tests.fakes.graph import Stacks
from tests.site import Browser, browsing, serving

API = "/api/curator/graph"


class Started:
    """What work was asked for."""

    def __init__(self) -> None:
        self.calls: list[tuple[str, int]] = []

    async def update(self, batch_size: int) -> str:
        self.calls.append(("update", batch_size))
        return "curator-graph-by-hand"

    async def rebuild(self, batch_size: int, clean: bool) -> str:
        raise AssertionError("nobody asked for a rebuild")


@pytest.fixture
def started() -> Started:
    return Started()


@pytest.fixture
async def app(resources: Resources, settings: Settings, started: Started) -> AsyncIterator[FastAPI]:
    graph = GraphService(Stacks(resources.database).pages, started)
    async with serving(resources, settings, [APP], {graph_service: lambda: graph}) as app:
        yield app


@pytest.fixture
async def reader(app: FastAPI) -> AsyncIterator[Browser]:
    async with browsing(app, "anna") as browser:
        yield browser


async def test_programs_read_entities_with_their_neighbours_and_start_an_update(
    reader: Browser, resources: Resources, started: Started
) -> None:
    client, anna, stacks = reader, reader.user_id, Stacks(resources.database)
    article = await stacks.article(await stacks.rows.feed(anna, title="The News"))
    await stacks.say(article, "TCP/IP", "Ada", relations=[("Ada", "explains", "TCP/IP")])
    hidden = await stacks.article(await stacks.rows.feed())
    await stacks.say(hidden, "Secret", "Ada", relations=[("Ada", "keeps", "Secret")])
    listed = (await client.get(API)).json()
    assert [(one["key"], one["entries"]) for one in listed] == [("ada", 1), ("tcp/ip", 1)]
    assert [one["name"] for one in (await client.get(API, params={"q": "tcp"})).json()] == ["TCP/IP"]
    found = (await client.get(f"{API}/entities/tcp%2Fip")).json()
    (neighbour,) = found["neighbours"]
    assert (neighbour["name"], neighbour["relations"][0]["word"]) == ("Ada", "explains")
    assert neighbour["relations"][0]["evidence"][0]["entry_id"] == article
    assert (await client.get(f"{API}/entities/secret")).status_code == 404
    assert (await client.get(f"{API}/state")).json()["entries"] == 1
    answer = await client.post(f"{API}/update")
    assert (answer.status_code, answer.json()["workflow_id"]) == (202, "curator-graph-by-hand")
    assert started.calls == [("update", 50)]


async def test_pages_show_names_and_quotes_as_text_and_nobody_elses_entities(
    reader: Browser, resources: Resources, started: Started
) -> None:
    client, anna, stacks = reader, reader.user_id, Stacks(resources.database)
    article = await stacks.article(await stacks.rows.feed(anna))
    await stacks.say(
        article, "<script>alert(1)</script>", "Ada", relations=[("Ada", "<b>is</b>", "<script>alert(1)</script>")]
    )
    for path in ("/reader/graph", "/reader/graph/ada", "/reader/graph/%3Cscript%3Ealert(1)%3C%2Fscript%3E"):
        page = await client.get(path)
        assert page.status_code == 200
        assert "<script>alert" not in page.text
        assert "<b>is" not in page.text
    assert (await client.get("/reader/graph/nobody")).status_code == 404
    assert (await client.get("/reader/graph", params={"q": "nobody"})).status_code == 200
    moved = await client.post("/reader/graph/update")
    assert (moved.status_code, moved.headers["location"]) == (303, "/reader/graph?started=1")
    assert started.calls == [("update", 50)]
