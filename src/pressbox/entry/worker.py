"""The worker process: all task queues of all manifests, its progress sink, and its health port.

When settings are changed on a page, it lets running activities end and goes on with the new ones.
"""

import asyncio
import signal
from collections.abc import Sequence

from temporalio.runtime import PrometheusConfig, Runtime, TelemetryConfig
from temporalio.worker import Worker

from pressbox.core.app import Resources
from pressbox.core.config import Settings
from pressbox.core.logs import get_logger
from pressbox.core.progress.closing import keep_closing
from pressbox.core.progress.sink import ProgressSink
from pressbox.core.temporal.client import CORE_LOGS
from pressbox.core.temporal.health import WorkerHealth, serve_health
from pressbox.core.temporal.worker import build_workers
from pressbox.embedded.ports import free_port
from pressbox.entry.manifests import manifests
from pressbox.entry.stored_settings import wait_for_change
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
    health = WorkerHealth(f"http://{metrics}/metrics")
    async with serve_health(health, settings.worker.health_host, settings.worker.health_port) as port:
        while not stop.is_set():
            async with open_resources(settings, lazy=False, runtime=runtime) as resources:
                sink = ProgressSink(resources.database)
                workers = build_workers(resources, manifests(settings), sink, queues)
                health.watch(resources.temporal, workers)
                names = sorted(worker.task_queue for worker in workers)
                log.info("worker_started", msg=f"Polling {', '.join(names)}", queues=names, health_port=port)
                await _run(resources, workers, sink, stop)
    log.info("worker_stopped", msg="Stopped")


async def _run(resources: Resources, workers: Sequence[Worker], sink: ProgressSink, stop: asyncio.Event) -> None:
    """Poll until the end, or until the settings of the pages change: then everything is built anew."""
    async with asyncio.TaskGroup() as group:
        reporting = group.create_task(sink.run())
        closing = group.create_task(keep_closing(resources.database, resources.temporal))
        polling = [group.create_task(worker.run()) for worker in workers]
        await _wait_for_end(resources, stop)
        log.info("worker_stopping", msg="Stopping: running activities may end", for_good=stop.is_set())
        await asyncio.gather(*(worker.shutdown() for worker in workers))
        await asyncio.gather(*polling)
        closing.cancel()
        reporting.cancel()


async def _wait_for_end(resources: Resources, stop: asyncio.Event) -> None:
    waits = {asyncio.create_task(stop.wait()), asyncio.create_task(wait_for_change(resources))}
    try:
        done, _ = await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
        for task in done:
            task.result()
    finally:
        for task in waits:
            task.cancel()
