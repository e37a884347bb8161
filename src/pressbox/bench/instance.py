"""A whole instance on a temporary home, for benchmarks."""

import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import ExitStack, asynccontextmanager, contextmanager, suppress
from pathlib import Path

import httpx
from pydantic import SecretStr

from pressbox.core.app import Resources
from pressbox.core.config import HttpSettings, ObjectsSettings, Settings, TemporalSettings
from pressbox.core.db.database import Database
from pressbox.core.db.migrate import upgrade
from pressbox.core.environment import child_environment
from pressbox.core.errors import PermanentError
from pressbox.core.http.client import GuardedClient
from pressbox.core.objects.factory import open_store
from pressbox.core.processes.parents import end_with_parent
from pressbox.core.temporal.client import connect
from pressbox.demo.instance import OWN_PARTS, Instance, running_instance, stop
from pressbox.embedded.home import Home
from pressbox.embedded.ports import free_port
from pressbox.embedded.postgres import EmbeddedPostgres

OPEN_FILES = 8192
WORKER_SECONDS = 60.0
# One client of a benchmark stands for many people.
QUOTAS = {
    "streams": 100_000,
    "requests": 100_000_000,
    "feeds": 1_000_000,
    "feeds_added": 1_000_000,
    "questions": 1_000_000,
}
NO_LIMITS = {
    "PRESSBOX_QUOTAS": ",".join(f"{key}={most}" for key, most in QUOTAS.items()),
    "PRESSBOX_WEB_STREAMS_PER_ADDRESS": "100000",
    "PRESSBOX_WEB_STREAMS_IN_ALL": "100000",
    "PRESSBOX_WEB_CONNECTIONS_PER_ADDRESS": "100000",
    "PRESSBOX_WEB_CONNECTIONS_IN_ALL": "100000",
}


@contextmanager
def temporary_home() -> Iterator[Home]:
    """A home that is removed afterwards. PostgreSQL of root runs as another user and must be able to reach it."""
    folder = Path(tempfile.mkdtemp(prefix="pressbox-bench-"))
    folder.chmod(0o711)
    try:
        yield Home(folder / "home")
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def temporary_database(home: Home, *, migrated: bool = True) -> Iterator[str]:
    """Run PostgreSQL on this home; yields its URL."""
    postgres = EmbeddedPostgres(home)
    # Started in this thread, because it ends with the thread that started it.
    postgres.start()
    try:
        if migrated:
            upgrade(postgres.url)
        yield postgres.url
    finally:
        postgres.stop()


@contextmanager
def measured_instance(home: Home, **environment: str) -> Iterator[Instance]:
    """Start an instance on this home with further settings and stop it at the end; its messages go to a file."""
    log = home.path.parent / "up.log"
    chosen = {"PRESSBOX_OPEN": "1", "PRESSBOX_WEB_PORT": str(free_port()), **NO_LIMITS, **environment}
    with running_instance(home.path, log=log, **chosen) as instance:
        yield instance


@contextmanager
def further_workers(instance: Instance, count: int, *queues: str, **environment: str) -> Iterator[None]:
    """Let so many more workers of these queues share the work of an instance, as on further machines."""
    named = [argument for queue in queues for argument in ("--queue", queue)]
    log = instance.home.path.parent / "workers.log"
    with ExitStack() as exits, log.open("a") as messages:
        for _ in range(count):
            own = {"PRESSBOX_HOME": str(instance.home.path), "HEALTH_PORT": str(free_port()), **environment}
            process = subprocess.Popen(
                [sys.executable, "-m", "pressbox", "worker", *named],
                env=child_environment(**{**OWN_PARTS, **own}),
                stdin=subprocess.DEVNULL,
                stdout=messages,
                stderr=messages,
                text=True,
                start_new_session=True,
                preexec_fn=end_with_parent(signal.SIGTERM),
            )
            exits.callback(stop, process)
            _await_polling(own["HEALTH_PORT"], process)
        yield


def _await_polling(port: str, worker: subprocess.Popen[str]) -> None:
    """Wait until a worker says that it is ready."""
    deadline = time.monotonic() + WORKER_SECONDS
    while time.monotonic() < deadline and worker.poll() is None:
        with suppress(httpx.TransportError):
            if httpx.get(f"http://127.0.0.1:{port}/ready", trust_env=False).is_success:
                return
        time.sleep(0.2)
    raise PermanentError("A further worker did not become ready; its log is beside the temporary home.")


def instance_settings(home: Home) -> Settings:
    """The settings of a running instance, with the key that it made for itself."""
    return Settings(home=home.path, secret_key=SecretStr(home.secret_key()))


@asynccontextmanager
async def instance_resources(instance: Instance) -> AsyncIterator[Resources]:
    """The resources of a running instance, as its own processes have them."""
    database = Database(instance.endpoints.database_url)
    temporal = await connect(TemporalSettings(), instance.endpoints.temporal_address, lazy=False)
    settings = instance_settings(instance.home)
    try:
        async with GuardedClient(HttpSettings()) as http:
            yield Resources(settings, database, temporal, open_store(ObjectsSettings(), instance.home.objects), http)
    finally:
        await database.close()


def allow_many_connections() -> None:
    """Raise the limit of open files, which the web process inherits: every client needs one."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = OPEN_FILES if hard == resource.RLIM_INFINITY else min(OPEN_FILES, hard)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
