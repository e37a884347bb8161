"""Three people follow one match by all their ways; no score reaches anybody before its time.

Ada sees scores at once, so each reading is known to be able to fail; Ben hides them; Cleo has a delay of ten minutes.
Ada once and Ben once read every address that can be read, and at every stage each reads whatever has told anybody
anything: pages, API, files, searches, calendars, the live stream, and the messages that left by mail, chat and push.
"""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack

import pytest

from pressbox.core.accounts.models import Role
from pressbox.core.app import Resources
from pressbox.core.config import Settings
from pressbox.core.db.database import Database
from pressbox.core.notices.follows import PersonalFollows
from pressbox.core.spoilers.choice import choose
from pressbox.core.spoilers.store import PersonalSpoilers
from pressbox.footy.domain.fixtures import FixtureStatus
from tests.integration.footy.footy_world import AWAY, HOME, goal
from tests.integration.web.spoiler_ground import MATCH, Ground
from tests.site import browsing, serving

pytestmark = [pytest.mark.limit(600), pytest.mark.slow]

# Names that stand nowhere else, so that whoever reads one knows who scored.
FIRST = goal(23, (918273, "Zyrkel Quorn"), HOME)
SECOND = goal(40, (918274, "Vrabelj Umbe"), AWAY)
THIRD = goal(89, (918275, "Tjomme Ash"), HOME)
OF_FIRST, OF_SECOND, OF_THIRD = (
    {name, f"91827{number}"} for name, number in (("Zyrkel", 3), ("Vrabelj", 4), ("Tjomme", 5))
)


@pytest.fixture
async def ground(resources: Resources, settings: Settings, database: Database) -> AsyncIterator[Ground]:
    async with AsyncExitStack() as stack:
        app = await stack.enter_async_context(serving(resources, settings))
        # Administrators read most: also what is only for those who run the instance.
        names = ("ada", "ben", "cleo")
        ada, ben, cleo = [await stack.enter_async_context(browsing(app, name, Role.ADMIN)) for name in names]
        follows, spoilers = PersonalFollows(database), PersonalSpoilers(database)
        for person in (ada, ben, cleo):
            await follows.follow(person.user_id, "footy.team.40", "Liverpool", "/footy")
        await spoilers.choose(ben.user_id, choose("hidden"))
        await spoilers.choose(cleo.user_id, choose("delay", 10))
        yield Ground(app, resources, (ada, ben, cleo))


def words_of(told: dict[str, set[str]]) -> set[str]:
    return {word for words in told.values() for word in words}


def ways_of(told: dict[str, set[str]], words: set[str]) -> dict[str, set[str]]:
    """Where any of these words stands."""
    return {way: said & words for way, said in told.items() if said & words}


async def test_no_score_reaches_anybody_before_its_time(ground: Ground) -> None:
    ada, ben, cleo = ground.ada, ground.ben, ground.cleo
    await ground.arrange()
    for person in (ada, ben, cleo):
        assert await ground.read_first(person) == {}, "nothing is known of a match to come"

    await ground.kick_off()
    await ground.pass_minutes(15)
    await ground.answer(FIRST)
    await ground.show_clip()
    await ground.work_on_it("zyrkel", 918273)
    await ground.write_about_it("Liverpool 1–0 Arsenal: Zyrkel Quorn scores")
    seen = await ground.read(ada)
    day = ground.kickoff.date()
    lists = (f"/footy/{day}", f"/api/footy/fixtures?date={day}", "/inbox", "/api/inbox", "/activity", "/")
    assert {*lists, f"/footy/matches/{MATCH}", "stream", "messages"} <= set(seen)
    assert {"/reader", "/api/curator/entries", "/api/offline", "/digest/preview"} <= set(seen), "the headline"
    assert {"Zyrkel", "zyrkel", "1–0"} <= words_of(seen)
    assert await ground.read_again(ben) == {}
    assert words_of(await ground.read_again(cleo)) == {"0–0"}, "so many minutes ago nobody had scored"

    await ground.pass_minutes(12)
    await ground.answer(FIRST, SECOND)
    assert {*OF_FIRST, *OF_SECOND, "1–1"} <= words_of(await ground.read_first(ada))
    assert await ground.read_again(ben) == {}
    seen = await ground.read_again(cleo)
    assert {*OF_FIRST, "1–0"} <= words_of(seen)
    assert ways_of(seen, {*OF_SECOND, "vrabelj", "1–1"}) == {}
    assert {"messages", "/inbox"} <= set(seen)

    # The referee takes the second goal back.
    await ground.pass_minutes(12)
    await ground.answer(FIRST)
    seen = await ground.read_first(ada)
    assert "Taken back" in seen["messages"] & seen["/inbox"]
    assert await ground.read_again(ben) == {}
    seen = await ground.read_again(cleo)
    assert {*OF_FIRST, *OF_SECOND, "1–1"} <= words_of(seen), "for her it stands"
    assert ways_of(seen, {"Taken back", "disallowed", "Disallowed"}) == {}

    # A third goal in the last minute, and it is over.
    await ground.pass_minutes(12)
    await ground.answer(FIRST, THIRD, status=FixtureStatus.FULL_TIME)
    assert {*OF_THIRD, "2–0"} <= words_of(await ground.read_first(ada))
    assert await ground.read(ben) == {}
    seen = await ground.read_again(cleo)
    assert "Taken back" in seen["messages"] & seen["/inbox"]
    assert ways_of(seen, {*OF_THIRD, "tjomme", "2–0"}) == {}
    path = f"/api/footy/fixtures/{MATCH}"
    assert [(await one.get(path)).json()["status"] for one in (ada, ben, cleo)] == ["FT", "FT", "2H"]

    await ground.pass_minutes(12)
    seen, later = [await ground.read_again(person) for person in (ada, cleo)]
    # What lies on a phone stays there, so it has no score of a match that is on for somebody who is behind it.
    for way in ("stream", "/api/offline"):
        seen.pop(way, None)
        later.pop(way, None)
    # The first page shows lines that are not read yet, and she has read fewer.
    assert (set(later), words_of(later)) == (set(seen), words_of(seen)), "she knows all of it by now"
