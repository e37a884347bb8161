"""Kick-off, half-time, the end, red cards and line-ups are told to those who chose them, once, and corrected."""

import json
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from pressbox.core.accounts.service import AccountService
from pressbox.core.config import Settings
from pressbox.core.db.database import Database
from pressbox.core.notices.follows import PersonalFollows
from pressbox.footy.domain.fixture_parser import parse_fixture
from pressbox.footy.domain.fixtures import Dismissal, FixtureStatus, LineUp
from pressbox.footy.domain.notice_kinds import KINDS
from pressbox.inbox.store import InboxStore
from tests.integration.footy.footy_world import AWAY, HOME, START, World, goal, match, with_goals
from tests.shared_data import shared
from tests.site import PASSWORD, cheap_passwords

EVERYTHING = [kind.kind for kind in KINDS]
HALF: dict[str, Any] = {"status": FixtureStatus.HALF_TIME, "half_time": (0, 0)}
OVER: dict[str, Any] = {"status": FixtureStatus.FULL_TIME, "half_time": (0, 0), "elapsed": 90}
RED = Dismissal(AWAY.id, AWAY.name, "William Saliba", 30)


@pytest.fixture
def world(database: Database) -> World:
    return World(database)


@pytest.fixture
async def fans(database: Database, settings: Settings) -> tuple[int, int]:
    """Ada wants everything of Liverpool, Ben chose nothing."""
    accounts = AccountService(database, settings, passwords=cheap_passwords())
    ada, ben = [(await accounts.add_user(f"{name}@example.org", PASSWORD)).id for name in ("ada", "ben")]
    follows = PersonalFollows(database)
    for person in (ada, ben):
        await follows.follow(person, "footy.team.40", "Liverpool", "/footy")
    await follows.choose(ada, "footy.team.40", kinds=EVERYTHING, reminders=None)
    return ada, ben


async def told(database: Database, person: int) -> list[str]:
    """Oldest first; what was taken back is marked."""
    lines = (await InboxStore(database).load(person)).lines
    return [f"{'(taken back) ' if line.withdrawn else ''}{line.title}" for line in reversed(lines)]


async def begin(world: World) -> None:
    """A match that waits, and is polled."""
    waiting = match(status=FixtureStatus.NOT_STARTED, elapsed=None, kickoff=START)
    await world.ingest(waiting)
    await world.polls.activate("monitor-0", world.policy, world.now)


async def test_each_is_told_once_to_those_who_chose_it(world: World, database: Database, fans: tuple[int, int]) -> None:
    await begin(world)
    for state in (match(), match(**HALF), match(status=FixtureStatus.SECOND_HALF, half_time=(0, 0)), match(**OVER)):
        await world.poll(state, times=2)
    assert await told(database, fans[0]) == [
        "Kick-off: Liverpool – Arsenal",
        "Half-time: Liverpool 0–0 Arsenal",
        "Full-time: Liverpool 0–0 Arsenal",
    ]
    assert await told(database, fans[1]) == ["Full-time: Liverpool 0–0 Arsenal"]


async def test_a_match_that_goes_on_takes_its_end_back_and_tells_the_new_one(
    world: World, database: Database, fans: tuple[int, int]
) -> None:
    await begin(world)
    await world.poll(match())
    await world.poll(match(**OVER))
    await world.poll(match(status=FixtureStatus.EXTRA_TIME, half_time=(0, 0)))
    assert await told(database, fans[1]) == ["(taken back) Full-time: Liverpool 0–0 Arsenal"]
    after = replace(with_goals(1, goal(100)), status=FixtureStatus.AFTER_EXTRA_TIME, half_time=(0, 0))
    await world.poll(after)
    assert await told(database, fans[1]) == ["Full-time: Liverpool 1–0 Arsenal"]


async def test_a_red_card_is_told_corrected_and_taken_back(
    world: World, database: Database, fans: tuple[int, int]
) -> None:
    await begin(world)
    await world.poll(match())
    await world.poll(match(dismissals=(RED,), has_list=True), times=2)
    assert (await told(database, fans[0]))[1:] == ["Red card for William Saliba of Arsenal, 30′"]
    await world.poll(match(dismissals=(replace(RED, elapsed=31),), has_list=True))
    assert (await told(database, fans[0]))[1:] == ["Red card for William Saliba of Arsenal, 31′"]
    # An answer whose list is missing says nothing of it.
    await world.poll(match())
    assert (await told(database, fans[0]))[1:] == ["Red card for William Saliba of Arsenal, 31′"]
    await world.poll(match(has_list=True))
    assert (await told(database, fans[0]))[1:] == ["(taken back) Red card for William Saliba of Arsenal, 31′"]
    assert await told(database, fans[1]) == []


async def test_line_ups_are_told_before_kick_off(world: World, database: Database, fans: tuple[int, int]) -> None:
    await begin(world)
    sides = (LineUp(HOME.id, HOME.name, ("Alisson", "Salah"), "4-3-3"), LineUp(AWAY.id, AWAY.name, ("Raya",)))
    await world.poll(match(status=FixtureStatus.NOT_STARTED, elapsed=None, lineups=sides), times=2)
    await world.poll(match(lineups=sides))
    [line, _] = reversed((await InboxStore(database).load(fans[0])).lines)
    assert line.title == "Line-ups: Liverpool – Arsenal"
    assert line.detail == "Liverpool (4-3-3): Alisson, Salah. Arsenal: Raya."


async def test_a_match_that_was_over_when_it_was_first_seen_is_told_to_nobody(
    world: World, database: Database, fans: tuple[int, int]
) -> None:
    await world.ingest(with_goals(1, goal(23), **OVER))
    await world.poll(with_goals(1, goal(23), **OVER, dismissals=(RED,), has_list=True), times=2)
    assert [title for title in await told(database, fans[0]) if not title.startswith("Goal")] == []


async def test_a_worker_that_was_away_tells_of_the_end_and_not_of_what_has_passed(
    world: World, database: Database, fans: tuple[int, int]
) -> None:
    await begin(world)
    world.now += timedelta(hours=2)
    await world.poll(match(**OVER))
    assert await told(database, fans[0]) == ["Full-time: Liverpool 0–0 Arsenal"]


async def test_what_is_written_by_a_poll_of_waiting_matches_is_told_too(
    world: World, database: Database, fans: tuple[int, int]
) -> None:
    await world.ingest(match(status=FixtureStatus.NOT_STARTED, elapsed=None))
    await world.polls.record_staging([match()], {}, world.now)
    assert await told(database, fans[0]) == ["Kick-off: Liverpool – Arsenal"]


async def test_a_match_that_has_not_begun_after_all_takes_its_kick_off_back(
    world: World, database: Database, fans: tuple[int, int]
) -> None:
    await begin(world)
    await world.poll(match())
    await world.poll(match(status=FixtureStatus.NOT_STARTED, elapsed=None))
    assert await told(database, fans[0]) == ["(taken back) Kick-off: Liverpool – Arsenal"]


def _line_up(number: int, name: str, formation: str) -> dict[str, Any]:
    """In the shape of API-Football's answers."""
    players = [{"player": {"id": place, "name": f"{name} {place}", "number": place}} for place in range(1, 12)]
    return {"team": {"id": number, "name": name}, "formation": formation, "startXI": players, "substitutes": []}


def _card(detail: str, player: str, minute: int) -> dict[str, Any]:
    time, team = {"elapsed": minute, "extra": None}, {"id": 45, "name": "Everton"}
    return {"time": time, "team": team, "player": {"id": 7, "name": player}, "type": "Card", "detail": detail}


def test_line_ups_and_red_cards_are_read_from_an_answer() -> None:
    sides = {"home": {"id": 50, "name": "Manchester City"}, "away": {"id": 45, "name": "Everton"}}
    raw: dict[str, Any] = {
        "fixture": {"id": 592872, "timestamp": 1621782000, "status": {"short": "2H", "elapsed": 80}},
        "teams": sides,
        "score": {"halftime": {"home": 2, "away": 0}},
        "events": [
            _card("Yellow Card", "Godfrey", 20),
            _card("Second Yellow card", "Godfrey", 55),
            _card("Red Card", "Godfrey", 55),
        ],
        "lineups": [_line_up(50, "Manchester City", "4-3-3"), _line_up(45, "Everton", "4-3-1-2")],
    }
    if (recorded := shared("providers")) is not None:
        raw["lineups"] = json.loads((recorded / "api_football" / "fixture-lineup-full.json").read_text())["response"]
    fixture = parse_fixture(raw)
    assert [(side.formation, len(side.players)) for side in fixture.lineups] == [("4-3-3", 11), ("4-3-1-2", 11)]
    assert fixture.dismissals == (Dismissal(45, "Everton", "Godfrey", 55, None),)
    assert (fixture.half_time, fixture.has_list) == ((2, 0), True)
    # Half of it would be told as all of it.
    assert parse_fixture({**raw, "lineups": raw["lineups"][:1]}).lineups == ()
