"""What the curator paid for before there was one ledger is kept: every row, every answer."""

import json

from alembic import command
from alembic.config import Config
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, text

from pressbox.core.db.database import Database
from pressbox.core.db.migrate import upgrade
from pressbox.core.db.versions import MIGRATIONS
from pressbox.core.spending.domain import PaidCall
from pressbox.core.spending.ledger import SqlLedger
from pressbox.curator.distil.model import Material, Summary
from pressbox.curator.library.domain import ToDistil

OLD = """
    INSERT INTO curator.model_calls
        (content_hash, prompt_version, model, feature, entry_id, feed_id, answer, usable,
         tokens_in, tokens_out, cost, at)
    VALUES
        ('h', '1-same', 'm', 'distil', 7, 3, :summary, true, 100, 20, 0.5, now()),
        ('h', '1', 'm', 'answer', NULL, NULL, 'nonsense', false, 10, 2, 0.1, now()),
        ('i', '1', 'm', 'answer', NULL, NULL, '', false, 10, 0, 0.1, now())
"""
RESERVED = """
    INSERT INTO curator.model_reservations
        (content_hash, prompt_version, model, feature, tokens_in, tokens_out, cost, at, until)
    VALUES ('j', '1', 'm', 'answer', 60, 40, 0.5, now(), now())
"""
STORED = {"summary": "The bridge was opened.", "start": 0, "end": 1, "language": "en"}
NEW = "SELECT feature, item_id, source_id, outcome, weight FROM core.paid_requests ORDER BY id"


async def test_old_calls_and_reservations_become_lines_of_the_ledger(database: Database, database_url: str) -> None:
    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS))
    (spending,) = [one for one in ScriptDirectory.from_config(config).walk_revisions() if "spending" in one.path]

    def go_back(connection: Connection) -> None:
        config.attributes["connection"] = connection
        command.downgrade(config, str(spending.down_revision))

    async with database.engine.connect() as connection:
        await connection.run_sync(go_back)
        await connection.execute(text(OLD), {"summary": json.dumps(STORED)})
        await connection.execute(text(RESERVED))
        await connection.execute(text("INSERT INTO curator.claims (key, owner, until) VALUES ('k', 'o', now())"))
        await connection.commit()
    upgrade(database_url)
    async with database.engine.connect() as connection:
        rows = [tuple(row) for row in await connection.execute(text(NEW))]
        claims = await connection.scalar(text("SELECT count(*) FROM core.claims"))
    assert rows == [
        ("distil", 7, 3, "answered", 120),
        ("answer", None, None, "unusable", 12),
        ("answer", None, None, "lost", 10),
        ("answer", None, None, "running", 100),
    ]
    assert claims == 1
    answer = await SqlLedger(database).find_answer(PaidCall("h", "1-same", "m", "distil"))
    entry = ToDistil(7, "Title", "The bridge was opened.\nOn Monday.", "en", "h")
    assert answer is not None
    assert Material(entry, "mark").read_summary(answer) == Summary(0, 1, "The bridge was opened.")
