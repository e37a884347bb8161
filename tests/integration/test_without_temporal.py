"""While Temporal is away people go on reading, processes wait, and nobody is restarted for it."""

import asyncio
import dataclasses
import os
import signal
import sys
from asyncio.subprocess import PIPE
from pathlib import Path

import httpx
import pytest

from pressbox.core.accounts.models import Role
from pressbox.core.accounts.service import AccountService
from pressbox.core.app import Resources
from pressbox.core.config import Settings, TemporalSettings
from pressbox.core.db.database import Database
from pressbox.core.db.versions import head
from pressbox.core.temporal.client import connect
from pressbox.embedded.ports import free_port
from pressbox.entry.manifests import APPLICATIONS
from tests.conftest import Parts
from tests.site import ADMIN, PASSWORD, Browser, cheap_passwords, serving
from tests.waiting import PATIENCE_SECONDS, look_until

PROGRAM = Path(sys.executable).with_name("pressbox")
NAVIGATION = [manifest.navigation.path for manifest in APPLICATIONS if manifest.navigation]
READING = ("/", *NAVIGATION, "/activity", "/status", "/search?q=goal", "/account")


@pytest.fixture
async def lonely(resources: Resources) -> Resources:
    """Parts among which Temporal is missing."""
    away = await connect(TemporalSettings(), f"127.0.0.1:{free_port()}")
    return dataclasses.replace(resources, temporal=away)


async def test_pages_are_read_and_say_what_waits(lonely: Resources, settings: Settings) -> None:
    accounts = AccountService(lonely.database, settings, passwords=cheap_passwords())
    await accounts.add_user(ADMIN, PASSWORD, role=Role.ADMIN)
    async with serving(lonely, settings) as app:
        browser = Browser(app, Accept="text/html")
        await browser.sign_in(ADMIN)
        ready = await browser.get("/readyz")
        assert (ready.status_code, ready.json()["warnings"]) == (200, {"temporal": "Temporal does not answer."})
        await look_until(lambda: browser.get("/account"), lambda page: "You can go on reading." in page.text)
        for path in READING:
            page = await browser.get(path, follow_redirects=True)
            assert page.status_code == 200, path
            assert "You can go on reading." in page.text, path
        german = await browser.get("/account", headers={"Accept-Language": "de"})
        assert "Du kannst weiterlesen." in german.text
        await browser.aclose()


async def test_with_temporal_pages_say_nothing_of_it(resources: Resources, settings: Settings) -> None:
    async with serving(resources, settings) as app:
        browser = Browser(app, Accept="text/html")
        assert (await browser.get("/readyz")).json() == {"status": "ok"}
        assert "You can go on reading." not in (await browser.get("/sign-in")).text
        await browser.aclose()


async def test_a_worker_waits_for_temporal_and_lives(parts: Parts, database_url: str, tmp_path: Path) -> None:
    """It begins as soon as Temporal is there; a stop while it waits ends it at once and well."""
    gate, port = tmp_path / "temporal.sock", free_port()
    environment = {
        **{name: value for name, value in os.environ.items() if not name.startswith("PRESSBOX_")},
        "PRESSBOX_HOME": str(tmp_path / "home"),
        "PRESSBOX_DATABASE_URL": database_url,
        "PRESSBOX_TEMPORAL_ADDRESS": f"unix:{gate}",
        "HEALTH_PORT": str(port),
    }
    worker = await asyncio.create_subprocess_exec(
        PROGRAM, "worker", "--queue", "core", env=environment, cwd=tmp_path, stdout=PIPE, stderr=PIPE
    )
    try:
        async with httpx.AsyncClient(
            base_url=f"http://127.0.0.1:{port}", trust_env=False, timeout=PATIENCE_SECONDS
        ) as client:

            async def ask(path: str) -> httpx.Response | None:
                assert worker.returncode is None, "it must wait, not end"
                try:
                    return await client.get(path)
                except httpx.TransportError:
                    return None

            waiting = await look_until(
                lambda: ask("/ready"), lambda answer: answer is not None and "does not answer" in answer.text
            )
            assert waiting is not None
            assert waiting.status_code == 503
            alive = await ask("/health")
            assert alive is not None
            assert (alive.status_code, alive.json()["status"]) == (200, "ok")
            gate.symlink_to(parts.temporal_address.removeprefix("unix:"))
            ready = await look_until(
                lambda: ask("/ready"), lambda answer: answer is not None and answer.status_code == 200
            )
            assert ready is not None
            assert ready.json()["queues"] == ["core"]
    finally:
        worker.send_signal(signal.SIGTERM)
        await worker.communicate()
    assert worker.returncode == 0


async def test_a_worker_that_waits_ends_when_asked(database_url: str, tmp_path: Path) -> None:
    environment = {
        **{name: value for name, value in os.environ.items() if not name.startswith("PRESSBOX_")},
        "PRESSBOX_HOME": str(tmp_path / "home"),
        "PRESSBOX_DATABASE_URL": database_url,
        "PRESSBOX_TEMPORAL_ADDRESS": f"127.0.0.1:{free_port()}",
        "HEALTH_PORT": "0",
    }
    worker = await asyncio.create_subprocess_exec(
        PROGRAM, "worker", "--queue", "core", env=environment, cwd=tmp_path, stderr=PIPE
    )
    assert worker.stderr is not None
    while b"parts_missing" not in (line := await worker.stderr.readline()):
        assert line, "it ended instead of waiting"
    worker.send_signal(signal.SIGTERM)
    await worker.communicate()
    assert worker.returncode == 0


async def test_a_worker_waits_for_the_tables(parts: Parts, database: Database, tmp_path: Path) -> None:
    """Nothing orders a migration before the workers that need it."""
    async with database.engine.begin() as connection:
        await connection.exec_driver_sql("UPDATE core.alembic_version SET version_num = '0001'")
    port = free_port()
    environment = {
        **{name: value for name, value in os.environ.items() if not name.startswith("PRESSBOX_")},
        "PRESSBOX_HOME": str(tmp_path / "home"),
        "PRESSBOX_DATABASE_URL": database.driver_url,
        "PRESSBOX_TEMPORAL_ADDRESS": parts.temporal_address,
        "HEALTH_PORT": str(port),
    }
    worker = await asyncio.create_subprocess_exec(
        PROGRAM, "worker", "--queue", "core", env=environment, cwd=tmp_path, stderr=PIPE
    )
    assert worker.stderr is not None
    lines = b""
    while b"parts_missing" not in lines:
        line = await worker.stderr.readline()
        assert line, "it ended instead of waiting"
        lines += line
    assert b"worker_started" not in lines
    async with database.engine.begin() as connection:
        await connection.exec_driver_sql(f"UPDATE core.alembic_version SET version_num = '{head()}'")
    while b"worker_started" not in (line := await worker.stderr.readline()):
        assert line, "it ended instead of beginning"
    worker.send_signal(signal.SIGTERM)
    await worker.communicate()
    assert worker.returncode == 0
