"""How long the fuzz targets run in all."""

import pytest


@pytest.fixture
def fuzz_seconds(request: pytest.FixtureRequest) -> int:
    return int(request.config.getoption("--fuzz-seconds"))
