"""The worker's health port: /health asks whether the process lives, /ready whether it can do its work."""

import asyncio
import socket
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from datetime import timedelta

import httpx
import uvicorn
from prometheus_client import CONTENT_TYPE_LATEST, generate_latest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from temporalio.worker import Worker

from pressbox.core.app import Resources
from pressbox.core.db.versions import tables_problem
from pressbox.core.errors import ConfigurationError, PressboxError
from pressbox.core.temporal.client import temporal_problem

# Shorter than the time limit of every probe that asks.
_PROBE = timedelta(seconds=4)

FindProblem = Callable[[Resources, Collection[str]], Awaitable[str | None]]


class WorkerHealth:
    """What the port answers of the workers that are watched now; there are others after a change of settings."""

    def __init__(self, sdk_metrics_url: str) -> None:
        self._resources: Resources | None = None
        self._workers: Sequence[Worker] = ()
        self._find_problems: Sequence[FindProblem] = ()
        self._waits_for = "The worker is starting."
        self._sdk_metrics_url = sdk_metrics_url

    def watch(self, resources: Resources, workers: Sequence[Worker], find_problems: Sequence[FindProblem] = ()) -> None:
        """`find_problems` say what keeps an application from doing its work on these queues."""
        self._resources, self._workers, self._find_problems = resources, workers, find_problems

    def wait_for(self, reason: str) -> None:
        """There is nothing to watch for now, for this reason."""
        self._resources, self._workers, self._waits_for = None, (), reason

    async def health(self, _: Request) -> Response:
        """The process lives if it answers. Whether Temporal does is told, and no reason to start the process again."""
        if self._resources is None:
            return JSONResponse({"status": "ok", "temporal": self._waits_for})
        client = self._resources.temporal
        found = await temporal_problem(client, _PROBE)
        return JSONResponse({"status": "ok", "namespace": client.namespace, "temporal": found or "ok"})

    async def ready(self, _: Request) -> Response:
        """Ready means that it takes work and can do it: it polls, Temporal answers, the tables are there."""
        if self._resources is None:
            return JSONResponse({"status": "failed", "reason": self._waits_for}, 503)
        idle = sorted(worker.task_queue for worker in self._workers if not worker.is_running)
        if idle:
            return JSONResponse({"status": "failed", "reason": f"Not polling: {', '.join(idle)}"}, 503)
        problem = await self._first_problem(self._resources)
        if problem:
            return JSONResponse({"status": "failed", "reason": problem}, 503)
        return JSONResponse({"status": "ok", "queues": sorted(worker.task_queue for worker in self._workers)})

    async def _first_problem(self, resources: Resources) -> str | None:
        queues = {worker.task_queue for worker in self._workers}
        try:
            async with asyncio.timeout(_PROBE.total_seconds()):
                problems = await asyncio.gather(
                    tables_problem(resources.database),
                    temporal_problem(resources.temporal, _PROBE),
                    *(find(resources, queues) for find in self._find_problems),
                )
        except TimeoutError:
            return f"The database did not answer within {_PROBE.total_seconds():.0f} seconds."
        except PressboxError as error:
            return error.message
        return next((problem for problem in problems if problem), None)

    async def metrics(self, _: Request) -> Response:
        """Ours and the SDK's in one answer."""
        async with httpx.AsyncClient(trust_env=False, timeout=_PROBE.total_seconds()) as client:
            sdk = await client.get(self._sdk_metrics_url)
        return Response(generate_latest() + sdk.content, media_type=CONTENT_TYPE_LATEST)


@asynccontextmanager
async def serve_health(health: WorkerHealth, host: str, port: int) -> AsyncIterator[int]:
    """Serve while the block runs; gives the port, which matters when it was chosen freely."""
    try:
        listening = socket.create_server((host, port))
    except OSError as error:
        raise ConfigurationError(
            f"The worker's health port {host}:{port} cannot be opened: {error.strerror}. "
            "Set HEALTH_PORT to another one, or to 0 for any."
        ) from error
    routes = [Route("/health", health.health), Route("/ready", health.ready), Route("/metrics", health.metrics)]
    server = _Server(uvicorn.Config(Starlette(routes=routes), log_config=None, lifespan="off"))
    task = asyncio.create_task(server.serve(sockets=[listening]))
    try:
        yield listening.getsockname()[1]
    finally:
        server.should_exit = True
        await task


class _Server(uvicorn.Server):
    """Leaves the signals to the worker, which has more to stop than this."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield
