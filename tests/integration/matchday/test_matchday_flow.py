"""Follow a team, and its match moves: event, reminder, calendar and message, with workers of both on real parts."""

import secrets
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import partial

import pytest
from pydantic import SecretStr
from sqlalchemy import select, text
from temporalio.client import Client
from temporalio.worker import Worker

from pressbox.core.accounts.service import AccountService
from pressbox.core.app import Resources
from pressbox.core.notices.follows import PersonalFollows
from pressbox.core.temporal.calls import activity_methods
from pressbox.core.temporal.errors import ErrorInterceptor
from pressbox.delivery.domain.attempts import AttemptResult
from pressbox.delivery.ports import Attempt, OutgoingMessage, SendNow
from pressbox.footy.domain.fixtures import FixtureStatus
from pressbox.inbox.store import InboxStore
from pressbox.matchday import contracts
from pressbox.matchday.activities import MatchdayActivities
from pressbox.matchday.watch import build_store, start_when_due
from pressbox.matchday.workflow import MatchdayWorkflow
from pressbox.soonish.adapters.rows import ReminderScheduleRow
from pressbox.soonish.ids import QUEUE
from pressbox.soonish.manifest import APP
from pressbox.soonish.settings import SoonishSettings
from pressbox.soonish.web.calendar import build_calendar
from pressbox.soonish.wiring import reminder_schedules, service
from pressbox.soonish.worker import activities_on
from tests.integration.footy.footy_world import World, match
from tests.site import PASSWORD, cheap_passwords
from tests.waiting import look_until

KICKOFF = (datetime.now(UTC) + timedelta(days=3)).replace(microsecond=0)
WAITING = match(kickoff=KICKOFF, status=FixtureStatus.NOT_STARTED, elapsed=None)


class Nowhere:
    """Takes everything."""

    @asynccontextmanager
    async def turn(self, channel_key: str) -> AsyncIterator[SendNow]:
        yield partial(self.send, channel_key)

    async def send(self, _: str, __: OutgoingMessage) -> Attempt:
        return Attempt(AttemptResult.ACCEPTED)


@pytest.fixture
async def instance(resources: Resources, temporal: Client) -> AsyncIterator[Resources]:
    """Workers of matchday and of events."""
    settings = resources.settings.model_copy(update={"secret_key": SecretStr("for tests")})
    connected = replace(resources, settings=settings.with_group(SoonishSettings(merge_window_seconds=0.5)))
    # Workflow ids hold the event's, and other tests with databases of their own use the same server.
    async with connected.database.unit_of_work() as work:
        await work.session.execute(text(f"ALTER SEQUENCE soonish.events_id_seq RESTART {secrets.randbelow(10**12)}"))
    own = activity_methods(MatchdayActivities(build_store(connected)))
    events = activities_on(connected, Nowhere(), reminder_schedules(connected))
    async with AsyncExitStack() as workers:
        for queue, workflows, activities in (
            (QUEUE, APP.workflows()[QUEUE], events),
            (contracts.QUEUE, [MatchdayWorkflow], own),
        ):
            worker = Worker(
                temporal,
                task_queue=queue,
                workflows=workflows,
                activities=activities,
                interceptors=[ErrorInterceptor()],
            )
            await workers.enter_async_context(worker)
        yield connected


async def catch_up(instance: Resources) -> None:
    store = build_store(instance)
    while await start_when_due(instance, store):
        await instance.temporal.get_workflow_handle(contracts.CHANGED_ID).result()


async def test_a_moved_fixture_moves_event_reminder_calendar_and_tells_who_follows(instance: Resources) -> None:
    database = instance.database
    accounts = AccountService(database, instance.settings, passwords=cheap_passwords())
    ada, ben = [(await accounts.add_user(f"{name}@example.org", PASSWORD)).id for name in ("ada", "ben")]
    follows, footy, soonish = PersonalFollows(database), World(database), service(instance)
    await catch_up(instance)
    await footy.ingest(WAITING)
    for person in (ada, ben):
        await follows.follow(person, "footy.team.40", "Liverpool", "/footy/teams/40", "Europe/Berlin")
    await follows.choose(ben, "footy.team.40", kinds=None, reminders=[3600])
    await catch_up(instance)

    async def planned() -> dict[int, datetime]:
        async with database.unit_of_work() as work:
            rows = await work.session.scalars(select(ReminderScheduleRow))
            return {row.offset_seconds: row.start_date for row in rows}

    await look_until(planned, lambda found: found == {900: KICKOFF, 3600: KICKOFF})
    later = KICKOFF + timedelta(days=1, hours=3)
    await footy.polls.record_staging([replace(WAITING, kickoff=later)], {}, footy.now)
    await catch_up(instance)
    await look_until(planned, lambda found: found == {900: later, 3600: later})

    async def titles() -> list[list[str]]:
        return [[line.title for line in (await InboxStore(database).load(person)).lines] for person in (ada, ben)]

    await look_until(titles, lambda found: found == [["Event update: Liverpool – Arsenal"]] * 2)
    calendar = build_calendar("Ada", await soonish.events.list_for_calendar(ada), "https://example.org").decode()
    assert f"DTSTART:{later:%Y%m%dT%H%M%SZ}" in calendar
    assert "SEQUENCE:2" in calendar
    await follows.unfollow(ada, "footy.team.40")
    await catch_up(instance)
    await look_until(planned, lambda found: found == {3600: later})
    assert "VEVENT" not in build_calendar("Ada", await soonish.events.list_for_calendar(ada), "https://e.org").decode()
