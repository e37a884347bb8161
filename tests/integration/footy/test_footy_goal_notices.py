"""A confirmed goal reaches the inboxes of its followers; its clip, a correction and the referee change what it says."""

from dataclasses import replace
from datetime import timedelta

import pytest

from pressbox.core.accounts.service import AccountService
from pressbox.core.config import Settings
from pressbox.core.db.database import Database
from pressbox.core.notices.follows import PersonalFollows
from pressbox.footy.domain.fixtures import FixtureStatus
from pressbox.footy.domain.goals import GoalDetail
from pressbox.inbox.store import InboxStore, Line
from tests.integration.footy.footy_world import HOME, SAKA, START, World, goal, match, uploaded, video, with_goals
from tests.site import PASSWORD, cheap_passwords


@pytest.fixture
def world(database: Database) -> World:
    return World(database)


@pytest.fixture
async def fans(database: Database, settings: Settings) -> tuple[int, int]:
    """Two people: one follows Liverpool, the other the league."""
    accounts = AccountService(database, settings, passwords=cheap_passwords())
    ada, ben = [(await accounts.add_user(f"{name}@example.org", PASSWORD)).id for name in ("ada", "ben")]
    follows = PersonalFollows(database)
    await follows.follow(ada, "footy.team.40", "Liverpool", "/footy")
    await follows.follow(ben, "footy.league.39", "Premier League", "/footy")
    return ada, ben


async def told(database: Database, person: int) -> list[Line]:
    return list((await InboxStore(database).load(person)).lines)


async def test_a_goal_is_told_when_it_is_confirmed_and_not_before(
    world: World, database: Database, fans: tuple[int, int]
) -> None:
    await world.ingest(match())
    await world.poll(with_goals(1, goal(23)), times=2)
    assert [await told(database, fan) for fan in fans] == [[], []]
    await world.poll(with_goals(1, goal(23)), times=4)
    lines = [await told(database, fan) for fan in fans]
    assert [[(line.title, line.detail, line.because) for line in one] for one in lines] == [
        [("Goal for Liverpool by Mohamed Salah, 23′", "Liverpool 1–0 Arsenal", "Liverpool")],
        [("Goal for Liverpool by Mohamed Salah, 23′", "Liverpool 1–0 Arsenal", "Premier League")],
    ]
    assert lines[0][0].path == "/footy/matches/1"


async def test_the_first_verified_clip_comes_into_the_same_line(
    world: World, database: Database, fans: tuple[int, int]
) -> None:
    event_id = await world.confirmed_goal()
    a, b = await world.found(event_id, 1, "a", "b")
    await world.clips.add(event_id, uploaded(video(a)), None, world.now)
    [line] = await told(database, fans[0])
    assert line.picture == ""
    await world.clips.add(event_id, uploaded(video(b, timestamp_verified=True)), None, world.now)
    [line] = await told(database, fans[0])
    assert line.detail == "Liverpool 1–0 Arsenal. The clip is there."
    assert line.path.startswith("/footy/clips/")
    assert line.picture == f"{line.path}.jpg"


async def test_a_goal_that_is_taken_back_is_struck_out_and_one_that_returns_stands(
    world: World, database: Database, fans: tuple[int, int]
) -> None:
    await world.confirmed_goal()
    await InboxStore(database).mark_all(fans[0], up_to=2**62)
    await world.poll(match(), times=3)
    [line] = await told(database, fans[0])
    assert (line.withdrawn, line.read) == (True, False)
    await world.poll(with_goals(1, goal(23)), times=3)
    [line] = await told(database, fans[0])
    assert not line.withdrawn


async def test_another_scorer_changes_the_line_and_makes_no_second_one(
    world: World, database: Database, fans: tuple[int, int]
) -> None:
    await world.confirmed_goal()
    await world.poll(with_goals(1, goal(23, SAKA)), times=3)
    [line] = [line for line in await told(database, fans[0]) if not line.withdrawn]
    assert line.title == "Goal for Liverpool by Bukayo Saka, 23′"


async def test_penalties_and_own_goals_are_called_so(world: World, database: Database, fans: tuple[int, int]) -> None:
    await world.ingest(match())
    both = (
        replace(goal(23), detail=GoalDetail.PENALTY),
        replace(goal(61, SAKA), detail=GoalDetail.OWN, extra=2),
    )
    await world.poll(with_goals(1, *both), times=3)
    assert sorted(line.title for line in await told(database, fans[0])) == [
        f"Own goal for {HOME.name} by Bukayo Saka, 61+2′",
        f"Penalty for {HOME.name} by Mohamed Salah, 23′",
    ]


async def test_goals_of_a_match_that_was_over_at_first_sight_wake_nobody(
    world: World, database: Database, fans: tuple[int, int]
) -> None:
    world.now = START + timedelta(hours=8)
    over = with_goals(1, goal(23), status=FixtureStatus.FULL_TIME, elapsed=90)
    await world.ingest(over)
    await world.poll(over, times=4)
    assert await told(database, fans[0]) == []


async def test_who_muted_the_team_hears_nothing_and_the_other_does(
    world: World, database: Database, fans: tuple[int, int]
) -> None:
    await PersonalFollows(database).mute(fans[0], "footy.team.40", True)
    await world.confirmed_goal()
    assert [len(await told(database, fan)) for fan in fans] == [0, 1]
