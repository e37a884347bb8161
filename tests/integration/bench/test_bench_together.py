"""What `pressbox bench together` fills is found by indexes: nothing reads a large table from end to end."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from sqlalchemy import event, text

from pressbox.bench.reader_library import fill
from pressbox.bench.together_library import fill_together, list_typed
from pressbox.core.accounts.models import Role
from pressbox.core.accounts.people import insert_user
from pressbox.core.app import Resources
from pressbox.core.audiences.members import Viewer
from pressbox.core.db.database import Database
from pressbox.core.today.front_page import load_front_page
from pressbox.core.today.searching import search_everything
from pressbox.entry.manifests import APPLICATIONS

ENTRIES, MATCHES, EVENTS = 20_000, 10_000, 10_000
LARGE = {"entries", "fixtures", "events", "goals"}


@contextmanager
def remembering(database: Database) -> Iterator[list[tuple[str, Any]]]:
    """The statements that are sent, with their values."""
    sent: list[tuple[str, Any]] = []
    engine = database.engine.sync_engine

    def note(*values: Any) -> None:
        sent.append((values[2], values[3]))

    event.listen(engine, "before_cursor_execute", note)
    try:
        yield sent
    finally:
        event.remove(engine, "before_cursor_execute", note)


def scanned(plan: dict[str, Any]) -> Iterator[str]:
    if plan["Node Type"] == "Seq Scan":
        yield plan["Relation Name"]
    for below in plan.get("Plans", ()):
        yield from scanned(below)


async def explain(database: Database, statement: str, values: Any) -> set[str]:
    async with database.engine.connect() as connection:
        answer = await connection.exec_driver_sql(f"EXPLAIN (FORMAT JSON) {statement}", values)
        plan = answer.scalar_one()
    return set(scanned((json.loads(plan) if isinstance(plan, str) else plan)[0]["Plan"]))


async def test_the_first_page_and_the_search_read_no_large_table_from_end_to_end(
    resources: Resources, database: Database
) -> None:
    async with database.unit_of_work() as work:
        user_id = (await insert_user(work.session, "reader@example.org", "", "unusable", Role.MEMBER)).id
    fill(database.driver_url, user_id, ENTRIES, 200)
    fill_together(database.driver_url, user_id, MATCHES, EVENTS)
    viewer = Viewer(user_id)
    typed = list_typed(database.driver_url, 12)
    assert len(typed) == 12
    with remembering(database) as sent:
        page = await load_front_page(resources, viewer, APPLICATIONS)
        found = [await search_everything(resources, viewer, APPLICATIONS, words, 4) for words in typed]
    assert [len(shown.view.lines) > 0 for shown in page.sections] == [True] * 4
    assert {"matches", "goals", "events"} <= {group.key for groups in found for group in groups if group.things}
    assert [shown.problem for shown in page.sections] == [""] * 4
    selects = [(statement, values) for statement, values in sent if statement.lstrip().startswith(("SELECT", "WITH"))]
    assert len(selects) > len(typed)
    for statement, values in selects:
        whole = await explain(database, statement, values) & LARGE
        assert not whole, (whole, statement)
    async with database.unit_of_work() as work:
        assert await work.session.scalar(text("SELECT count(*) FROM soonish.events")) == EVENTS
