"""Where costs are counted: real workflows and workers in this process, on parts that nobody else uses."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass

from pydantic import SecretStr

from pressbox.bench.instance import QUOTAS, temporary_database, temporary_home
from pressbox.core.accounts.service import AccountService
from pressbox.core.app import AppManifest, Resources
from pressbox.core.config import Group, HttpSettings, ObjectsSettings, Settings, TemporalSettings
from pressbox.core.db.database import Database
from pressbox.core.http.client import GuardedClient
from pressbox.core.objects.factory import open_store
from pressbox.core.progress.sink import ProgressSink
from pressbox.core.temporal.client import connect
from pressbox.core.temporal.worker import build_workers
from pressbox.embedded.temporal_server import EmbeddedTemporal

KEY = SecretStr("a key for measuring only, thrown away with its database")
BETWEEN_LOOKS = 0.5
LONGEST_SECONDS = 3_000.0


@dataclass(frozen=True)
class Stage:
    resources: Resources
    manifests: Sequence[AppManifest]
    user_id: int

    async def until_nothing_runs(self) -> None:
        """Lists of workflows lag behind, so twice."""
        quiet = 0
        async with asyncio.timeout(LONGEST_SECONDS):
            while quiet < 2:
                runs = self.resources.temporal.list_workflows("ExecutionStatus = 'Running'")
                quiet = 0 if [run.id async for run in runs] else quiet + 1
                await asyncio.sleep(BETWEEN_LOOKS)


@asynccontextmanager
async def open_stage(manifests: Sequence[AppManifest], group: Group) -> AsyncIterator[Stage]:
    """A fresh database and server, and all workers; schedules start nothing here."""
    with temporary_home() as home:
        home.create()
        server = EmbeddedTemporal(home)
        server.start()
        try:
            with temporary_database(home) as url:
                http = HttpSettings(allow=("127.0.0.0/8",))
                settings = Settings(home=home.path, secret_key=KEY, http=http, applications=(group,))
                database = Database(url, quotas=QUOTAS)
                temporal = await connect(TemporalSettings(), server.address, lazy=False)
                store = open_store(ObjectsSettings(), home.objects)
                try:
                    async with GuardedClient(http) as client:
                        resources = Resources(settings, database, temporal, store, client)
                        person = await AccountService(database, settings).add_user(
                            "bench@example.org", "a long password for measuring", name="bench"
                        )
                        async with _working(resources, manifests):
                            yield Stage(resources, manifests, person.id)
                finally:
                    await database.close()
        finally:
            server.stop()


@asynccontextmanager
async def _working(resources: Resources, manifests: Sequence[AppManifest]) -> AsyncIterator[None]:
    sink = ProgressSink(resources.database)
    writing = asyncio.create_task(sink.run())
    workers = build_workers(resources, manifests, sink)
    running = [asyncio.create_task(worker.run()) for worker in workers]
    try:
        yield
    finally:
        await asyncio.gather(*(worker.shutdown() for worker in workers))
        writing.cancel()
        await asyncio.gather(*running, writing, return_exceptions=True)
