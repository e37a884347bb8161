"""A goal as footy publishes it, for tests of the inbox."""

from datetime import UTC, datetime

from pressbox.core.db.database import Database
from pressbox.core.notices.publish import Notice, publish

TEAM, LEAGUE = "footy.team.40", "footy.league.39"
GOAL = Notice(
    key="footy.goal.1",
    application="footy",
    kind="goal",
    subject="footy.fixture.9",
    heading="Liverpool – Arsenal",
    followed=(TEAM, "footy.team.42", LEAGUE),
    title="Goal for Liverpool by Salah, 23′",
    detail="Liverpool 1–0 Arsenal",
    path="/footy/matches/9",
    occurred_at=datetime(2026, 11, 17, 15, 23, tzinfo=UTC),
)


async def tell(database: Database, *notices: Notice) -> None:
    async with database.unit_of_work() as work:
        await publish(work, notices)
