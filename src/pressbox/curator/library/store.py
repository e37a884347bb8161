"""What the stores of entries share."""

from pressbox.core.db.database import Database


class SqlStore:
    def __init__(self, database: Database) -> None:
        self._database = database
