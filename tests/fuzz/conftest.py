"""How long the fuzz targets run."""

import pytest


@pytest.fixture
def fuzz_seconds(request: pytest.FixtureRequest) -> int | None:
    """In all; None for as many runs as each target says, which take as long as they take."""
    seconds: int | None = request.config.getoption("--fuzz-seconds")
    return seconds
