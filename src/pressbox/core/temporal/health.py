"""The worker's health port: /health asks Temporal through the live connection, /ready whether it polls."""

import asyncio
import socket
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from datetime import timedelta

import httpx
import uvicorn
from prometheus_client import CONTENT_TYPE_LATEST, generate_latest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from temporalio.api.workflowservice.v1 import DescribeNamespaceRequest
from temporalio.client import Client
from temporalio.service import RPCError
from temporalio.worker import Worker

from pressbox.core.errors import ConfigurationError

_PROBE = timedelta(seconds=5)


class WorkerHealth:
    """What the port answers of the workers that are watched now; there are others after a change of settings."""

    def __init__(self, sdk_metrics_url: str) -> None:
        self._client: Client | None = None
        self._workers: Sequence[Worker] = ()
        self._sdk_metrics_url = sdk_metrics_url

    def watch(self, client: Client, workers: Sequence[Worker]) -> None:
        self._client, self._workers = client, workers

    async def health(self, _: Request) -> Response:
        """Healthy means that this very process can reach its namespace."""
        if self._client is None:
            return JSONResponse({"status": "failed", "reason": "The worker is starting."}, 503)
        try:
            await self._client.workflow_service.describe_namespace(
                DescribeNamespaceRequest(namespace=self._client.namespace), timeout=_PROBE
            )
        except (RPCError, RuntimeError) as error:
            return JSONResponse({"status": "failed", "reason": f"Temporal does not answer: {error}"}, 503)
        return JSONResponse({"status": "ok", "namespace": self._client.namespace})

    async def ready(self, _: Request) -> Response:
        if not self._workers:
            return JSONResponse({"status": "failed", "reason": "The worker is starting."}, 503)
        idle = sorted(worker.task_queue for worker in self._workers if not worker.is_running)
        if idle:
            return JSONResponse({"status": "failed", "reason": f"Not polling: {', '.join(idle)}"}, 503)
        return JSONResponse({"status": "ok", "queues": sorted(worker.task_queue for worker in self._workers)})

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
