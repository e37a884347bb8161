"""The worker process: all task queues of all manifests, its progress sink, and its health port.

When settings are changed on a page, it lets running activities end and goes on with the new ones.
"""

import asyncio
import signal
from collections.abc import Callable, Coroutine, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, suppress
from functools import partial
from typing import Any

from temporalio.runtime import PrometheusConfig, Runtime, TelemetryConfig
from temporalio.worker import Worker

from pressbox.core.app import AppManifest, Resources
from pressbox.core.collection import collect_as_usual
from pressbox.core.config import Settings
from pressbox.core.db.versions import tables_problem
from pressbox.core.errors import TransientError
from pressbox.core.logs import get_logger
from pressbox.core.progress.closing import keep_closing
from pressbox.core.progress.recovery import recover_reports
from pressbox.core.progress.sink import ProgressSink
from pressbox.core.temporal.client import CORE_LOGS
from pressbox.core.temporal.health import WorkerHealth, serve_health
from pressbox.core.temporal.worker import build_workers
from pressbox.core.tracing import start_tracing
from pressbox.embedded.ports import free_port
from pressbox.entry.manifests import manifests
from pressbox.entry.stored_settings import wait_for_change
from pressbox.entry.wiring import open_resources, with_secret_key

log = get_logger(__name__)

_FIRST_PAUSE_SECONDS = 0.5
_LONGEST_PAUSE_SECONDS = 5.0


async def run_worker(settings: Settings, queues: Sequence[str] = ()) -> None:
    """Poll until SIGTERM or Ctrl-C, then let running activities end."""
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop.set)
    metrics = f"127.0.0.1:{free_port()}"
    runtime = Runtime(telemetry=TelemetryConfig(logging=CORE_LOGS, metrics=PrometheusConfig(bind_address=metrics)))
    start_tracing(settings.tracing, "worker")
    settings = with_secret_key(settings)
    health = WorkerHealth(f"http://{metrics}/metrics")
    async with serve_health(health, settings.worker.health_host, settings.worker.health_port) as port:
        while not stop.is_set():
            async with AsyncExitStack() as exits:
                connect = partial(open_resources, settings, lazy=False, runtime=runtime)
                resources = await _open_when_there(exits, connect, health, stop)
                if resources is None:
                    break
                sink = ProgressSink(resources.database)
                applications = manifests(settings)
                workers = build_workers(resources, applications, sink, queues)
                collect_as_usual()
                problems = [one.worker_problem for one in applications if one.worker_problem]
                health.watch(resources, workers, problems)
                names = sorted(worker.task_queue for worker in workers)
                log.info("worker_started", msg=f"Polling {', '.join(names)}", queues=names, health_port=port)
                await _run(resources, applications, workers, sink, stop)
    log.info("worker_stopped", msg="Stopped")


async def _open_when_there(
    exits: AsyncExitStack,
    connect: Callable[[], AbstractAsyncContextManager[Resources]],
    health: WorkerHealth,
    stop: asyncio.Event,
) -> Resources | None:
    """Connect, however long Temporal or the tables are away: a process that ends is only started to find the same."""
    pause = _FIRST_PAUSE_SECONDS
    while not stop.is_set():
        try:
            async with AsyncExitStack() as attempt:
                resources = await attempt.enter_async_context(connect())
                problem = await tables_problem(resources.database)
                if problem is None:
                    exits.push_async_exit(attempt.pop_all())
                    return resources
            raise TransientError(problem)
        except TransientError as error:
            health.wait_for(error.message)
            log.warning("parts_missing", msg=f"{error.message} Trying again", seconds=pause)
        with suppress(TimeoutError):
            await asyncio.wait_for(stop.wait(), pause)
        pause = min(pause * 2, _LONGEST_PAUSE_SECONDS)
    return None


async def _run(
    resources: Resources,
    applications: Sequence[AppManifest],
    workers: Sequence[Worker],
    sink: ProgressSink,
    stop: asyncio.Event,
) -> None:
    """Poll until the end, or until the settings of the pages change: then everything is built anew."""
    async with asyncio.TaskGroup() as group:
        reporting = group.create_task(sink.run())
        closing = group.create_task(keep_closing(resources.database, resources.temporal))
        queues = [worker.task_queue for worker in workers]
        recovering = group.create_task(recover_reports(resources.database, resources.temporal, queues))
        beside = [group.create_task(run(resources)) for run in _find_beside(applications, workers)]
        polling = [group.create_task(worker.run()) for worker in workers]
        await _wait_for_end(resources, stop)
        log.info("worker_stopping", msg="Stopping: running activities may end", for_good=stop.is_set())
        await asyncio.gather(*(worker.shutdown() for worker in workers))
        await asyncio.gather(*polling)
        for task in (closing, recovering, reporting, *beside):
            task.cancel()


def _find_beside(
    applications: Sequence[AppManifest], workers: Sequence[Worker]
) -> list[Callable[[Resources], Coroutine[Any, Any, None]]]:
    """What applications run beside the workers of their queues."""
    polled = {worker.task_queue for worker in workers}
    own = [one for one in applications if any(queue.name in polled for queue in one.queues)]
    return [one.beside_worker for one in own if one.beside_worker is not None]


async def _wait_for_end(resources: Resources, stop: asyncio.Event) -> None:
    waits = {asyncio.create_task(stop.wait()), asyncio.create_task(wait_for_change(resources))}
    try:
        done, _ = await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
        for task in done:
            task.result()
    finally:
        for task in waits:
            task.cancel()
