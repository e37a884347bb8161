"""Digests over clock changes, kills and a day without power: nothing twice, and nothing missed."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, time, timedelta
from zoneinfo import ZoneInfo

import pytest
from sqlalchemy import select, update

from pressbox.core.accounts.rows import UserRow
from pressbox.core.accounts.service import AccountService
from pressbox.core.app import AppManifest, Resources
from pressbox.core.audiences.members import Viewer
from pressbox.core.config import Settings
from pressbox.core.db.database import Database
from pressbox.core.digests import DigestLine, DigestSection, DigestSpan
from pressbox.core.errors import ConflictError, TransientError
from pressbox.core.notices.rows import InboxRow, NoticeRow
from pressbox.digest.contracts import DigestPage
from pressbox.digest.domain import Choice, Rhythm
from pressbox.digest.personal_data import erase, export
from pressbox.digest.rows import DigestIssueRow, DigestRow
from pressbox.digest.service import DigestDesk
from pressbox.digest.store import DigestStore
from pressbox.inbox.store import InboxStore
from pressbox.maintenance.contracts import Kind
from pressbox.maintenance.store import MaintenanceStore
from tests.site import PASSWORD, cheap_passwords

BERLIN, NEW_YORK, LORD_HOWE = "Europe/Berlin", "America/New_York", "Australia/Lord_Howe"
MINUTE, HOUR, DAY = timedelta(minutes=1), timedelta(hours=1), timedelta(days=1)


@dataclass
class World:
    """Something happens every hour; an application tells of it. The clock stands still until somebody moves it."""

    now: datetime = datetime(2026, 10, 23, 12, 0, tzinfo=UTC)
    quiet: bool = False
    failing: bool = False
    spans: list[DigestSpan] = field(default_factory=list)

    def clock(self) -> datetime:
        return self.now

    async def tell(self, _: Resources, __: Viewer, span: DigestSpan) -> DigestSection | None:
        if self.failing:
            raise TransientError("The other side is away.")
        self.spans.append(span)
        hours = [] if self.quiet else _hours(span.since, span.until)
        lines = [DigestLine(one.isoformat(), "/somewhere") for one in hours]
        return DigestSection("Hours", f"{len(lines)} hours passed.", lines) if lines else None


def _hours(since: datetime, until: datetime) -> Sequence[datetime]:
    hour = since.replace(minute=0, second=0, microsecond=0)
    return [hour + number * HOUR for number in range(1000) if since < hour + number * HOUR <= until]


@pytest.fixture
def world() -> World:
    return World()


@pytest.fixture
def instance(resources: Resources, world: World) -> Resources:
    told = AppManifest(name="hours", title="Hours", summary="Tells the hours.", digest=world.tell)
    return replace(resources, manifests=(told,))


@pytest.fixture
def store(database: Database) -> DigestStore:
    return DigestStore(database)


@pytest.fixture
def desk(instance: Resources, world: World) -> DigestDesk:
    return DigestDesk(instance, world.clock)


@pytest.fixture
async def people(database: Database, settings: Settings) -> Sequence[int]:
    accounts = AccountService(database, settings, passwords=cheap_passwords())
    return [(await accounts.add_user(f"{name}@example.org", PASSWORD)).id for name in ("ada", "ben", "eve")]


def daily(zone: str) -> Choice:
    return Choice(Rhythm.DAILY, time(7, 30), zone)


async def read(database: Database, user_id: int) -> Sequence[DigestIssueRow]:
    """What somebody was sent, oldest first."""
    statement = select(DigestIssueRow).where(DigestIssueRow.user_id == user_id).order_by(DigestIssueRow.period)
    async with database.unit_of_work() as work:
        return list(await work.session.scalars(statement))


def hours_of(issues: Sequence[DigestIssueRow]) -> list[str]:
    return [line["title"] for issue in issues for section in issue.sections for line in section["lines"]]


async def test_half_past_seven_in_three_zones_over_a_clock_change(
    database: Database, store: DigestStore, desk: DigestDesk, world: World, people: Sequence[int]
) -> None:
    """Berlin goes back on 25 October, New York on 1 November, Lord Howe went forward by half an hour on 4 October."""
    world.now = datetime(2026, 10, 2, 12, 0, tzinfo=UTC)
    zones = dict(zip(people, (BERLIN, NEW_YORK, LORD_HOWE), strict=True))
    for user_id, zone in zones.items():
        await store.save(user_id, daily(zone), world.now)
    for _ in range(32 * 24 * 2):
        world.now += HOUR / 2
        if await store.has_due(world.now):
            await desk.send_page("worker", 20)
    for user_id, zone in zones.items():
        issues = await read(database, user_id)
        local = [issue.period.astimezone(ZoneInfo(zone)) for issue in issues]
        assert {one.strftime("%H:%M") for one in local} == {"07:30"}
        first = local[0].date()
        assert [one.date() for one in local] == [first + DAY * number for number in range(len(local))]
        assert len(local) in (31, 32)
        hours = hours_of(issues)
        assert len(hours) == len(set(hours)), "told twice"
        assert hours == [one.isoformat() for one in _hours(issues[0].since, issues[-1].until)], "missed"
        assert all(issue.sent_at - issue.period < HOUR for issue in issues)
        assert len((await InboxStore(database).load(user_id, limit=200)).lines) == len(issues)


async def test_after_a_day_without_power_the_missed_one_comes_once_and_covers_all(
    database: Database, store: DigestStore, desk: DigestDesk, world: World, people: Sequence[int]
) -> None:
    ada = people[0]
    await store.save(ada, daily(BERLIN), world.now)
    world.now = datetime(2026, 10, 24, 5, 31, tzinfo=UTC)
    assert (await desk.send_page("a", 20)).sent == 1
    # The power goes, over the clock change, and comes back on the evening of the 26th.
    world.now = datetime(2026, 10, 26, 20, 0, tzinfo=UTC)
    assert (await desk.send_page("b", 20)).sent == 1
    assert (await desk.send_page("b", 20)).claimed == 0
    world.now = datetime(2026, 10, 27, 6, 31, tzinfo=UTC)
    assert (await desk.send_page("c", 20)).sent == 1
    issues = await read(database, ada)
    assert [issue.period for issue in issues] == [
        datetime(2026, 10, 24, 5, 30, tzinfo=UTC),
        datetime(2026, 10, 26, 6, 30, tzinfo=UTC),
        datetime(2026, 10, 27, 6, 30, tzinfo=UTC),
    ]
    assert hours_of(issues) == [one.isoformat() for one in _hours(issues[0].since, issues[-1].until)]


async def test_a_weekly_one_that_is_too_late_leaves_its_news_to_the_next(
    database: Database, store: DigestStore, desk: DigestDesk, world: World, people: Sequence[int]
) -> None:
    ada = people[0]
    await store.save(ada, Choice(Rhythm.WEEKLY, time(7, 30), BERLIN, 0), world.now)
    world.now = datetime(2026, 10, 31, 12, 0, tzinfo=UTC)
    assert await desk.send_page("a", 20) == DigestPage(claimed=1, late=1)
    world.now = datetime(2026, 11, 2, 6, 31, tzinfo=UTC)
    assert (await desk.send_page("b", 20)).sent == 1
    [issue] = await read(database, ada)
    assert issue.since < datetime(2026, 10, 20, tzinfo=UTC)


async def test_with_nothing_to_say_nothing_is_sent_and_the_next_begins_there(
    database: Database, store: DigestStore, desk: DigestDesk, world: World, people: Sequence[int]
) -> None:
    ada = people[0]
    await store.save(ada, daily(BERLIN), world.now)
    world.now, world.quiet = datetime(2026, 10, 24, 5, 31, tzinfo=UTC), True
    assert await desk.send_page("a", 20) == DigestPage(claimed=1, empty=1)
    assert not (await InboxStore(database).load(ada)).lines
    world.now, world.quiet = world.now + 25 * HOUR, False
    assert (await desk.send_page("b", 20)).sent == 1
    assert (await read(database, ada))[0].since == datetime(2026, 10, 24, 5, 30, tzinfo=UTC)


async def test_two_workers_side_by_side_send_each_digest_once(
    database: Database, instance: Resources, store: DigestStore, world: World, people: Sequence[int]
) -> None:
    for user_id in people:
        await store.save(user_id, daily(BERLIN), world.now)
    world.now += DAY
    pages = await asyncio.gather(*(DigestDesk(instance, world.clock).send_page(f"worker {n}", 2) for n in range(4)))
    assert sum(page.sent for page in pages) == len(people)
    for user_id in people:
        assert len(await read(database, user_id)) == 1
        assert len((await InboxStore(database).load(user_id)).lines) == 1


class KilledError(BaseException):
    """Ends an attempt where a kill would: nothing after it runs."""


class DyingStore(DigestStore):
    """Dies before or after the transaction that sends."""

    def __init__(self, database: Database, *, after: bool) -> None:
        super().__init__(database)
        self._after = after

    async def send(self, *args: object, **kwargs: object) -> bool:
        if self._after:
            await super().send(*args, **kwargs)  # type: ignore[arg-type]
        raise KilledError


@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
async def test_killed_around_the_moment_of_sending_it_exists_once(
    database: Database, instance: Resources, store: DigestStore, world: World, people: Sequence[int], after: bool
) -> None:
    ada = people[0]
    await store.save(ada, daily(BERLIN), world.now)
    world.now += DAY
    dying = DigestDesk(instance, world.clock, DyingStore(database, after=after))
    with pytest.raises(KilledError):
        await dying.send_page("run/1", 20)
    # Another run has to wait for the lease to end; the next attempt of the same activity does not.
    assert (await DigestDesk(instance, world.clock).send_page("other/1", 20)).claimed == 0
    world.now += 5 * MINUTE
    page = await DigestDesk(instance, world.clock).send_page("run/1", 20)
    assert page.sent == (0 if after else 1)
    assert len(await read(database, ada)) == 1
    assert len((await InboxStore(database).load(ada)).lines) == 1
    assert len({(span.since, span.until) for span in world.spans}) == 1, "another attempt writes about the same time"


async def test_a_frozen_attempt_that_wakes_up_late_sends_nothing_more(
    database: Database, instance: Resources, store: DigestStore, world: World, people: Sequence[int]
) -> None:
    ada = people[0]
    await store.save(ada, daily(BERLIN), world.now)
    world.now += DAY
    desk = DigestDesk(instance, world.clock)
    [frozen] = await store.claim_due("run/1", world.now, 20)
    assert (await desk.send_page("run/1", 20)).sent == 1
    assert not await store.move_on(frozen, world.now + DAY, frozen.until)
    settings = await store.load(ada)
    assert settings is not None
    assert settings.due_at == datetime(2026, 10, 25, 6, 30, tzinfo=UTC)


async def test_a_lease_of_a_dead_worker_ends(
    database: Database, store: DigestStore, desk: DigestDesk, world: World, people: Sequence[int]
) -> None:
    await store.save(people[0], daily(BERLIN), world.now)
    world.now += DAY
    assert len(await store.claim_due("dead/1", world.now, 20)) == 1
    assert not await store.has_due(world.now)
    async with database.unit_of_work() as work:
        await work.session.execute(update(DigestRow).values(lease_until=datetime.now(UTC) - MINUTE))
    assert await store.has_due(world.now)
    assert (await desk.send_page("living/1", 20)).sent == 1


async def test_an_application_that_is_away_delays_the_digest_and_loses_nothing(
    database: Database, store: DigestStore, desk: DigestDesk, world: World, people: Sequence[int]
) -> None:
    ada = people[0]
    await store.save(ada, daily(BERLIN), world.now)
    world.now, world.failing = world.now + DAY, True
    assert await desk.send_page("a", 20) == DigestPage(claimed=1, failed=1, reason="The other side is away.")
    assert not await store.has_due(world.now), "not again at once"
    async with database.unit_of_work() as work:
        await work.session.execute(update(DigestRow).values(lease_until=datetime.now(UTC) - MINUTE))
    world.failing = False
    assert (await desk.send_page("b", 20)).sent == 1
    assert len(await read(database, ada)) == 1


async def test_a_choice_that_changes_while_one_is_written_counts(
    database: Database, store: DigestStore, desk: DigestDesk, world: World, people: Sequence[int]
) -> None:
    ada = people[0]
    await store.save(ada, daily(BERLIN), world.now)
    world.now += DAY
    [claim] = await store.claim_due("a", world.now, 20)
    await store.save(ada, daily(NEW_YORK), world.now)
    assert not await store.move_on(claim, None, claim.until)
    assert (await desk.send_page("a", 20)).claimed == 0
    world.now = datetime(2026, 10, 25, 11, 31, tzinfo=UTC)
    assert (await desk.send_page("b", 20)).sent == 1
    [issue] = await read(database, ada)
    assert issue.period == datetime(2026, 10, 25, 11, 30, tzinfo=UTC)


async def test_off_and_on_again_tells_nothing_twice(
    database: Database, store: DigestStore, desk: DigestDesk, world: World, people: Sequence[int]
) -> None:
    ada = people[0]
    await store.save(ada, daily(BERLIN), world.now)
    world.now = datetime(2026, 10, 24, 5, 31, tzinfo=UTC)
    await desk.send_page("a", 20)
    for rhythm in (Rhythm.OFF, Rhythm.DAILY):
        await store.save(ada, replace(daily(BERLIN), rhythm=rhythm), world.now)
    world.now += 25 * HOUR
    assert (await desk.send_page("b", 20)).sent == 1
    hours = hours_of(await read(database, ada))
    assert len(hours) == len(set(hours))


async def test_whoever_is_disabled_gets_none(
    database: Database, store: DigestStore, desk: DigestDesk, world: World, people: Sequence[int]
) -> None:
    await store.save(people[0], daily(BERLIN), world.now)
    async with database.unit_of_work() as work:
        await work.session.execute(update(UserRow).values(disabled_at=world.now))
    world.now += DAY
    assert not await store.has_due(world.now)
    assert (await desk.send_page("a", 20)).claimed == 0


async def test_one_sent_now_is_where_the_next_begins(
    database: Database, store: DigestStore, desk: DigestDesk, world: World, people: Sequence[int]
) -> None:
    ada = people[0]
    assert await desk.send_now(ada, Choice(zone=BERLIN)) is not None
    assert await desk.send_now(ada, Choice(zone=BERLIN)) is None, "nothing happened meanwhile"
    await store.save(ada, daily(BERLIN), world.now)
    world.now = datetime(2026, 10, 24, 5, 31, tzinfo=UTC)
    assert (await desk.send_page("a", 20)).sent == 1
    first, second = await read(database, ada)
    assert second.since >= first.until
    hours = hours_of([first, second])
    assert len(hours) == len(set(hours))
    await store.claim(ada, "worker", world.now)
    with pytest.raises(ConflictError, match="being written"):
        await desk.send_now(ada, Choice(zone=BERLIN))


async def test_the_notice_is_short_and_its_body_says_all_of_it_in_the_language_of_the_person(
    database: Database, store: DigestStore, desk: DigestDesk, world: World, people: Sequence[int]
) -> None:
    ada = people[0]
    await store.save(ada, daily(BERLIN), world.now)
    world.now += DAY
    await desk.send_page("a", 20)
    async with database.unit_of_work() as work:
        notice = (await work.session.scalars(select(NoticeRow))).one()
    assert (notice.title, notice.path) == ("Your daily digest is here.", "/digest/20261024T053000Z")
    assert notice.detail == f"{len(hours_of(await read(database, ada)))} hours passed."
    assert notice.body is not None
    assert notice.body.startswith("Hours\n=====\n")


async def test_the_data_of_a_person_has_their_digests_and_ends_with_them(
    database: Database, instance: Resources, store: DigestStore, desk: DigestDesk, world: World, people: Sequence[int]
) -> None:
    ada, ben, _ = people
    for user_id in (ada, ben):
        await store.save(user_id, daily(BERLIN), world.now)
    world.now += DAY
    await desk.send_page("a", 20)
    data = await export(instance, ada)
    assert [row["zone"] for row in data["digest"]] == [BERLIN]
    assert len(data["digests-sent"]) == len(hours_of(await read(database, ada)))
    await erase(instance, ada)
    assert not await read(database, ada)
    assert len(await read(database, ben)) == 1
    async with database.unit_of_work() as work:
        assert list(await work.session.scalars(select(InboxRow.user_id))) == [ben]


async def test_old_digests_go_with_their_notices(
    database: Database, instance: Resources, store: DigestStore, desk: DigestDesk, world: World, people: Sequence[int]
) -> None:
    await store.save(people[0], daily(BERLIN), world.now)
    world.now += DAY
    await desk.send_page("a", 20)
    await MaintenanceStore(database, instance.objects).delete_rows(Kind.NOTICES, datetime.now(UTC) + MINUTE)
    assert not await read(database, people[0])
