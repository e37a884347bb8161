"""The two stores that must behave alike."""

import secrets
from collections.abc import Iterator
from pathlib import Path

import pytest

from pressbox.core.config import ObjectsSettings
from pressbox.core.objects.factory import open_store
from pressbox.core.objects.store import ObjectStore
from tests.integration.objects.seaweed import S3Server, running_s3_server


@pytest.fixture(scope="session")
def s3_server() -> Iterator[S3Server]:
    with running_s3_server() as server:
        yield server


@pytest.fixture
def local_folder(tmp_path: Path) -> Path:
    return tmp_path / "objects"


@pytest.fixture(params=["local", "s3"])
def store(request: pytest.FixtureRequest, local_folder: Path) -> ObjectStore:
    """An empty store of each kind."""
    if request.param == "local":
        return open_store(ObjectsSettings(), local_folder)
    server: S3Server = request.getfixturevalue("s3_server")
    return open_store(server.settings(prefix=f"test-{secrets.token_hex(6)}"), local_folder)
