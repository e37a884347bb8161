"""MatchdayWorkflow on a real server and database, with two workers that look at the same changes."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import func, select
from temporalio.client import Client
from temporalio.worker import Worker

from pressbox.core.accounts.service import AccountService
from pressbox.core.app import Resources
from pressbox.core.config import Settings, TemporalSettings
from pressbox.core.db.database import Database
from pressbox.core.notices.follows import PersonalFollows
from pressbox.core.temporal.calls import activity_methods
from pressbox.core.temporal.client import connect
from pressbox.core.temporal.errors import ErrorInterceptor
from pressbox.footy.domain.fixtures import FixtureStatus
from pressbox.matchday.activities import MatchdayActivities
from pressbox.matchday.contracts import CHANGED_ID, QUEUE
from pressbox.matchday.watch import build_store, start_when_due
from pressbox.matchday.workflow import MatchdayWorkflow
from pressbox.soonish.adapters.rows import EventRow, SubscriptionRow
from tests.conftest import Parts
from tests.integration.footy.footy_world import World, match
from tests.site import PASSWORD, cheap_passwords

KICKOFF = (datetime.now(UTC) + timedelta(days=3)).replace(microsecond=0)


@asynccontextmanager
async def polling(client: Client, resources: Resources) -> AsyncIterator[None]:
    async with Worker(
        client,
        task_queue=QUEUE,
        workflows=[MatchdayWorkflow],
        activities=activity_methods(MatchdayActivities(build_store(resources))),
        interceptors=[ErrorInterceptor()],
    ):
        yield


@pytest.fixture
async def people(database: Database, settings: Settings) -> list[int]:
    accounts = AccountService(database, settings, passwords=cheap_passwords())
    return [(await accounts.add_user(f"{name}@example.org", PASSWORD)).id for name in ("ada", "ben")]


async def look(resources: Resources) -> None:
    """Both workers look at the same moment, until nothing is due."""
    stores = [build_store(resources), build_store(resources)]
    while any(await asyncio.gather(*(start_when_due(resources, store) for store in stores))):
        await resources.temporal.get_workflow_handle(CHANGED_ID).result()


async def count(database: Database, table: type[EventRow] | type[SubscriptionRow]) -> int:
    async with database.unit_of_work() as work:
        return await work.session.scalar(select(func.count()).select_from(table)) or 0


async def test_two_workers_and_two_people_make_one_event_that_moves_once(
    parts: Parts, resources: Resources, database: Database, people: list[int]
) -> None:
    footy, follows = World(database), PersonalFollows(database)
    waiting = replace(match(), kickoff=KICKOFF, status=FixtureStatus.NOT_STARTED, elapsed=None)
    async with AsyncExitStack() as workers:
        # Each with a connection of its own, as in two processes.
        for _ in range(2):
            client = await connect(TemporalSettings(), parts.temporal_address, lazy=False)
            await workers.enter_async_context(polling(client, resources))
        await look(resources)
        await footy.ingest(waiting)
        for person in people:
            await follows.follow(person, "footy.team.40", "Liverpool", "/footy")
        await look(resources)
        assert (await count(database, EventRow), await count(database, SubscriptionRow)) == (1, 2)
        later = KICKOFF + timedelta(hours=5)
        await footy.polls.record_staging([replace(waiting, kickoff=later)], {}, footy.now)
        await look(resources)
    async with database.unit_of_work() as work:
        [event] = (await work.session.scalars(select(EventRow))).all()
    assert (event.start_date, event.version) == (later, 2)
