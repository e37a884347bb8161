"""The pages and their JSON twins: who sees what, who may do what, and what stands when a part is away."""

import asyncio
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
import pytest
from fastapi import FastAPI
from sqlalchemy import insert
from temporalio.service import RPCError, RPCStatusCode

from pressbox.core import health
from pressbox.core.accounts.models import User
from pressbox.core.app import Resources
from pressbox.core.config import Settings, TemporalSettings
from pressbox.core.db.database import Database
from pressbox.core.progress.contracts import ProgressState
from pressbox.core.progress.rows import ProgressRow
from pressbox.core.temporal import schedules as schedule_module
from pressbox.core.temporal.client import connect
from pressbox.core.temporal.schedules import declared_schedules, reconcile
from pressbox.core.web.pages import status as status_page
from pressbox.core.web.pages.activity import DETAIL_CHILDREN
from pressbox.entry.manifests import APPLICATIONS
from tests.integration.web.conftest import Browse
from tests.site import MEMBER, PASSWORD, serving

NOW = datetime.now(UTC)


@pytest.fixture
async def app(resources: Resources, settings: Settings) -> AsyncIterator[FastAPI]:
    async with serving(resources, settings) as app:
        yield app


@pytest.fixture
async def as_member(app: FastAPI, browse: Browse, member: User) -> httpx.AsyncClient:
    client = browse(app)
    await client.post("/sign-in", data={"email": MEMBER, "password": PASSWORD})
    return client


@pytest.fixture
async def schedules(resources: Resources) -> AsyncIterator[None]:
    declarations = declared_schedules(resources, APPLICATIONS)
    await reconcile(resources, declarations)
    yield
    for declaration in declarations:
        await resources.temporal.get_schedule_handle(declaration.id).delete()


async def add_work(database: Database, workflow_id: str, state: ProgressState, **values: object) -> None:
    row = {
        "workflow_id": workflow_id,
        "run_id": "run",
        "workflow_type": "ToyWorkflow",
        "task_queue": "core",
        "state": state,
        "title": f"Work {workflow_id}",
        "done": 1,
        "total": 3,
        "message": "",
        "error": "",
        "detail": {},
        "audience": "everyone",
        "started_at": NOW - timedelta(minutes=2),
        "updated_at": NOW,
        "closed_at": NOW if state.final else None,
    } | values
    async with database.unit_of_work() as work:
        await work.session.execute(insert(ProgressRow).values(**row))


PRIVATE = ("/", "/activity", "/activity/x", "/status", "/account", "/search?q=x", "/footy", "/events", "/reader")


@pytest.mark.parametrize("path", [*PRIVATE, "/api/docs", "/api/docs/activity"])
async def test_nobody_sees_a_page_without_signing_in(browser: httpx.AsyncClient, path: str) -> None:
    answer = await browser.get(path)
    assert answer.status_code in (303, 401)
    assert "Ingest" not in answer.text


@pytest.mark.parametrize(
    "path", ["/api/activity", "/api/activity/summary", "/api/workflows/active", "/api/status", "/api/schedules"]
)
async def test_no_program_reads_without_a_token(browser: httpx.AsyncClient, path: str) -> None:
    answer = await browser.get(path)
    assert answer.status_code == 401
    assert answer.json()["error"]["code"] == "not_signed_in"


async def test_the_styleguide_and_static_files_are_open(browser: httpx.AsyncClient) -> None:
    page = await browser.get("/styleguide")
    assert page.status_code == 200
    address = page.text.split('rel="stylesheet" href="')[1].split('"')[0]
    styles = await browser.get(address)
    assert styles.headers["content-type"].startswith("text/css")
    assert "immutable" in styles.headers["cache-control"]
    again = await browser.get(address, headers={"If-None-Match": styles.headers["etag"]})
    assert again.status_code == 304
    unversioned = await browser.get("/static/times.js")
    assert unversioned.headers["cache-control"] == "no-cache"


@pytest.mark.parametrize("name", ["nothing.css", "..%2f__init__.py", "%2e%2e/assets.py", "templates", ""])
async def test_only_known_files_are_static(browser: httpx.AsyncClient, name: str) -> None:
    assert (await browser.get(f"/static/{name}")).status_code == 404


async def test_a_member_sees_work_but_cannot_touch_it(as_member: httpx.AsyncClient, database: Database) -> None:
    await add_work(database, "a", ProgressState.RUNNING)
    await add_work(database, "b", ProgressState.FAILED, error="The disk is full.")
    page = (await as_member.get("/activity")).text
    assert "Work a" in page
    assert "The disk is full." in page
    assert "/activity/a/cancel" not in page
    assert "/activity/b/retry" not in page
    for path in ("/activity/a/cancel", "/activity/b/retry", "/status/schedules/core-maintenance/pause"):
        assert (await as_member.post(path)).status_code == 403
    assert (await as_member.get("/activity/a/cancel")).status_code == 403


async def test_an_administrator_is_offered_cancel_and_retry(signed_in: httpx.AsyncClient, database: Database) -> None:
    await add_work(database, "a", ProgressState.RUNNING)
    await add_work(database, "b", ProgressState.FAILED, error="The disk is full.")
    page = (await signed_in.get("/activity")).text
    assert 'href="/activity/a/cancel"' in page
    assert 'action="/activity/b/retry"' in page
    confirm = (await signed_in.get("/activity/a/cancel")).text
    assert "Cancel this?" in confirm
    assert "Work a" in confirm


async def test_acts_on_work_that_temporal_does_not_know_say_so(signed_in: httpx.AsyncClient) -> None:
    for act in ("cancel", "retry"):
        answer = await signed_in.post(f"/activity/never-heard-of/{act}")
        assert answer.status_code == 404


async def test_titles_and_reasons_are_escaped(signed_in: httpx.AsyncClient, database: Database) -> None:
    hostile = "<script>alert(1)</script>"
    await add_work(database, "a", ProgressState.FAILED, title=hostile, error=hostile, message=hostile)
    for path in ("/activity", "/activity/a", "/status", f"/search?q={hostile}"):
        page = (await signed_in.get(path)).text
        assert hostile not in page
        assert "&lt;script&gt;" in page, path


async def test_ids_with_slashes_have_a_page(signed_in: httpx.AsyncClient, database: Database) -> None:
    await add_work(database, "team/1 2", ProgressState.COMPLETED)
    assert "Work team/1 2" in (await signed_in.get("/activity/team/1%202")).text
    assert (await signed_in.get("/activity/nothing")).status_code == 404


async def test_the_page_of_a_workflow_links_to_temporal_and_to_its_parent(
    signed_in: httpx.AsyncClient, resources: Resources, app: FastAPI, database: Database
) -> None:
    await add_work(database, "parent", ProgressState.RUNNING)
    await add_work(database, "child", ProgressState.RUNNING, parent_workflow_id="parent")
    page = (await signed_in.get("/activity/child")).text
    assert 'href="/activity/parent"' in page
    assert "Open in Temporal" not in page, "we do not know where its UI is"
    temporal = resources.settings.temporal.model_copy(update={"ui_url": "http://127.0.0.1:8233/"})
    known = resources.settings.model_copy(update={"temporal": temporal})
    app.state.resources = Resources(known, database, resources.temporal, resources.objects, resources.http)
    page = (await signed_in.get("/activity/child")).text
    assert "http://127.0.0.1:8233/namespaces/default/workflows/child/run" in page


async def schedule_of(client: httpx.AsyncClient, schedule_id: str = "core-maintenance") -> dict[str, Any]:
    listed: list[dict[str, Any]] = (await client.get("/api/schedules")).json()
    return next(schedule for schedule in listed if schedule["id"] == schedule_id)


async def test_the_twins_in_json_say_the_same(
    signed_in: httpx.AsyncClient, database: Database, schedules: None
) -> None:
    await add_work(database, "a", ProgressState.RUNNING)
    await add_work(database, "b", ProgressState.FAILED, error="No answer.")
    view = (await signed_in.get("/api/activity")).json()
    assert [(node["workflow_id"], node["state"]) for node in view["nodes"]] == [("b", "failed"), ("a", "running")]
    assert (await signed_in.get("/api/activity/summary")).json() == {"running": 1, "failed": 1, "unread": 0}
    active = (await signed_in.get("/api/workflows/active")).json()
    assert [work["state"] for work in active["workflows"]] == ["running"]
    assert active["cursor"] == view["cursor"]
    status = (await signed_in.get("/api/status")).json()
    assert {part["name"] for part in status["parts"]} >= {"database", "temporal"}
    assert [node["error"] for node in status["last_errors"]] == ["No answer."]
    assert (await schedule_of(signed_in))["next_run"] is not None


async def test_the_status_page_stands_while_temporal_is_away(
    signed_in: httpx.AsyncClient, app: FastAPI, resources: Resources, database: Database
) -> None:
    nobody_there = await connect(TemporalSettings(), "127.0.0.1:9")
    app.state.resources = Resources(resources.settings, database, nobody_there, resources.objects, resources.http)
    answer = await signed_in.get("/status")
    assert answer.status_code == 200
    assert "Something is wrong" in answer.text
    assert "The schedules cannot be read." in answer.text
    refused = await signed_in.post("/status/schedules/core-maintenance/pause")
    assert refused.status_code == 503
    assert "Not available right now" in refused.text


@pytest.mark.parametrize("status", [status for status in RPCStatusCode if status is not RPCStatusCode.OK])
async def test_the_status_page_stands_whatever_temporal_answers(
    signed_in: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch, status: RPCStatusCode
) -> None:
    async def refuse(*_: object) -> None:
        raise RPCError("busy", status, b"")

    monkeypatch.setattr(schedule_module, "_describe", refuse)
    answer = await signed_in.get("/status")
    assert answer.status_code == 200
    assert "The schedules cannot be read." in answer.text


async def test_the_status_page_stands_while_temporal_does_not_answer_at_all(
    signed_in: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def hang(*_: object) -> None:
        await asyncio.Event().wait()

    monkeypatch.setattr(schedule_module, "_describe", hang)
    monkeypatch.setattr(status_page, "SCHEDULES_LIMIT", timedelta(milliseconds=1))
    monkeypatch.setattr(health, "PROBE_LIMIT", timedelta(milliseconds=500))
    answer = await signed_in.get("/status")
    assert answer.status_code == 200
    assert "The schedules cannot be read." in answer.text


async def test_a_schedule_is_paused_resumed_and_run(signed_in: httpx.AsyncClient, schedules: None) -> None:
    address = "/status/schedules/core-maintenance"
    assert (await signed_in.post(f"{address}/pause")).headers["location"] == "/status#schedules"
    assert (await schedule_of(signed_in))["paused"] is True
    fragment = (await signed_in.post(f"{address}/resume", headers={"HX-Request": "true"})).text
    assert fragment.lstrip().startswith('<tr id="schedule-core-maintenance"')
    assert (await schedule_of(signed_in))["paused"] is False
    assert (await signed_in.post("/status/schedules/somebody-elses/pause")).status_code == 404
    assert (await signed_in.post(f"{address}/delete")).status_code == 422


async def test_the_language_is_that_of_the_browser(signed_in: httpx.AsyncClient) -> None:
    page = await signed_in.get("/activity", headers={"Accept-Language": "de-AT, en;q=0.5"})
    assert page.headers["content-language"] == "de"
    assert '<html lang="de"' in page.text
    assert "Aktivität" in page.text


async def test_error_pages_help(signed_in: httpx.AsyncClient) -> None:
    answer = await signed_in.get("/nowhere")
    assert answer.status_code == 404
    assert "Nothing here" in answer.text
    assert "Go to the home page" in answer.text


async def test_the_api_reference_lists_every_operation(signed_in: httpx.AsyncClient, app: FastAPI) -> None:
    contents = (await signed_in.get("/api/docs")).text
    for path in app.openapi()["paths"]:
        assert path.replace("{", "&#123;") in contents or path in contents
    group = (await signed_in.get("/api/docs/activity")).text
    assert 'id="schema-ActivityNode"' in group
    assert "curl" in group
    assert (await signed_in.get("/api/docs/none")).status_code == 404


async def test_old_finished_work_is_a_link_away(signed_in: httpx.AsyncClient, database: Database) -> None:
    for number in range(25):
        await add_work(database, f"w{number}", ProgressState.COMPLETED)
    page = (await signed_in.get("/activity")).text
    assert "/activity?finished=200" in page
    assert (await signed_in.get("/activity?finished=200")).text.count('class="node"') > 25
    assert (await signed_in.get("/activity?finished=9999")).status_code == 422


async def test_the_page_of_a_workflow_shows_many_children_in_parts(
    signed_in: httpx.AsyncClient, database: Database
) -> None:
    await add_work(database, "parent", ProgressState.RUNNING)
    for number in range(DETAIL_CHILDREN + 3):
        await add_work(database, f"c{number}", ProgressState.COMPLETED, parent_workflow_id="parent")
    first = (await signed_in.get("/activity/parent")).text
    assert first.count('class="node"') == DETAIL_CHILDREN
    assert f'href="?after={DETAIL_CHILDREN}"' in first
    rest = (await signed_in.get(f"/activity/parent?after={DETAIL_CHILDREN}")).text
    assert rest.count('class="node"') == 3
    assert "?after=" not in rest
