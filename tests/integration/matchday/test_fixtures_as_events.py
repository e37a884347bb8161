"""Fixtures of followed teams are events: made, moved, called off and left with what people follow."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import text

from pressbox.core.accounts.service import AccountService
from pressbox.core.config import Settings
from pressbox.core.db.database import Database
from pressbox.core.notices.follows import PersonalFollows
from pressbox.core.notices.publish import Notice, publish_to
from pressbox.core.notices.rows import NoticeWayRow
from pressbox.footy.domain.fixtures import FixtureStatus, ObservedFixture, Team
from pressbox.footy.service.coming import ComingFixtures
from pressbox.matchday.store import MatchdayStore
from pressbox.soonish.adapters.inbox_notices import event_subject
from pressbox.soonish.adapters.outbox import SqlOutbox
from pressbox.soonish.adapters.reminders import SqlReminders
from pressbox.soonish.adapters.unwanted import UnwantedDeliveries
from pressbox.soonish.domain.delivery import SkipReason
from pressbox.soonish.domain.events import EventStatus
from pressbox.soonish.domain.reminders import SubscriptionState
from pressbox.soonish.domain.views import EventView, Holder, SubscriptionView, Viewer
from pressbox.soonish.service.inputs import Preferences
from pressbox.soonish.service.kept_events import KeptEvents
from pressbox.soonish.service.relay import WorkflowRelay
from tests.integration.footy.footy_world import World, match
from tests.integration.soonish.conftest import write_delivery
from tests.integration.soonish.service_world import House, Temporal
from tests.site import PASSWORD, cheap_passwords

KICKOFF = (datetime.now(UTC) + timedelta(days=3)).replace(microsecond=0)
LIVERPOOL, ARSENAL = "footy.team.40", "footy.team.42"


def coming(number: int = 1, **stated: object) -> ObservedFixture:
    values = {"kickoff": KICKOFF, "status": FixtureStatus.NOT_STARTED, "elapsed": None, "venue": "Anfield"}
    return match(number, **{**values, **stated})


@dataclass
class Ground:
    """Two people, the fixtures, and what keeps them as events."""

    database: Database
    footy: World
    soonish: House
    temporal: Temporal
    follows: PersonalFollows
    ada: int
    ben: int

    def store(self) -> MatchdayStore:
        """As another worker would have it."""
        relay = WorkflowRelay(SqlOutbox(self.database), SqlReminders(self.database), self.temporal)
        return MatchdayStore(self.database, ComingFixtures(self.database), KeptEvents(self.database, relay))

    async def catch_up(self) -> bool:
        """What one run of the workflow does; returns whether there was anything to do."""
        store = self.store()
        changed = await store.find_changed()
        due = await store.is_due(changed)
        assert await store.keep(await store.find_all(0, 100) if changed.lost else changed.fixture_ids) == 0
        await store.note_read(changed.up_to)
        return due

    async def follow(self, person: int, subject: str = LIVERPOOL) -> None:
        await self.follows.follow(person, subject, "Liverpool", "/footy")

    async def events(self, person: int) -> Sequence[EventView]:
        return await self.soonish.service.events.list_followed(person)

    async def subscription(self, person: int) -> SubscriptionView:
        [found] = await self.soonish.service.subscriptions.list(person)
        return found


@pytest.fixture
async def ground(database: Database, settings: Settings) -> Ground:
    accounts = AccountService(database, settings, passwords=cheap_passwords())
    ada, ben = [(await accounts.add_user(f"{name}@example.org", PASSWORD)).id for name in ("ada", "ben")]
    world = House(database)
    found = Ground(database, World(database), world, world.temporal, PersonalFollows(database), ada, ben)
    await found.catch_up()
    return found


async def test_a_followed_team_brings_its_next_match_with_a_reminder(ground: Ground) -> None:
    await ground.footy.ingest(coming())
    await ground.follow(ground.ada)
    assert await ground.catch_up()
    [event] = await ground.events(ground.ada)
    assert (event.name, event.start_date, event.location) == ("Liverpool – Arsenal", KICKOFF, "Anfield")
    assert (event.organiser, event.organises, event.subject_path) == ("", False, "/footy/matches/1")
    assert (await ground.subscription(ground.ada)).offsets == (timedelta(minutes=15),)
    assert [kind for _, kind in ground.temporal.signals] == ["participant_added"]
    assert await ground.events(ground.ben) == []


async def test_there_is_one_event_however_many_follow_and_keep_it_at_once(ground: Ground) -> None:
    await ground.footy.ingest(coming())
    await ground.follow(ground.ada)
    await ground.follow(ground.ben, ARSENAL)
    await asyncio.gather(*(ground.store().keep([1]) for _ in range(4)))
    [first], [second] = await ground.events(ground.ada), await ground.events(ground.ben)
    assert first.id == second.id
    assert sorted(kind for _, kind in ground.temporal.signals) == ["participant_added"] * 2


async def test_keeping_what_is_in_step_changes_nothing(ground: Ground) -> None:
    await ground.footy.ingest(coming())
    await ground.follow(ground.ada)
    await ground.catch_up()
    [before] = await ground.events(ground.ada)
    ground.temporal.signals.clear()
    for _ in range(2):
        assert await ground.store().keep([1]) == 0
    assert await ground.events(ground.ada) == [before]
    assert ground.temporal.signals == []


async def test_a_moved_fixture_moves_its_event_and_tells_its_workflow(ground: Ground) -> None:
    await ground.footy.ingest(coming())
    await ground.follow(ground.ada)
    await ground.catch_up()
    ground.temporal.signals.clear()
    later = KICKOFF + timedelta(days=1, hours=2)
    await ground.footy.polls.record_staging([coming(kickoff=later)], {}, ground.footy.now)
    assert await ground.catch_up()
    [event] = await ground.events(ground.ada)
    assert (event.start_date, event.version) == (later, 2)
    assert [kind for _, kind in ground.temporal.signals] == ["event_updated"]


async def test_a_change_that_moves_nothing_is_read_once_and_starts_nothing(ground: Ground) -> None:
    await ground.footy.ingest(coming())
    await ground.follow(ground.ada)
    await ground.catch_up()
    await ground.footy.polls.record_staging([coming(home_goals=1)], {}, ground.footy.now)
    assert not await ground.catch_up()


async def test_a_postponed_fixture_is_called_off_and_comes_back_with_its_new_date(ground: Ground) -> None:
    await ground.footy.ingest(coming())
    await ground.follow(ground.ada)
    await ground.catch_up()
    ground.temporal.signals.clear()
    await ground.footy.polls.record_staging([coming(status=FixtureStatus.POSTPONED)], {}, ground.footy.now)
    await ground.catch_up()
    [event] = await ground.events(ground.ada)
    assert event.status is EventStatus.CANCELLED
    again = KICKOFF + timedelta(days=20)
    await ground.footy.polls.record_staging([coming(kickoff=again)], {}, ground.footy.now)
    await ground.catch_up()
    [event] = await ground.events(ground.ada)
    assert (event.status, event.start_date) == (EventStatus.ACTIVE, again)
    assert [kind for _, kind in ground.temporal.signals] == ["cancel_event", "event_updated"]


async def test_leaving_the_follow_leaves_the_event_and_following_again_joins_it(ground: Ground) -> None:
    await ground.footy.ingest(coming())
    await ground.follow(ground.ada)
    await ground.follow(ground.ben)
    await ground.catch_up()
    await ground.follows.unfollow(ground.ada, LIVERPOOL)
    await ground.catch_up()
    assert await ground.events(ground.ada) == []
    [event] = await ground.events(ground.ben)
    assert event.status is EventStatus.ACTIVE
    await ground.follow(ground.ada)
    await ground.catch_up()
    assert [one.id for one in await ground.events(ground.ada)] == [event.id]


async def test_the_reminders_of_a_follow_are_those_of_its_events_unless_one_was_chosen(ground: Ground) -> None:
    await ground.footy.ingest(coming())
    for person in (ground.ada, ground.ben):
        await ground.follow(person)
    await ground.catch_up()
    own = await ground.subscription(ground.ben)
    chosen = Preferences(offsets=(timedelta(hours=3),))
    await ground.soonish.service.subscriptions.change(Holder(own.id, ground.ben), chosen)
    for person in (ground.ada, ground.ben):
        await ground.follows.choose(person, LIVERPOOL, kinds=None, reminders=[3600, 300])
    await ground.catch_up()
    assert (await ground.subscription(ground.ada)).offsets == (timedelta(hours=1), timedelta(minutes=5))
    assert (await ground.subscription(ground.ben)).offsets == (timedelta(hours=3),)


async def test_an_event_that_somebody_left_or_muted_stays_so(ground: Ground) -> None:
    await ground.footy.ingest(coming())
    for person in (ground.ada, ground.ben):
        await ground.follow(person)
    await ground.catch_up()
    for person, act in ((ground.ada, "leave"), (ground.ben, "mute")):
        held = Holder((await ground.subscription(person)).id, person)
        await getattr(ground.soonish.service.subscriptions, act)(held)
    await ground.follows.choose(ground.ada, LIVERPOOL, kinds=None, reminders=[300])
    await ground.catch_up()
    assert await ground.events(ground.ada) == []
    assert (await ground.subscription(ground.ben)).state is SubscriptionState.MUTED


async def test_what_somebody_subscribed_to_themselves_stays_when_they_no_longer_follow(ground: Ground) -> None:
    await ground.footy.ingest(coming())
    await ground.follow(ground.ada)
    await ground.catch_up()
    [event] = await ground.events(ground.ada)
    await ground.soonish.service.subscriptions.subscribe(Viewer(ground.ada), event.slug, Preferences())
    await ground.follows.unfollow(ground.ada, LIVERPOOL)
    await ground.catch_up()
    assert [one.id for one in await ground.events(ground.ada)] == [event.id]


async def test_a_muted_follow_is_a_muted_event(ground: Ground) -> None:
    await ground.footy.ingest(coming())
    await ground.follow(ground.ada)
    await ground.follows.mute(ground.ada, LIVERPOOL, muted=True)
    await ground.catch_up()
    assert (await ground.subscription(ground.ada)).state is SubscriptionState.MUTED


async def test_who_mutes_the_team_hears_nothing_of_its_event_from_that_moment_on(ground: Ground) -> None:
    await ground.footy.ingest(coming())
    for person in (ground.ada, ground.ben):
        await ground.follow(person)
    await ground.catch_up()
    own = {person: (await ground.subscription(person)).id for person in (ground.ada, ground.ben)}
    # Ben chose for the event itself.
    await ground.soonish.service.subscriptions.mute(Holder(own[ground.ben], ground.ben))
    await ground.soonish.service.subscriptions.unmute(Holder(own[ground.ben], ground.ben))
    for person in (ground.ada, ground.ben):
        await ground.follows.mute(person, LIVERPOOL, muted=True)
    # No worker has seen it yet: it is the last look before a message leaves.
    [event] = await ground.events(ground.ada)
    sends = {person: await write_delivery(ground.database, event.id, number) for person, number in own.items()}
    unwanted = await UnwantedDeliveries(ground.database).find(list(sends.values()))
    assert unwanted == {sends[ground.ada]: SkipReason.MUTED}
    await ground.follows.mute(ground.ada, LIVERPOOL, muted=False)
    assert await UnwantedDeliveries(ground.database).find(list(sends.values())) == {}


async def list_sends(ground: Ground) -> Sequence[tuple[int, str, str]]:
    """What goes to browsers: who, how far, and why not."""
    async with ground.database.unit_of_work() as work:
        sends = await work.session.execute(
            text("SELECT user_id, state, reason FROM core.notice_sends ORDER BY user_id")
        )
        return [tuple(row) for row in sends.tuples()]


@pytest.mark.parametrize(("act", "reason"), [("mute", "muted"), ("leave", "unfollowed")])
async def test_a_push_that_waits_is_dropped_when_the_team_is_muted_or_left(
    ground: Ground, act: str, reason: str
) -> None:
    await ground.footy.ingest(coming())
    for person in (ground.ada, ground.ben):
        await ground.follow(person)
    await ground.catch_up()
    [event] = await ground.events(ground.ada)
    subject = event_subject(event.id)
    told = Notice(
        key="soonish.message.1",
        application="soonish",
        kind="updated",
        subject=subject,
        heading=event.name,
        followed=(),
        title="It begins later.",
        path=f"/soonish/{event.slug}",
        occurred_at=datetime.now(UTC),
    )
    async with ground.database.unit_of_work() as work:
        work.session.add_all(
            NoticeWayRow(user_id=person, channel_key=f"account:{person}") for person in (ground.ada, ground.ben)
        )
        await work.session.flush()
        await publish_to(work, told, [ground.ada, ground.ben])
    if act == "mute":
        await ground.follows.mute(ground.ada, LIVERPOOL, muted=True)
    else:
        await ground.follows.unfollow(ground.ada, LIVERPOOL)
    await ground.catch_up()
    assert await list_sends(ground) == [(ground.ada, "skipped", reason), (ground.ben, "pending", "")]


async def test_a_match_that_is_on_or_over_has_no_new_event_and_moves_none(ground: Ground) -> None:
    await ground.footy.ingest(coming(1), coming(2, home=Team(50, "Man City"), away=Team(51, "Brighton")))
    await ground.follow(ground.ada)
    await ground.catch_up()
    live = coming(kickoff=KICKOFF + timedelta(minutes=4), status=FixtureStatus.FIRST_HALF)
    await ground.footy.polls.record_staging([live], {}, ground.footy.now)
    await ground.footy.polls.record_staging(
        [replace(coming(2), status=FixtureStatus.FULL_TIME, home=Team(50, "Man City"))], {}, ground.footy.now
    )
    await ground.follow(ground.ben, "footy.team.50")
    await ground.catch_up()
    [event] = await ground.events(ground.ada)
    assert event.start_date == KICKOFF
    assert await ground.events(ground.ben) == []


async def test_nobody_organises_it_and_no_quota_counts_it(ground: Ground) -> None:
    await ground.footy.ingest(coming())
    await ground.follow(ground.ada)
    await ground.catch_up()
    [event] = await ground.events(ground.ada)
    service = ground.soonish.service.events
    assert await service.list_organised(ground.ada) == []
    # Whoever has the address sees it, and nobody without an account is its organiser.
    assert not (await service.get(Viewer(None), event.slug)).organises
    assert await service.list_public() == []
    with pytest.raises(Exception, match="Only the organiser"):
        await service.cancel(ground.ada, event.slug)
    with pytest.raises(Exception, match="no organiser"):
        await service.find_organiser(event.slug)


async def test_what_nobody_follows_any_more_is_hidden(ground: Ground) -> None:
    await ground.footy.ingest(coming())
    await ground.follow(ground.ada)
    await ground.catch_up()
    [event] = await ground.events(ground.ada)
    await ground.follows.unfollow(ground.ada, LIVERPOOL)
    await ground.catch_up()
    assert await ground.soonish.service.events.list_all() == []
    await ground.follow(ground.ben)
    await ground.catch_up()
    assert [one.id for one in await ground.events(ground.ben)] == [event.id]


async def test_the_sweep_finds_what_no_change_told_of(ground: Ground) -> None:
    await ground.footy.ingest(coming())
    await ground.follow(ground.ada)
    store = ground.store()
    # As if the worker died after it had read of the change.
    await store.note_read((await store.find_changed()).up_to)
    assert not await ground.catch_up()
    assert await store.find_all(0, 10) == [1]
    await store.keep([1])
    assert len(await ground.events(ground.ada)) == 1
