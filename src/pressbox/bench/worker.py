"""A worker as in production: with all interceptors, and the sink that writes progress into the database."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from pressbox.core.app import AppManifest, Resources
from pressbox.core.progress.sink import ProgressSink
from pressbox.core.temporal.worker import build_workers


@asynccontextmanager
async def production_worker(resources: Resources, manifest: AppManifest) -> AsyncIterator[None]:
    """Poll the only queue of this application."""
    sink = ProgressSink(resources.database)
    (worker,) = build_workers(resources, [manifest], sink)
    writing = asyncio.create_task(sink.run())
    try:
        async with worker:
            yield
    finally:
        writing.cancel()
        await asyncio.gather(writing, return_exceptions=True)
