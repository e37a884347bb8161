from collections.abc import AsyncIterator

import pytest

from pressbox.core.config import HttpSettings
from pressbox.core.http.client import GuardedClient
from tests.integration.http.loopback import LoopbackServer, running
from tests.patience import patience


@pytest.fixture
async def server() -> AsyncIterator[LoopbackServer]:
    async with running() as server:
        yield server


@pytest.fixture
async def client(server: LoopbackServer) -> AsyncIterator[GuardedClient]:
    """May go to `server` and nowhere else on this machine."""
    settings = HttpSettings(allow=(f"127.0.0.1:{server.port}",), max_bytes=1_000_000, timeout_seconds=patience(10))
    async with GuardedClient(settings) as client:
        yield client
