"""Planted secrets are searched for everywhere they must not be: logs, histories, pages, rows."""

import json
import secrets
import subprocess
import sys
from pathlib import Path

import httpx
import psycopg
import pytest
from temporalio.client import Client

from pressbox.core.config import TemporalSettings
from pressbox.core.environment import child_environment
from pressbox.core.temporal.client import connect
from pressbox.demo.instance import Instance, running_instance
from pressbox.embedded.ports import free_port
from tests.patience import patience

PAGES = ("/", "/activity", "/status", "/account", "/styleguide", "/api/docs", "/search?q=maintenance")
APIS = ("/api/activity", "/api/status", "/api/schedules", "/api/account", "/api/account/tokens", "/api/openapi.json")
TABLES_QUERY = "SELECT table_schema || '.' || table_name FROM information_schema.tables WHERE table_schema = 'core'"


def pressbox(instance: Instance, *arguments: str, stdin: str = "") -> str:
    done = subprocess.run(
        [sys.executable, "-m", "pressbox", *arguments],
        input=stdin,
        capture_output=True,
        text=True,
        env=child_environment(PRESSBOX_HOME=str(instance.home.path)),
        timeout=patience(60),
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


async def histories(client: Client) -> str:
    texts = []
    async for found in client.list_workflows():
        handle = client.get_workflow_handle(found.id, run_id=found.run_id)
        texts.append((await handle.fetch_history()).to_json())
    return "\n".join(texts)


def rows(url: str) -> str:
    with psycopg.connect(url) as connection:
        tables = [name for (name,) in connection.execute(TABLES_QUERY)]
        return "\n".join(str(row) for name in tables for row in connection.execute(f"SELECT * FROM {name}".encode()))


def sign_in(client: httpx.Client, email: str, password: str) -> None:
    answer = client.post("/sign-in", data={"email": email, "password": password})
    assert answer.status_code == 303, answer.text


@pytest.mark.limit(900)
async def test_planted_secrets_are_nowhere_to_be_found(reachable_folder: Path) -> None:
    key, password = f"planted-key-{secrets.token_hex(16)}", f"planted-password-{secrets.token_hex(8)}"
    port = free_port()
    with running_instance(
        reachable_folder / "secrets", PRESSBOX_SECRET_KEY=key, PRESSBOX_WEB_PORT=str(port), PRESSBOX_LOG_LEVEL="debug"
    ) as instance:
        email = "reader@example.org"
        pressbox(instance, "user", "add", email, "--admin", "--password-stdin", stdin=f"{password}\n")
        token = pressbox(instance, "token", "add", email, "script", "--scope", "read").split()[-1]
        pressbox(instance, "schedules", "run", "core-maintenance")
        base = instance.web_url
        with httpx.Client(base_url=base, headers={"Origin": base}, trust_env=False, timeout=patience(30)) as client:
            sign_in(client, email, password)
            cookie = next(iter(client.cookies.jar)).value or ""
            # A wrong password, and a token in the wrong place, are secrets of somebody too.
            client.post("/sign-in", data={"email": email, "password": "planted-wrong-password"})
            client.get(f"/nothing-here?token={token}")
            answers = [client.get(path) for path in (*PAGES, *APIS)]
        assert {answer.status_code for answer in answers} == {200}
        pages = "\n".join(answer.text for answer in answers)
        temporal = await connect(TemporalSettings(), instance.endpoints.temporal_address)
        recorded = await histories(temporal)
        stored = rows(instance.endpoints.database_url)
        database_password = instance.home.database_password()
    logs = "\n".join(file.read_text() for file in instance.home.logs.rglob("*") if file.is_file())
    assert "worker_started" in logs, "the logs were really read"
    assert "MaintenanceWorkflow" in recorded, "the histories were really read"
    assert email in stored, "the rows were really read"
    planted = {
        "secret key": key,
        "password": password,
        "wrong password": "planted-wrong-password",
        "API token": token,
        "session": cookie,
        "database password": database_password,
    }
    assert all(len(value) > 10 for value in planted.values())
    places = {"logs": logs, "pages": pages, "histories": recorded, "rows": stored}
    found = [f"{name} in {place}" for name, value in planted.items() for place, text in places.items() if value in text]
    assert found == [], json.dumps(found)
