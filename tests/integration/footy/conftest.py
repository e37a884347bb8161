"""A world of footy on the database of the test."""

import pytest

from pressbox.core.db.database import Database
from tests.integration.footy.footy_world import World


@pytest.fixture
def world(database: Database) -> World:
    return World(database)
