"""A trace leads from a request through workflow and activity to a statement; without the setting nothing is loaded."""

import asyncio
import dataclasses
import io
import json
import logging
import os
import secrets
import signal
import subprocess
import sys
from asyncio.subprocess import PIPE
from collections.abc import Iterator
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import pytest
from fastapi import APIRouter, Request
from pydantic import SecretStr
from sqlalchemy import text

from pressbox.core.app import AppManifest, Resources
from pressbox.core.config import Settings, TemporalSettings, TracingSettings
from pressbox.core.db.database import Database
from pressbox.core.logs import configure_logs, get_logger
from pressbox.core.progress.sink import ProgressSink
from pressbox.core.temporal.client import connect
from pressbox.core.temporal.worker import build_workers
from pressbox.core.tracing import start_tracing, stop_tracing
from pressbox.core.web.connection import connected
from pressbox.embedded.ports import free_port
from pressbox.maintenance.contracts import MaintenanceWorkflowInput
from pressbox.maintenance.manifest import APP as MAINTENANCE
from pressbox.maintenance.manifest import QUEUE
from pressbox.maintenance.settings import MaintenanceSettings
from tests.conftest import Parts
from tests.fakes.trace_collector import Collector, collecting
from tests.site import Browser, serving

PROGRAM = Path(sys.executable).with_name("pressbox")


@pytest.fixture
def collector() -> Iterator[Collector]:
    with collecting() as collector:
        start_tracing(TracingSettings(endpoint=collector.url, headers=SecretStr("x-key=planted")), "test")
        yield collector
        stop_tracing()


def cleaning() -> APIRouter:
    router = APIRouter()

    @router.post("/api/probe/{name}")
    async def clean(request: Request, name: str) -> dict[str, str]:
        """Starts a workflow, as a page does."""
        handle = await connected(request).temporal.start_workflow(
            "MaintenanceWorkflow",
            MaintenanceWorkflowInput(policy=MaintenanceSettings().policy),
            id=f"probe-{name}",
            task_queue=QUEUE,
        )
        await handle.result()
        return {"id": handle.id}

    return router


async def test_a_trace_leads_from_the_request_to_the_statement(
    collector: Collector, parts: Parts, resources: Resources, settings: Settings, database_url: str
) -> None:
    name = secrets.token_hex(6)
    client = await connect(TemporalSettings(), parts.temporal_address, lazy=False)
    database = Database(database_url)
    traced = dataclasses.replace(resources, temporal=client, database=database)
    probe = AppManifest(name=f"probe-{name}", title="Probe", summary="", router=cleaning)
    async with AsyncExitStack() as exits:
        exits.push_async_callback(database.close)
        for worker in build_workers(traced, [MAINTENANCE], ProgressSink(database)):
            await exits.enter_async_context(worker)
        app = await exits.enter_async_context(serving(traced, settings, (probe,)))
        browser = await exits.enter_async_context(Browser(app))
        claimed = {"traceparent": f"00-{'1' * 32}-{'2' * 16}-01"}
        answer = await browser.post(f"/api/probe/{name}", headers=claimed)
        assert answer.status_code == 200, answer.text
    await asyncio.to_thread(stop_tracing)
    request = "POST /api/probe/{name}"
    deletes = [span for span in collector.named("DELETE") if "RunActivity:prune_sessions" in collector.ancestors(span)]
    assert deletes
    assert collector.ancestors(deletes[0]) == [
        "RunActivity:prune_sessions",
        "StartActivity:prune_sessions",
        "StartWorkflow:MaintenanceWorkflow",
        request,
    ]
    (begun,) = collector.named(request)
    (run,) = collector.named("RunWorkflow:MaintenanceWorkflow")
    assert run.trace_id == begun.trace_id == deletes[0].trace_id
    assert begun.trace_id.hex() != "1" * 32, "a stranger does not choose our traces"
    assert collector.headers[0]["x-key"] == "planted"
    attributes = {item.key: item.value.string_value or item.value.int_value for item in begun.attributes}
    assert (attributes["http.response.status_code"], attributes["http.route"]) == (200, "/api/probe/{name}")


async def test_values_stay_out_of_traces_and_failures_are_seen(collector: Collector, database_url: str) -> None:
    from opentelemetry import trace

    from pressbox.core import tracing

    database = Database(database_url)
    provider = tracing._provider
    assert provider is not None
    with provider.get_tracer("test").start_as_current_span("outer"):
        async with database.unit_of_work() as work:
            await work.session.execute(text("SELECT CAST(:value AS text)"), {"value": "planted-value"})
        with pytest.raises(Exception, match="not migrated"):
            async with database.unit_of_work() as work:
                await work.session.execute(text("SELECT * FROM core.nowhere"))
    async with database.unit_of_work() as work:
        await work.session.execute(text("SELECT 'outside of any trace'"))
    await database.close()
    await asyncio.to_thread(stop_tracing)
    statements = collector.named("SELECT")
    assert "planted-value" not in str(collector.spans)
    assert "outside" not in str(collector.spans)
    assert [span.status.code for span in statements if "nowhere" in str(span.attributes)] == [
        trace.StatusCode.ERROR.value
    ]


def test_without_the_setting_the_sdk_is_not_loaded() -> None:
    program = (
        "import sys\nfrom pressbox.core.config import TracingSettings\n"
        "from pressbox.core.tracing import start_tracing\n"
        "import pressbox.entry.web, pressbox.entry.worker\nstart_tracing(TracingSettings(), 'web')\n"
        "sys.exit(any(name.startswith(('opentelemetry.sdk', 'opentelemetry.exporter')) for name in sys.modules))"
    )
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0


async def test_log_lines_name_their_trace(collector: Collector, settings: Settings) -> None:
    from pressbox.core import tracing

    stream = io.StringIO()
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    configure_logs(settings, stream)
    try:
        assert tracing._provider is not None
        with tracing._provider.get_tracer("test").start_as_current_span("outer") as span:
            get_logger("pressbox.toy").info("happened", msg="Inside")
        get_logger("pressbox.toy").info("happened", msg="Outside")
    finally:
        root.handlers[:] = handlers
        root.setLevel(level)
    inside, outside = (json.loads(line) for line in stream.getvalue().splitlines())
    assert inside["trace_id"] == format(span.get_span_context().trace_id, "032x")
    assert "trace_id" not in outside


async def test_lines_of_a_worker_have_fields_and_its_core_speaks_json(
    parts: Parts, database_url: str, tmp_path: Path
) -> None:
    """A real worker whose activity fails, and whose Temporal goes away: every line is JSON with fields of its own."""
    gate, port = tmp_path / "temporal.sock", free_port()
    gate.symlink_to(parts.temporal_address.removeprefix("unix:"))
    environment = {
        **{name: value for name, value in os.environ.items() if not name.startswith("PRESSBOX_")},
        "PRESSBOX_HOME": str(tmp_path / "home"),
        "PRESSBOX_DATABASE_URL": database_url,
        "PRESSBOX_TEMPORAL_ADDRESS": f"unix:{gate}",
        "PRESSBOX_OBJECTS_BUCKET": "nowhere",
        "PRESSBOX_OBJECTS_ENDPOINT": f"http://127.0.0.1:{free_port()}",
        "PRESSBOX_OBJECTS_ACCESS_KEY_ID": "planted-id",
        "PRESSBOX_OBJECTS_SECRET_ACCESS_KEY": "planted-key",
        "HEALTH_PORT": str(port),
    }
    worker = await asyncio.create_subprocess_exec(
        PROGRAM, "worker", "--queue", QUEUE, env=environment, cwd=tmp_path, stderr=PIPE, stdout=PIPE
    )
    assert worker.stderr is not None
    lines: list[dict[str, Any]] = []
    client = await connect(TemporalSettings(), parts.temporal_address, lazy=False)
    handle = await client.start_workflow(
        "MaintenanceWorkflow",
        MaintenanceWorkflowInput(policy=MaintenanceSettings().policy),
        id=f"logged-{secrets.token_hex(4)}",
        task_queue=QUEUE,
    )
    try:
        while not any(line.get("action") == "activity_failed" for line in lines):
            lines.append(json.loads(await worker.stderr.readline()))
    finally:
        await handle.terminate()
        worker.send_signal(signal.SIGTERM)
        rest = (await worker.communicate())[1]
    lines += [json.loads(line) for line in rest.splitlines()]
    failed = next(line for line in lines if line.get("action") == "activity_failed")
    assert (failed["workflow_id"], failed["run_id"]) == (handle.id, handle.first_execution_run_id)
    assert failed["activity"] == "prune_scratch_objects"
    assert all(line["ts"] and line["level"] and "msg" in line for line in lines)
    assert "planted" not in str(lines)
