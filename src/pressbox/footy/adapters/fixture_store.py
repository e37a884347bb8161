"""Fixtures in PostgreSQL, as Ingest and Monitor need them: four sides of one store."""

from pressbox.core.db.database import Database
from pressbox.footy.adapters.comparisons import FixtureDecisions
from pressbox.footy.adapters.fixture_archive import FixtureClosing
from pressbox.footy.adapters.fixture_imports import FixtureIntake
from pressbox.footy.adapters.polls import FixturePolls
from pressbox.footy.domain.fixtures import Followed


class SqlFixtures(FixtureIntake, FixturePolls, FixtureDecisions, FixtureClosing):
    """Each method is one transaction, except `apply`: one fixture that cannot be written keeps no other from it."""

    def __init__(self, database: Database, defaults: Followed) -> None:
        FixtureIntake.__init__(self, database, defaults)
