"""Real parts for every test: one PostgreSQL and one Temporal per test process, one fresh database per test."""

import gc
import logging
import os
import secrets
import signal
import subprocess
from collections.abc import AsyncIterator, Generator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import hypothesis
import psycopg
import pytest
import structlog
from pydantic import SecretStr
from temporalio.client import Client

from pressbox.core.app import Resources
from pressbox.core.config import HttpSettings, ObjectsSettings, Settings, TemporalSettings
from pressbox.core.db.database import Database
from pressbox.core.db.migrate import upgrade
from pressbox.core.http.client import GuardedClient
from pressbox.core.objects.factory import open_store
from pressbox.core.temporal.client import connect
from pressbox.curator.library.parser_pool import ParserPool
from pressbox.embedded.home import Home
from pressbox.embedded.postgres import EmbeddedPostgres
from pressbox.embedded.temporal_server import EmbeddedTemporal, installed_binary
from pressbox.entry.manifests import APPLICATIONS
from tests import folders
from tests.blocking import forbid_blocking
from tests.databases import TEMPLATE, Databases
from tests.shared_data import describe_shared_data
from tests.statements import share_compiled_statements

# A shell starts its jobs in the background with SIGINT ignored, and every child would inherit that.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# The default draws tracebacks with every local variable: half a minute for a request that fails in a large page.
structlog.configure(
    processors=[
        *structlog.get_config()["processors"][:-1],
        structlog.dev.ConsoleRenderer(colors=False, exception_formatter=structlog.dev.plain_traceback),
    ]
)

# Limits of tests, and how slow the machine is: measured before other processes are started.
pytest_plugins = ["tests.limits"]

share_compiled_statements()

# How long one example takes says how busy the machine is.
# A run of the suite tells about a change and not about luck; `make soak` searches with new examples each time.
hypothesis.settings.register_profile("tests", hypothesis.settings(), deadline=None, derandomize=True)
hypothesis.settings.register_profile("search", hypothesis.settings(), deadline=None, max_examples=1_000)
hypothesis.settings.load_profile("tests")

# As entry points make sure that there is one.
TEST_KEY = SecretStr("the instance key of the tests, long enough")


@dataclass(frozen=True)
class Parts:
    home: Home
    postgres_url: str
    temporal_address: str

    def database_url(self, name: str) -> str:
        return self.postgres_url.rsplit("/", 1)[0] + f"/{name}"


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--fuzz-seconds", type=int, help="How long the fuzz targets run in all, instead of so often.")
    parser.addoption(
        "--soak-share", type=float, default=1.0, help="How much of the large day of `make soak` is played."
    )


def pytest_report_header() -> str:
    return describe_shared_data()


@pytest.fixture(autouse=True)
def kept_umask() -> Iterator[None]:
    """A command that a test runs in this process closes whatever the process creates from then on."""
    before = os.umask(0o022)
    os.umask(before)
    yield
    os.umask(before)


@pytest.fixture(autouse=True, scope="session")
def forgetful_loggers() -> Iterator[None]:
    """A logger that keeps its first configuration would still write where the test wanted it that used it first."""
    configure = structlog.configure
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            structlog, "configure", lambda **config: configure(**config | {"cache_logger_on_first_use": False})
        )
        yield


@pytest.fixture(autouse=True)
def kept_logs() -> Iterator[None]:
    """A command that a test runs in this process sends all lines elsewhere from then on."""
    root = logging.getLogger()
    config, handlers, level = structlog.get_config(), set(root.handlers), root.level
    yield
    structlog.configure(**config)
    root.handlers[:] = [handler for handler in root.handlers if handler in handlers]
    root.setLevel(level)


@pytest.fixture(autouse=True, scope="session")
def free_event_loops() -> Iterator[None]:
    with forbid_blocking():
        yield


@pytest.fixture(scope="session")
def reachable_folder() -> Iterator[Path]:
    """One for all tests of this process."""
    with folders.reachable_folder() as folder:
        yield folder


@pytest.fixture(scope="session")
def parts(reachable_folder: Path) -> Iterator[Parts]:
    home = Home(reachable_folder / "parts")
    home.create()
    postgres, temporal = EmbeddedPostgres(home), EmbeddedTemporal(home)
    postgres.start()
    temporal.start()
    parts = Parts(home, postgres.url, temporal.address)
    # Nothing here outlives the run, so nothing waits for the disk. Tests of durability start servers of their own.
    for setting in ("fsync", "full_page_writes"):
        execute(parts.postgres_url, f"ALTER SYSTEM SET {setting} = off")
    execute(parts.postgres_url, "SELECT pg_reload_conf()")
    execute(parts.postgres_url, f"CREATE DATABASE {TEMPLATE}")
    upgrade(parts.database_url(TEMPLATE))
    yield parts
    temporal.stop()
    postgres.stop()


@pytest.fixture(scope="session")
def databases(parts: Parts) -> Iterator[Databases]:
    databases = Databases(parts.postgres_url)
    yield databases
    databases.close()


@pytest.fixture
def database_url(databases: Databases) -> Iterator[str]:
    name = databases.lend()
    yield databases.url(name)
    databases.take_back(name)


@pytest.fixture
async def database(database_url: str) -> AsyncIterator[Database]:
    database = Database(database_url)
    yield database
    await database.close()


@pytest.fixture(scope="session")
async def temporal(parts: Parts) -> Client:
    return await connect(TemporalSettings(), parts.temporal_address, lazy=False)


@pytest.fixture
def namespace(parts: Parts) -> str:
    """For tests with whole workers: queues, schedules and workflows of other tests live in the default one.

    Workflow ids are made of row ids, which begin at 1 in every database.
    """
    name = f"test-{secrets.token_hex(4)}"
    command = ["operator", "namespace", "create", "--namespace", name, "--retention", "7d"]
    subprocess.run(
        [installed_binary(), *command, "--address", parts.temporal_address],
        check=True,
        capture_output=True,
        env={"PATH": os.defpath, "HOME": str(parts.home.temporal), "TEMPORAL_VERSION_CHECK_DISABLED": "1"},
    )
    return name


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(home=tmp_path, secret_key=TEST_KEY)


@pytest.fixture
async def resources(settings: Settings, database: Database, temporal: Client) -> AsyncIterator[Resources]:
    async with open_test_resources(settings, database, temporal) as resources:
        yield resources


@asynccontextmanager
async def open_test_resources(settings: Settings, database: Database, temporal: Client) -> AsyncIterator[Resources]:
    store = open_store(ObjectsSettings(), settings.home / "objects")
    async with GuardedClient(HttpSettings()) as http:
        resources = Resources(settings, database, temporal, store, http, manifests=APPLICATIONS)
        async with resources.exits:
            yield resources


@pytest.fixture(scope="session")
async def parsers() -> AsyncIterator[ParserPool]:
    """The children that read strangers' texts, shared by all tests that do not harm them."""
    parsers = ParserPool(2)
    yield parsers
    await parsers.close()


def execute(url: str, statement: str) -> None:
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(statement.encode())


@pytest.fixture(autouse=True)
def no_settings_from_outside(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in list(os.environ):
        if name.startswith("PRESSBOX_"):
            monkeypatch.delenv(name)


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Random order, but the long ones first: side by side, nobody waits at the end for a test that began last.

    They stay together, and so with one process at most times: several whole instances would starve each other.
    """
    items.sort(key=lambda item: item.get_closest_marker("slow") is None)


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """All modules and tests are there for good: looking through them again and again for garbage finds none."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.collect()
        gc.freeze()
        gc.enable()
