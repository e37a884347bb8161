"""Temporal's web UI opens through our own sign-in only, and does nothing that another site asks for."""

import secrets
from collections.abc import AsyncIterator

import httpx
import pytest
from fastapi import FastAPI
from temporalio.client import Client, WorkflowExecutionStatus

from pressbox.core.accounts.models import User
from pressbox.core.app import Resources
from pressbox.core.config import Settings, TemporalSettings
from tests.conftest import Parts
from tests.integration.web.conftest import Browse
from tests.site import ADMIN, MEMBER, Browser, serving

PAGE = "/temporal/namespaces/default/workflows"


@pytest.fixture
def settings(settings: Settings, parts: Parts) -> Settings:
    temporal = TemporalSettings(address=parts.temporal_address, ui_url="/temporal")
    return settings.model_copy(update={"temporal": temporal})


@pytest.fixture
async def app(resources: Resources, settings: Settings) -> AsyncIterator[FastAPI]:
    async with serving(resources, settings, ()) as app:
        yield app


@pytest.fixture
async def workflow(temporal: Client) -> AsyncIterator[str]:
    """One that nobody works on."""
    handle = await temporal.start_workflow("Nobody", id=f"ui-{secrets.token_hex(4)}", task_queue="nobody")
    yield handle.id
    if await status_of(temporal, handle.id) == WorkflowExecutionStatus.RUNNING:
        await handle.terminate()


async def status_of(temporal: Client, workflow_id: str) -> WorkflowExecutionStatus | None:
    return (await temporal.get_workflow_handle(workflow_id).describe()).status


async def test_only_an_administrator_sees_it(app: FastAPI, browse: Browse, admin: User, member: User) -> None:
    stranger, reader, owner = browse(app), browse(app), browse(app)
    await reader.sign_in(MEMBER)
    await owner.sign_in(ADMIN)
    for path in ("/temporal", PAGE, "/temporal/api/v1/namespaces/default/workflows", "/temporal/_app/version.json"):
        assert (await stranger.get(path)).status_code in (303, 401), path
        assert (await reader.get(path)).status_code == 403, path
    page = await owner.get(PAGE)
    assert page.status_code == 200
    assert "/temporal/_app/immutable/" in page.text
    listed = await owner.get("/temporal/api/v1/namespaces/default/workflows")
    assert listed.headers["content-type"] == "application/json"


async def test_only_an_administrator_is_shown_the_way_to_it(
    app: FastAPI, browse: Browse, admin: User, member: User
) -> None:
    reader, owner = browse(app), browse(app)
    await reader.sign_in(MEMBER)
    await owner.sign_in(ADMIN)
    assert f'href="{PAGE}"' in (await owner.get("/activity")).text
    assert "/temporal" not in (await reader.get("/activity")).text


@pytest.mark.parametrize(
    "path",
    [
        "%2e%2e/api/v1/namespaces",
        "..%2fapi/v1/namespaces",
        "_app/%2e%2e/%2e%2e/api/v1/namespaces",
        "%252e%252e/api/v1/namespaces",
        "%25252525252e%2e/api/v1/namespaces",
        "..%5capi/v1/namespaces",
        "_app/%2e/version.json",
    ],
)
async def test_no_path_leads_out_of_its_folder(signed_in: Browser, monkeypatch: pytest.MonkeyPatch, path: str) -> None:
    async def ask(*_: object) -> None:
        pytest.fail("Temporal was asked")

    monkeypatch.setattr(httpx.AsyncHTTPTransport, "handle_async_request", ask)
    assert (await signed_in.get(f"/temporal/{path}")).status_code == 404


async def test_its_page_may_run_its_own_scripts_and_no_others(signed_in: Browser) -> None:
    rules = dict(
        rule.split(" ", 1) for rule in (await signed_in.get(PAGE)).headers["content-security-policy"].split("; ")
    )
    assert rules["default-src"] == "'none'"
    assert rules["frame-ancestors"] == "'none'"
    assert rules["script-src"].startswith("'self' 'sha256-")
    assert "unsafe" not in rules["script-src"]


async def test_another_name_for_this_machine_is_refused(signed_in: Browser) -> None:
    answer = await signed_in.get(PAGE, headers={"Host": "rebound.example"})
    assert answer.status_code == 400


async def test_another_site_cannot_terminate_a_workflow(signed_in: Browser, workflow: str, temporal: Client) -> None:
    """The UI's own token does not help it: the page of another site is refused before."""
    token = (await signed_in.get(PAGE)).cookies["_csrf"]
    for headers in ({"Origin": "https://evil.example"}, {"Origin": "null"}):
        assert (await terminate(signed_in, workflow, token, headers)).status_code == 403
    assert await status_of(temporal, workflow) == WorkflowExecutionStatus.RUNNING
    own = await terminate(signed_in, workflow, token, {})
    assert own.status_code == 200, own.text
    assert await status_of(temporal, workflow) == WorkflowExecutionStatus.TERMINATED


async def terminate(browser: Browser, workflow: str, token: str, headers: dict[str, str]) -> httpx.Response:
    browser.cookies.set("_csrf", token)
    return await browser.post(
        f"/temporal/api/v1/namespaces/default/workflows/{workflow}/terminate",
        json={"reason": "test"},
        headers={"X-CSRF-TOKEN": token, **headers},
    )
