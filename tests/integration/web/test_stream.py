"""The event stream over real HTTP: hello, changes, reconnects, refusals, and clients that do not read."""

import asyncio
import json
import socket
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime

import httpx
import pytest
import uvicorn
from fastapi import FastAPI
from sqlalchemy import event

from pressbox.core.accounts.models import Scope
from pressbox.core.app import Resources
from pressbox.core.audiences.contracts import EVERYONE
from pressbox.core.config import Settings
from pressbox.core.live import feed as feed_module
from pressbox.core.progress.contracts import ProgressState, ProgressUpdate
from pressbox.core.progress.sink import store
from pressbox.core.quotas.declared import STREAMS
from pressbox.core.quotas.store import set_limit
from tests.integration.web.conftest import OpenApp
from tests.site import PASSWORD
from tests.waiting import PATIENCE_SECONDS, until

NOW = datetime(2026, 5, 1, tzinfo=UTC)
QUEUE = 8


@asynccontextmanager
async def served(app: FastAPI) -> AsyncIterator[str]:
    listening = socket.create_server(("127.0.0.1", 0))
    # Connections inherit it: what a client does not read piles up in our queue soon, not in the kernel.
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4096)
    server = uvicorn.Server(uvicorn.Config(app, log_config=None, lifespan="off", timeout_graceful_shutdown=1))
    task = asyncio.create_task(server.serve(sockets=[listening]))
    try:
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"
    finally:
        server.should_exit = True
        await task


@pytest.fixture
def settings(settings: Settings) -> Settings:
    return settings.model_copy(update={"open": True})


@pytest.fixture
async def base(open_app: OpenApp, settings: Settings) -> AsyncIterator[str]:
    async with open_app(settings) as app, served(app) as base:
        yield base


async def report(resources: Resources, workflow_id: str, message: str = "") -> None:
    update = ProgressUpdate(
        workflow_id=workflow_id,
        run_id="run",
        workflow_type="ToyWorkflow",
        task_queue="core",
        parent_workflow_id=None,
        state=ProgressState.RUNNING,
        title="Toy",
        done=1,
        total=2,
        message=message,
        error="",
        detail={},
        audience=EVERYONE,
        started_at=NOW,
        updated_at=datetime.now(UTC),
    )
    async with resources.database.unit_of_work() as work:
        await store(work, [update])


Event = tuple[str, dict[str, object], str | None]


async def all_events(answer: httpx.Response) -> AsyncIterator[Event]:
    name, number = "", None
    async for line in answer.aiter_lines():
        field, _, value = line.partition(": ")
        if field == "event":
            name = value
        elif field == "id":
            number = value
        elif field == "data":
            yield name, json.loads(value), number


async def events(answer: httpx.Response, wanted: int) -> list[Event]:
    found: list[Event] = []
    async with asyncio.timeout(PATIENCE_SECONDS):
        async for heard in all_events(answer):
            found.append(heard)
            if len(found) == wanted:
                break
    return found


async def test_a_change_is_pushed_with_what_changed(base: str, resources: Resources) -> None:
    async with (
        httpx.AsyncClient(timeout=PATIENCE_SECONDS) as client,
        client.stream("GET", f"{base}/api/stream?topics=workflow") as answer,
    ):
        assert answer.headers["content-type"].startswith("text/event-stream")
        (hello,) = await events(answer, 1)
        assert hello[0] == "hello"
    async with (
        httpx.AsyncClient(timeout=PATIENCE_SECONDS) as client,
        client.stream("GET", f"{base}/api/stream?topics=workflow&cursor=0") as answer,
    ):
        await report(resources, "a")
        changes = [found for found in await events(answer, 2) if found[0] == "change"]
    assert changes[0][1]["key"] == "a"
    item = changes[0][1]["item"]
    assert isinstance(item, dict)
    assert (item["title"], item["done"], item["total"]) == ("Toy", 1, 2)


async def test_a_browser_that_comes_back_misses_nothing(base: str, resources: Resources) -> None:
    await report(resources, "before")
    async with httpx.AsyncClient(timeout=PATIENCE_SECONDS) as client:
        async with client.stream("GET", f"{base}/api/stream?topics=workflow&cursor=0") as answer:
            seen = await events(answer, 2)
        last = max((number for _, _, number in seen if number), key=int)
        for name in ("missed-1", "missed-2"):
            await report(resources, name)
        headers = {"Last-Event-ID": last}
        async with client.stream("GET", f"{base}/api/stream?topics=workflow", headers=headers) as answer:
            replayed = await events(answer, 3)
    # What the process was told of since comes before the greeting, the rest after it.
    assert [found[1]["key"] for found in replayed if found[0] == "change"] == ["missed-1", "missed-2"]


async def test_a_cursor_that_is_too_old_is_told_to_reload(base: str) -> None:
    async with (
        httpx.AsyncClient(timeout=PATIENCE_SECONDS) as client,
        client.stream("GET", f"{base}/api/stream?topics=workflow&cursor=999") as answer,
    ):
        assert (await events(answer, 1))[0][0] == "reload"


@pytest.mark.parametrize(
    ("query", "header", "field"),
    [
        ("topics=nothing", None, "topics"),
        ("", None, "topics"),
        ("topics=workflow&cursor=-1", None, "cursor"),
        ("topics=workflow", "abc", "Last-Event-ID"),
        ("topics=workflow", "9" * 40, "Last-Event-ID"),
        ("topics=workflow&cursor=99999999999999999999999", None, "cursor"),
    ],
)
async def test_wrong_input_is_refused_with_the_field_named(
    base: str, query: str, header: str | None, field: str
) -> None:
    headers = {"Last-Event-ID": header} if header else {}
    async with httpx.AsyncClient(timeout=PATIENCE_SECONDS) as client:
        answer = await client.get(f"{base}/api/stream?{query}", headers=headers)
    assert answer.status_code == 422
    assert answer.json()["error"]["field"] == field


async def test_who_is_not_signed_in_hears_nothing(open_app: OpenApp, settings: Settings) -> None:
    closed = settings.model_copy(update={"open": False})
    async with open_app(closed) as app, served(app) as base, httpx.AsyncClient(timeout=PATIENCE_SECONDS) as client:
        assert (await client.get(f"{base}/api/stream?topics=workflow")).status_code == 401


@pytest.mark.parametrize(
    ("limits", "word"),
    [
        ({"streams_per_address": 2}, "from your address"),
        ({"streams_in_all": 2}, "on this Pressbox"),
    ],
)
async def test_open_streams_are_limited_and_a_closed_one_makes_room(
    open_app: OpenApp, settings: Settings, limits: dict[str, int], word: str
) -> None:
    limited = settings.model_copy(update={"web": settings.web.model_copy(update=limits)})
    async with open_app(limited) as app, served(app) as base, httpx.AsyncClient(timeout=PATIENCE_SECONDS) as client:
        address = f"{base}/api/stream?topics=workflow"
        async with client.stream("GET", address) as first:
            async with client.stream("GET", address) as second:
                assert (first.status_code, second.status_code) == (200, 200)
                refused = await asyncio.gather(*(client.get(address) for _ in range(20)))
                assert {answer.status_code for answer in refused} == {429}
                assert word in refused[0].json()["error"]["message"]
                assert int(refused[0].headers["retry-after"]) > 0
                assert app.state.feed.listeners == 2
            await until(lambda: app.state.feed.listeners == 1)
            async with client.stream("GET", address) as third:
                assert third.status_code == 200
        await until(lambda: app.state.feed.listeners == 0)


async def test_a_person_has_a_limit_of_open_streams_that_an_administrator_can_change(
    open_app: OpenApp, settings: Settings, resources: Resources
) -> None:
    async with open_app(settings) as app, served(app) as base, httpx.AsyncClient(timeout=PATIENCE_SECONDS) as client:
        address = f"{base}/api/stream?topics=workflow"
        owner = (await client.get(f"{base}/api/account")).json()["user_id"]
        limit = f"{base}/api/users/{owner}/quotas/streams"
        assert (await client.put(limit, json={"most": 1})).json()["most"] == 1
        async with client.stream("GET", address) as first:
            assert first.status_code == 200
            refused = await client.get(address)
            assert refused.status_code == 429
            assert "You have 1 live pages open" in refused.json()["error"]["message"]
            assert (await client.put(limit, json={"most": None})).json()["most"] == 30
            async with client.stream("GET", address) as second:
                assert second.status_code == 200


async def test_who_was_refused_a_moment_ago_is_refused_without_asking_the_database(
    open_app: OpenApp, settings: Settings, resources: Resources
) -> None:
    """One read-only token that asks for 400 streams gets its own limit of them, and costs nobody else's database."""
    closed = settings.model_copy(update={"open": False})
    statements: list[str] = []

    def note(*arguments: object) -> None:
        statements.append(str(arguments[2]))

    async with open_app(closed) as app, served(app) as base:
        member = await app.state.accounts.add_user("greedy@example.org", PASSWORD)
        token = (await app.state.accounts.add_token(member.id, "greed", {Scope.READ})).secret
        async with resources.database.unit_of_work() as work:
            await set_limit(work.session, STREAMS, member.id, 0)
        address = f"{base}/api/stream?topics=workflow&cursor=0"
        async with httpx.AsyncClient(headers={"Authorization": f"Bearer {token}"}, timeout=PATIENCE_SECONDS) as client:
            assert (await client.get(address)).status_code == 429
            # However long a busy machine takes for the rest.
            app.state.refusals._now = lambda: 0.0
            event.listen(resources.database.engine.sync_engine, "before_cursor_execute", note)
            try:
                answers = await asyncio.gather(*(client.get(address) for _ in range(50)))
            finally:
                event.remove(resources.database.engine.sync_engine, "before_cursor_execute", note)
                app.state.refusals._now = time.monotonic
            assert {answer.status_code for answer in answers} == {429}
            assert [statement for statement in statements if "tokens" in statement or "quota" in statement] == []
            assert (await client.get(f"{base}/api/account")).status_code == 200, "only streams are refused"


async def test_a_client_that_does_not_read_is_dropped_and_others_are_not_delayed(
    open_app: OpenApp, settings: Settings, resources: Resources, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(feed_module, "QUEUE_LENGTH", QUEUE)
    async with open_app(settings) as app, served(app) as base:
        port = int(base.rsplit(":", 1)[1])
        # A tiny receive window: the server's writes block soon.
        slow = socket.socket()
        slow.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        slow.connect(("127.0.0.1", port))
        slow.sendall(f"GET /api/stream?topics=workflow HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n\r\n".encode())
        await until(lambda: app.state.feed.listeners >= 1)
        (listener,) = app.state.feed._listeners
        async with (
            httpx.AsyncClient(timeout=PATIENCE_SECONDS) as client,
            client.stream("GET", f"{base}/api/stream?topics=workflow") as answer,
        ):
            heard: list[str] = []

            async def read() -> None:
                async for name, _, _ in all_events(answer):
                    heard.append(name)

            def caught_up() -> bool:
                return heard.count("change") >= sent

            sent = 0
            reading = asyncio.create_task(read())
            await until(lambda: heard)
            while not listener.overflowed:
                # Never more than a queue holds, so that who reads keeps up, however busy the machine is.
                numbers = range(sent, sent + QUEUE // 2)
                await asyncio.gather(*(report(resources, f"w{number}", "x" * 1900) for number in numbers))
                sent += len(numbers)
                await until(caught_up, "what was reported last")
            reading.cancel()
            await asyncio.gather(reading, return_exceptions=True)
        assert "reload" not in heard, "who reads is not cut off with who does not"
        assert listener._queue.qsize() <= 1
        slow.close()
        await until(lambda: not app.state.feed.listeners)
