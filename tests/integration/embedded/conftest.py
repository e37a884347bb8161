"""Homes that another uid can reach, which pytest's own temporary folders cannot be."""

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from pressbox.embedded.home import Home


@pytest.fixture
def folder() -> Iterator[Path]:
    path = Path(tempfile.mkdtemp(prefix="pressbox-test-", dir="/tmp"))
    path.chmod(0o711)
    yield path
    shutil.rmtree(path)


@pytest.fixture
def home(folder: Path) -> Home:
    home = Home(folder / "home")
    home.create()
    return home
