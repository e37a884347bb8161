"""Following by name: the search, what API-Football is asked for, and that a choice takes effect at once."""

from collections.abc import AsyncIterator, Sequence
from datetime import timedelta

import httpx
import pytest
from fastapi import FastAPI

from pressbox.core.accounts.models import Role
from pressbox.core.app import Resources
from pressbox.core.clock import utc_now
from pressbox.core.config import Settings
from pressbox.core.db.database import Database
from pressbox.core.errors import InvalidInputError, NotFoundError, RateLimitedError, TransientError
from pressbox.core.notices.follows import PersonalFollows
from pressbox.footy.adapters.directory import SEARCH_LIFE, SqlDirectory
from pressbox.footy.adapters.directory_answers import read_teams
from pressbox.footy.adapters.follows import SqlFollows
from pressbox.footy.domain.directory import Entry
from pressbox.footy.domain.fixtures import Followed, League, Team
from pressbox.footy.domain.views import FollowKind
from pressbox.footy.ports.storage import TeamName
from pressbox.footy.service.following import Following
from tests.fakes.football_answers import MANCHESTER, answer
from tests.fakes.footy_day import MatchDay
from tests.integration.footy.footy_world import World, match
from tests.site import browsing, serving

TEAM, LEAGUE = FollowKind.TEAM, FollowKind.LEAGUE
DEFAULTS = Followed(frozenset({39, 61}))


class RecordedNames:
    """Answers every search for teams with the recorded one for “manchester”."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.failure: Exception | None = None

    async def search_teams(self, text: str) -> Sequence[Entry]:
        self.asked.append(text)
        if self.failure:
            raise self.failure
        return [entry for entry in read_teams(answer(MANCHESTER)["response"]) if text in entry.name.lower()]

    async def search_leagues(self, text: str) -> Sequence[Entry]:
        return []


class StartedWorkflows:
    """Counts the ingests that were started."""

    def __init__(self) -> None:
        self.fetched = 0
        self.failure: Exception | None = None

    async def fetch_followed(self) -> str:
        if self.failure:
            raise self.failure
        self.fetched += 1
        return "ingest-followed"


@pytest.fixture
def api() -> RecordedNames:
    return RecordedNames()


@pytest.fixture
def workflows() -> StartedWorkflows:
    return StartedWorkflows()


@pytest.fixture
def following(database: Database, api: RecordedNames, workflows: StartedWorkflows) -> Following:
    return Following(SqlFollows(database, DEFAULTS), SqlDirectory(database), api, workflows, PersonalFollows(database))


@pytest.fixture
def keyless(database: Database, workflows: StartedWorkflows) -> Following:
    return Following(SqlFollows(database, DEFAULTS), SqlDirectory(database), None, workflows, PersonalFollows(database))


async def test_what_is_known_costs_nothing_and_what_was_asked_is_never_asked_again(
    following: Following, api: RecordedNames, database: Database
) -> None:
    before = await following.search("godmanchester")
    assert (before.entries, before.may_ask, api.asked) == ((), True, [])
    await following.ask("Manchester")
    found = await following.search("manchester")
    assert api.asked == ["manchester"]
    assert [(entry.id, entry.name, entry.country) for entry in found.teams][:2] == [
        (50, "Manchester City", "England"),
        (33, "Manchester United", "England"),
    ]
    # A search for its beginning has found all of these.
    for longer in ("manchester", "Manchester United", "MANCHESTER u"):
        assert not (await following.search(longer)).may_ask
        await following.ask(longer)
    assert api.asked == ["manchester"]
    later = utc_now() + SEARCH_LIFE + timedelta(days=1)
    assert not await SqlDirectory(database).is_asked("manchester", later)


async def test_a_failed_search_is_no_answer(following: Following, api: RecordedNames) -> None:
    api.failure = RateLimitedError("API-Football asks for fewer requests.")
    with pytest.raises(RateLimitedError):
        await following.ask("manchester")
    api.failure = None
    assert (await following.search("manchester")).may_ask


async def test_a_follow_fetches_the_matches_at_once(
    following: Following, database: Database, workflows: StartedWorkflows
) -> None:
    await following.ask("manchester")
    outcome = await following.follow(TEAM, 33)
    assert (outcome.entry.name, outcome.fetching, workflows.fetched) == ("Manchester United", True, 1)
    views = await SqlFollows(database, DEFAULTS).load_follows()
    assert [(view.kind, view.name, view.country) for view in views] == [
        (LEAGUE, "Ligue 1", "France"),
        (LEAGUE, "Premier League", "England"),
        (TEAM, "Manchester United", "England"),
    ]
    assert next(entry for entry in (await following.search("manchester")).teams if entry.id == 33).followed


async def test_a_follow_counts_while_temporal_is_away(following: Following, workflows: StartedWorkflows) -> None:
    workflows.failure = TransientError("Temporal does not answer.")
    assert not (await following.follow(LEAGUE, 78)).fetching
    assert (await following.search("bundesliga germany")).leagues[0].followed


async def test_without_a_key_a_club_of_the_list_is_followed_and_known_again_in_its_first_match(
    keyless: Following, database: Database, workflows: StartedWorkflows
) -> None:
    found = await keyless.search("manchester united")
    assert not found.may_ask
    chosen = found.teams[0]
    assert (chosen.name, chosen.country) == ("Manchester United", "England")
    assert chosen.id < 0
    assert not (await keyless.follow(chosen.kind, chosen.id)).fetching
    assert workflows.fetched == 0
    follows = SqlFollows(database, DEFAULTS)
    others = [TeamName(4898, "Manchester United W", "England"), TeamName(7, "Manchester United", "Gibraltar")]
    assert await follows.identify(others) == {}
    assert await follows.identify([TeamName(33, "Manchester United", "England")]) == {chosen.id: 33}
    assert await follows.load_followed() == Followed(DEFAULTS.leagues, frozenset({33}))
    assert await follows.identify([TeamName(34, "Manchester United", "England")]) == {}
    with pytest.raises(NotFoundError):
        await keyless.follow(TEAM, -5)


async def test_with_a_key_a_club_of_the_list_gets_its_id_when_it_is_followed(
    following: Following, database: Database, api: RecordedNames
) -> None:
    chosen = (await following.search("manchester united")).teams[0]
    assert chosen.id < 0
    assert (await following.follow(TEAM, chosen.id)).entry.id == 33
    assert api.asked == ["manchester united"]
    assert (await SqlFollows(database, DEFAULTS).load_followed()).teams == frozenset({33})


async def test_names_outlive_the_fixtures_they_came_from(world: World) -> None:
    second = League(180, "Championship", "Scotland")
    await world.ingest(match(1, league=second, home=Team(900, "Partick Thistle"), away=Team(901, "Ayr United")))
    await world.follows.follow(LEAGUE, 180)
    await world.follows.follow(TEAM, 900)
    await world.archive.delete([1], [])
    names = {(view.id, view.name, view.country) for view in await world.follows.load_follows()}
    assert {(180, "Championship", "Scotland"), (900, "Partick Thistle", "Scotland")} <= names
    found = await SqlDirectory(world.database).search(("partick",))
    assert [entry.id for entry in found if entry.id > 0] == [900]


async def test_a_name_that_fits_several_lists_them(following: Following) -> None:
    await following.ask("manchester")
    with pytest.raises(InvalidInputError) as refused:
        await following.choose("Manchester")
    assert "team:33  Manchester United · England" in refused.value.message
    assert (await following.choose("manchester united")).id == 33
    assert (await following.choose("Arsenal England")).country == "England"
    assert (await following.choose("league:39")).name == "Premier League"
    with pytest.raises(NotFoundError):
        await following.choose("qqqqqq")
    await following.follow(TEAM, 33)
    assert (await following.unfollow_by_name("Manchester United")).id == 33
    with pytest.raises(NotFoundError):
        await following.unfollow_by_name("Manchester United")


@pytest.fixture
async def app(resources: Resources, settings: Settings) -> AsyncIterator[FastAPI]:
    async with serving(resources, settings) as app:
        yield app


@pytest.fixture
async def admin(app: FastAPI) -> AsyncIterator[httpx.AsyncClient]:
    async with browsing(app, "admin", Role.ADMIN) as client:
        yield client


async def test_the_page_names_leagues_and_finds_teams_as_one_types(admin: httpx.AsyncClient) -> None:
    page = (await admin.get("/footy/follow")).text
    for name in ("Premier League", "La Liga", "Bundesliga", "Serie A", "Ligue 1"):
        assert name in page, name
    assert ">39<" not in page
    assert "the key for API-Football is missing" in page
    assert "Also fetched here" in page
    part = (await admin.get("/footy/follow/found?q=arsen")).text
    assert "<b>Arsenal</b>" in part
    assert "England" in part
    assert "<html" not in part
    assert "No team or league of this name" in (await admin.get("/footy/follow/found?q=qqqq")).text
    assert (await admin.get("/footy/follow/found?q=" + "a" * 101)).status_code == 422
    for odd in ("%", "_", "\\", "'", "<b>", "ß", " "):
        assert (await admin.get("/footy/follow", params={"q": odd})).status_code == 200, odd


async def test_a_star_is_a_form_that_follows_and_unfollows(app: FastAPI, admin: httpx.AsyncClient) -> None:
    [found, *_] = (await admin.get("/api/footy/directory?q=arsenal")).json()
    form = {"kind": found["kind"], "id": str(found["id"]), "q": "arsenal"}
    answer = await admin.post("/footy/follow", data=form)
    assert answer.status_code == 303
    page = (await admin.get(answer.headers["location"])).text
    assert "You follow Arsenal now." in page
    assert 'value="arsenal"' in page
    assert f'id="star-team-{found["id"]}"' in page
    assert (await admin.post("/footy/follow/remove", data=form)).status_code == 303
    assert "You follow Arsenal" not in (await admin.get("/footy/follow?q=arsenal")).text
    refused = await admin.post("/footy/follow", data=form | {"id": "eleven"})
    assert (refused.status_code, "Search for it by its name" in refused.text) == (422, True)
    assert (await admin.post("/footy/follow", data=form | {"id": "-17"})).status_code == 404
    assert (await admin.post("/footy/follow/search", data={"q": "arsenal"})).status_code == 303
    async with browsing(app, "member") as member:
        seen = await member.get("/footy/follow?q=arsenal")
        assert "Arsenal" in seen.text
        for path in ("/footy/follow/search", "/footy/follow/stop"):
            assert (await member.post(path, data=form)).status_code == 403, path
        assert (await member.post("/api/footy/directory", json={"q": "arsenal"})).status_code == 403
        assert (await member.get("/api/footy/directory?q=arsenal")).json()[0]["name"] == "Arsenal"


async def test_the_next_match_stands_beside_what_is_followed(resources: Resources, admin: httpx.AsyncClient) -> None:
    day = MatchDay(resources)
    await day.fixture(1, stage="staging", status="NS", kickoff=day.now + timedelta(hours=5))
    await admin.post("/api/footy/follow", json={"kind": "team", "id": 11, "name": "Liverpool"})
    part = (await admin.get("/footy/follow/live")).text
    assert "Liverpool – Man City" in part
    assert 'href="/footy/matches/1"' in part
    [team] = [view for view in (await admin.get("/api/footy/follow")).json() if view["kind"] == "team"]
    assert (team["next_fixture_id"], team["next_match"]) == (1, "Liverpool – Man City")


async def test_everybody_follows_for_themselves_and_what_anybody_follows_is_fetched(
    app: FastAPI, admin: httpx.AsyncClient, database: Database
) -> None:
    [found, *_] = (await admin.get("/api/footy/directory?q=arsenal")).json()
    form = {"kind": found["kind"], "id": str(found["id"])}
    mine = f'id="star-listed-team-{found["id"]}"'
    follows = SqlFollows(database, DEFAULTS)
    async with browsing(app, "ada") as ada, browsing(app, "ben") as ben:
        for _ in range(2):
            assert (await ada.post("/footy/follow", data=form)).status_code == 303
        assert mine in (await ada.get("/footy/follow/live")).text
        assert mine not in (await ben.get("/footy/follow/live")).text
        assert "Arsenal" in (await ben.get("/footy/follow/live")).text
        assert found["id"] in (await follows.load_followed()).teams
        await ben.post("/footy/follow", data=form)
        await ada.post("/footy/follow/remove", data=form)
        assert found["id"] in (await follows.load_followed()).teams
        assert mine in (await ben.get("/footy/follow/live")).text
        assert (await ada.put(f"/api/footy/follow/own/team/{found['id']}")).status_code == 204
        assert [follow["name"] for follow in (await ada.get("/api/follows")).json()] == ["Arsenal"]
        assert (await ada.delete(f"/api/follows/footy.team.{found['id']}")).status_code == 204
        await ben.post("/footy/follow/remove", data=form)
    assert found["id"] not in (await follows.load_followed()).teams


async def test_people_who_follow_a_club_of_the_list_follow_the_team_it_turns_out_to_be(
    keyless: Following, database: Database, app: FastAPI
) -> None:
    chosen = (await keyless.search("manchester united")).teams[0]
    async with browsing(app, "ada") as ada:
        await keyless.follow_for(ada.user_id, chosen.kind, chosen.id)
        follows = SqlFollows(database, DEFAULTS)
        assert await follows.identify([TeamName(33, "Manchester United", "England")]) == {chosen.id: 33}
        assert await keyless.load_own(ada.user_id) == Followed(frozenset(), frozenset({33}))
    # Nobody chose it for everybody.
    assert "team" not in {view.kind for view in await follows.load_follows() if view.by_settings}
