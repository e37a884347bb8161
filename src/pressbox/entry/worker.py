"""The worker process: all task queues of all manifests, its progress sink, and its health port."""

import asyncio
import signal
from collections.abc import Sequence

from temporalio.runtime import PrometheusConfig, Runtime, TelemetryConfig
from temporalio.worker import Worker

from pressbox.core.app import Resources
from pressbox.core.config import Settings
from pressbox.core.logs import get_logger
from pressbox.core.progress.closing import keep_closing
from pressbox.core.progress.recovery import recover_reports
from pressbox.core.progress.sink import ProgressSink
from pressbox.core.temporal.client import CORE_LOGS
from pressbox.core.temporal.health import WorkerHealth, serve_health
from pressbox.core.temporal.worker import build_workers
from pressbox.embedded.ports import free_port
from pressbox.entry.manifests import manifests
from pressbox.entry.wiring import open_resources, with_secret_key

log = get_logger(__name__)


async def run_worker(settings: Settings, queues: Sequence[str] = ()) -> None:
    """Poll until SIGTERM or Ctrl-C, then let running activities end."""
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop.set)
    metrics = f"127.0.0.1:{free_port()}"
    runtime = Runtime(telemetry=TelemetryConfig(logging=CORE_LOGS, metrics=PrometheusConfig(bind_address=metrics)))
    settings = with_secret_key(settings)
    async with open_resources(settings, lazy=False, runtime=runtime) as resources:
        sink = ProgressSink(resources.database)
        workers = build_workers(resources, manifests(settings), sink, queues)
        health = WorkerHealth(resources.temporal, workers, f"http://{metrics}/metrics")
        await _run(resources, workers, sink, health, stop)


async def _run(
    resources: Resources, workers: Sequence[Worker], sink: ProgressSink, health: WorkerHealth, stop: asyncio.Event
) -> None:
    settings = resources.settings.worker
    async with serve_health(health, settings.health_host, settings.health_port) as port, asyncio.TaskGroup() as group:
        reporting = group.create_task(sink.run())
        closing = group.create_task(keep_closing(resources.database, resources.temporal))
        names = sorted(worker.task_queue for worker in workers)
        recovery = group.create_task(recover_reports(resources.database, resources.temporal, names))
        polling = [group.create_task(worker.run()) for worker in workers]
        log.info("worker_started", msg=f"Polling {', '.join(names)}", queues=names, health_port=port)
        await stop.wait()
        log.info("worker_stopping", msg="Stopping: running activities may end")
        await asyncio.gather(*(worker.shutdown() for worker in workers))
        await asyncio.gather(*polling)
        recovery.cancel()
        closing.cancel()
        reporting.cancel()
    log.info("worker_stopped", msg="Stopped")
