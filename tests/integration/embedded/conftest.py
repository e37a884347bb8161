"""Homes that another uid can reach, which pytest's own temporary folders cannot be."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from pressbox.embedded.home import Home
from tests.folders import reachable_folder


@pytest.fixture
def folder() -> Iterator[Path]:
    with reachable_folder() as path:
        yield path


@pytest.fixture
def home(folder: Path) -> Home:
    home = Home(folder / "home")
    home.create()
    return home
