"""Pages, files and API of matches on the real application: what people see, what players ask, what is refused."""

from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta

import httpx
import pytest
from fastapi import FastAPI
from sqlalchemy import select

from pressbox.core.accounts.models import Role
from pressbox.core.app import Resources
from pressbox.core.config import Settings
from pressbox.core.health import HealthState
from pressbox.footy.adapters.rows import ClipRow
from pressbox.footy.domain.goals import Sighting
from pressbox.footy.manifest import APP
from tests.fakes.footy_day import MatchDay, film, poster
from tests.site import Browser, browsing, serving


@pytest.fixture
def day(resources: Resources) -> MatchDay:
    return MatchDay(resources)


@pytest.fixture
async def app(resources: Resources, settings: Settings) -> AsyncIterator[FastAPI]:
    async with serving(resources, settings) as app:
        yield app


@pytest.fixture
async def reader(app: FastAPI) -> AsyncIterator[httpx.AsyncClient]:
    """An administrator."""
    async with browsing(app, "admin", Role.ADMIN) as client:
        yield client


@pytest.fixture
async def stranger(app: FastAPI) -> AsyncIterator[httpx.AsyncClient]:
    async with Browser(app) as client:
        yield client


async def one_goal(day: MatchDay) -> str:
    await day.fixture(1, home_goals=1)
    return await day.goal(1)


async def test_a_film_is_given_in_parts_with_the_tag_of_its_copy(day: MatchDay, stranger: httpx.AsyncClient) -> None:
    await day.clip(await one_goal(day), "share")
    whole = await stranger.get("/footy/clips/share.mp4")
    assert whole.status_code == 200
    assert whole.content == film()
    assert whole.headers["content-type"] == "video/mp4"
    assert whole.headers["accept-ranges"] == "bytes"
    part = await stranger.get("/footy/clips/share.mp4", headers={"Range": "bytes=100-199"})
    assert part.status_code == 206
    assert part.content == film()[100:200]
    assert part.headers["content-range"] == f"bytes 100-199/{len(film())}"
    assert part.headers["content-length"] == "100"
    last = await stranger.get("/footy/clips/share.mp4", headers={"Range": "bytes=-50"})
    assert last.content == film()[-50:]
    behind = await stranger.get("/footy/clips/share.mp4", headers={"Range": f"bytes={len(film())}-"})
    assert behind.status_code == 416
    assert behind.headers["content-range"] == f"bytes */{len(film())}"
    again = await stranger.get("/footy/clips/share.mp4", headers={"If-None-Match": whole.headers["etag"]})
    assert again.status_code == 304
    assert again.content == b""
    head = await stranger.head("/footy/clips/share.mp4")
    assert head.headers["content-length"] == str(len(film()))
    assert head.content == b""


async def test_a_part_of_the_copy_before_is_answered_with_the_whole_new_one(
    day: MatchDay, stranger: httpx.AsyncClient
) -> None:
    event_id = await one_goal(day)
    await day.clip(event_id, "share")
    old = (await stranger.get("/footy/clips/share.mp4")).headers["etag"]
    asked = {"Range": "bytes=0-9", "If-Range": old}
    assert (await stranger.get("/footy/clips/share.mp4", headers=asked)).status_code == 206
    await day.replace(event_id, "share", film(seed=2))
    answer = await stranger.get("/footy/clips/share.mp4", headers=asked)
    assert answer.status_code == 200
    assert answer.content == film(seed=2)
    assert answer.headers["etag"] != old


async def test_only_an_address_that_names_the_copy_may_be_kept(day: MatchDay, stranger: httpx.AsyncClient) -> None:
    await day.clip(await one_goal(day), "share")
    for name in ("share.mp4", "share.jpg"):
        assert "no-cache" in (await stranger.get(f"/footy/clips/{name}")).headers["cache-control"]
        assert "max-age" in (await stranger.get(f"/footy/clips/{name}?v=0")).headers["cache-control"]
    picture = await stranger.get("/footy/clips/share.jpg")
    assert picture.content == poster()
    assert picture.headers["content-type"] == "image/jpeg"


async def test_a_folder_has_no_link_of_its_own_so_the_film_comes_from_us(
    day: MatchDay, stranger: httpx.AsyncClient
) -> None:
    await day.clip(await one_goal(day), "share")
    assert (await stranger.get("/footy/clips/share.mp4?direct=1")).content == film()


async def test_whoever_has_the_link_sees_the_clip_and_nothing_else(day: MatchDay, stranger: httpx.AsyncClient) -> None:
    event_id = await one_goal(day)
    await day.clip(event_id, "share")
    page = await stranger.get("/footy/clips/share")
    assert page.status_code == 200
    assert "D. Szoboszlai" in page.text
    assert 'name="robots" content="noindex"' in page.text
    for path in ("/footy", "/footy/matches/1", f"/footy/goals/{event_id}", f"/footy/goals/{event_id}/why"):
        assert (await stranger.get(path)).status_code == 303, path
    for path in ("dates", "fixtures", "fixtures/1", f"goals/{event_id}", "search?q=Liverpool", "teams", "follow"):
        assert (await stranger.get(f"/api/footy/{path}")).status_code == 401, path


@pytest.mark.parametrize("suffix", ["", ".mp4", ".jpg"])
async def test_an_unknown_clip_is_not_found(stranger: httpx.AsyncClient, suffix: str) -> None:
    assert (await stranger.get(f"/footy/clips/nothing{suffix}")).status_code == 404


async def test_a_disallowed_goal_is_gone_everywhere_and_says_so(day: MatchDay, reader: httpx.AsyncClient) -> None:
    event_id = await one_goal(day)
    await day.clip(event_id, "share")
    await day.change_goal(event_id, removed_at=day.now)
    gone = await reader.get(f"/footy/goals/{event_id}")
    assert gone.status_code == 410
    assert "disallowed" in gone.text
    assert 'href="/footy/matches/1"' in gone.text
    for suffix in ("", ".mp4", ".jpg"):
        assert (await reader.get(f"/footy/clips/share{suffix}")).status_code == 410
    answer = await reader.get(f"/api/footy/goals/{event_id}")
    assert (answer.status_code, answer.json()["error"]["code"]) == (410, "gone")
    for path in ("/footy", "/api/footy/fixtures/1", "/footy/search?q=Szoboszlai"):
        assert event_id not in (await reader.get(path)).text, path
    why = await reader.get(f"/footy/goals/{event_id}/why")
    assert why.status_code == 200
    assert "Disallowed" in why.text
    part = await reader.get(f"/footy/matches/1/live?goal={event_id}")
    assert part.status_code == 200
    assert "was disallowed" in part.text


async def test_the_timeline_strikes_out_what_was_taken_back(day: MatchDay, reader: httpx.AsyncClient) -> None:
    kept = await one_goal(day)
    await day.note(kept, Sighting.REATTRIBUTED, "D. Núñez, Liverpool, 23', Normal Goal, 1–0", "D. Szoboszlai")
    gone = await day.goal(1, "M. Salah", 57, removed_at=day.now, confirmed_at=day.now)
    never_confirmed = await day.goal(1, "A. Nobody", 60, removed_at=day.now, confirmed_at=None)
    page = (await reader.get("/footy/matches/1")).text
    assert "<del>D. Núñez</del>" in page
    assert '<del class="scorer">M. Salah</del>' in page
    assert f"/footy/goals/{gone}/why" in page
    assert never_confirmed not in page
    await day.change_goal(kept, removed_at=day.now)
    assert '<del class="scorer">D. Szoboszlai</del>' in (await reader.get("/footy/matches/1")).text


async def test_without_a_key_the_page_says_what_to_set_and_offers_the_demo(reader: httpx.AsyncClient) -> None:
    page = (await reader.get("/footy")).text
    assert 'href="/settings"' in page
    assert "pressbox demo" in page


async def test_an_empty_day_leads_to_the_next_one_with_matches(day: MatchDay, reader: httpx.AsyncClient) -> None:
    await day.fixture(1, kickoff=datetime(2026, 3, 7, 23, 30, tzinfo=UTC), status="NS", stage="staging")
    page = (await reader.get("/footy/2026-03-05")).text
    assert 'href="/footy/2026-03-07"' in page
    # In Tokyo it is the eighth already.
    reader.cookies.set("pressbox_zone", "Asia/Tokyo")
    assert 'class="button" href="/footy/2026-03-08"' in (await reader.get("/footy/2026-03-05")).text
    assert "Liverpool" in (await reader.get("/footy/2026-03-08")).text
    assert "Liverpool" not in (await reader.get("/footy/2026-03-07")).text


@pytest.mark.parametrize("path", ["2026-13-01", "20261115", "tomorrow", "9999-12-31", "0001-01-01", "2026-11-15x"])
async def test_what_is_no_day_is_not_found(reader: httpx.AsyncClient, path: str) -> None:
    assert (await reader.get(f"/footy/{path}")).status_code == 404


async def test_a_goal_without_a_clip_says_how_far_the_search_is(day: MatchDay, reader: httpx.AsyncClient) -> None:
    event_id = await one_goal(day)
    await day.search(event_id, 1)
    await day.search(event_id, 3, "x-browser", failure="login expired")
    page = (await reader.get(f"/footy/goals/{event_id}")).text
    assert "attempt 3 of 15" in page
    assert "X does not answer: login expired." in page
    await day.candidate(event_id, outcome="wrong minute", reason="the clock shows 71")
    await day.candidate(event_id, outcome="filmed from a screen")
    await day.candidate(event_id, outcome="wrong minute", reason="the clock shows 70")
    await day.change_goal(
        event_id,
        search_ended="attempts exhausted",
        search_ended_at=day.now,
        completed_at=day.now,
        completion_reason="attempts exhausted, every download finished",
    )
    page = (await reader.get(f"/footy/goals/{event_id}")).text
    assert "No clip was found." in page
    assert "3 found: 2 wrong minute, 1 filmed from a screen." in page
    assert f'href="/footy/goals/{event_id}/why"' in page


async def test_the_trail_tells_who_saw_it_what_was_searched_and_what_became_of_each(
    day: MatchDay, reader: httpx.AsyncClient
) -> None:
    event_id = await one_goal(day)
    for number in range(3):
        await day.run(event_id, "monitor", f"monitor-scheduled-{number}")
    await day.note(event_id, "reattributed", "C. Gakpo", "D. Szoboszlai")
    for attempt in range(1, 21):
        await day.search(event_id, attempt, found=2 if attempt == 1 else 0)
    await day.run(event_id, "download", "download1-liverpool", finished_at=day.now, outcome="1 queued")
    await day.candidate(event_id, outcome="wrong minute", reason="the clock shows <71>")
    await day.clip(event_id, "share")
    page = (await reader.get(f"/footy/goals/{event_id}/why")).text
    for nothing in ("monitor-scheduled", "download1-liverpool"):
        assert nothing not in page, nothing
    # Twenty searches with one query are one row.
    assert page.count("Searched on") == 1
    for words in ("20×", "C. Gakpo → D. Szoboszlai", "2 found", "the clock shows &lt;71&gt;"):
        assert words in page, words
    assert "2 found: 1 stored, 1 wrong minute." in page or "2 found: 1 wrong minute, 1 stored." in page
    answer = (await reader.get(f"/api/footy/goals/{event_id}/audit?limit=1")).json()
    assert len(answer["candidates"]["items"]) == 1
    following = answer["candidates"]["after"]
    rest = (await reader.get(f"/api/footy/goals/{event_id}/audit?after={following}")).json()
    assert len(rest["candidates"]["items"]) == 1
    assert rest["candidates"]["after"] is None
    assert rest["summary"]


async def test_links_of_sources_are_links_only_when_they_lead_to_the_web(
    day: MatchDay, reader: httpx.AsyncClient
) -> None:
    event_id = await one_goal(day)
    await day.clip(event_id, "share", source_url="javascript:alert(1)")
    await day.candidate(event_id, outcome="stored", video_page_url="javascript:alert(2)")
    for path in (f"/footy/goals/{event_id}", f"/footy/goals/{event_id}/why", "/footy/clips/share"):
        assert 'href="javascript' not in (await reader.get(path)).text, path


async def test_the_api_lists_in_pages_and_never_gives_a_fingerprint(
    day: MatchDay, reader: httpx.AsyncClient, resources: Resources
) -> None:
    for number in range(1, 6):
        await day.fixture(number, f"Home {number}", f"Away {number}")
    await day.clip(await day.goal(1), "share", perceptual_hash=b"fingerprint")
    today = day.now.date()
    first = (await reader.get(f"/api/footy/fixtures?date={today}&limit=3")).json()
    second = (await reader.get(f"/api/footy/fixtures?date={today}&limit=3&after={first['after']}")).json()
    assert [item["fixture_id"] for item in (*first["items"], *second["items"])] == [1, 2, 3, 4, 5]
    assert second["after"] is None
    (clip,) = first["items"][0]["goals"][0]["clips"]
    assert clip["url"] == "/footy/clips/share.mp4"
    assert "fingerprint" not in str(first)
    assert "clips/1/" not in str(first), "keys of the store are ours"
    async with resources.database.unit_of_work() as work:
        assert await work.session.scalar(select(ClipRow.perceptual_hash)) == b"fingerprint"
    dates = (await reader.get(f"/api/footy/dates?around={today}&before=1&after=1")).json()
    assert [entry["fixtures"] for entry in dates] == [0, 5, 0]
    found = (await reader.get("/api/footy/search?q=home 2")).json()
    assert [item["fixture_id"] for item in found["fixtures"]["items"]] == [2]
    assert (await reader.get("/api/footy/search?q=szobo")).json()["goals"]["items"][0]["goal"]["fixture_id"] == 1
    assert (await reader.get("/api/footy/search?q=a")).status_code == 422
    assert (await reader.get("/api/footy/teams?limit=2")).json()["after"] is not None
    assert (await reader.get("/api/footy/fixtures?limit=0")).status_code == 422
    assert (await reader.get("/api/footy/fixtures/99")).status_code == 404


async def test_only_administrators_change_what_is_fetched_for_everybody(
    app: FastAPI, day: MatchDay, reader: httpx.AsyncClient
) -> None:
    await day.fixture(1)
    form = {"kind": "team", "id": "11", "name": "Liverpool"}
    assert (await reader.post("/footy/follow", data=form)).status_code == 303
    page = (await reader.get("/footy/follow")).text
    assert 'id="followed-team-11"' in page
    async with browsing(app, "member") as member:
        seen = await member.get("/footy/follow")
        assert seen.status_code == 200
        assert "Stop fetching" not in seen.text
        assert (await member.post("/footy/follow/stop", data=form)).status_code == 403
        assert (await member.post("/api/footy/follow", json={"kind": "team", "id": 5})).status_code == 403
        assert (await member.delete("/api/footy/follow/team/11")).status_code == 403
    assert (await reader.post("/footy/follow/remove", data=form)).status_code == 303
    assert 'id="followed-team-11"' not in (await reader.get("/footy/follow")).text
    made = await reader.post("/api/footy/follow", json={"kind": "league", "id": 2, "name": "Champions League"})
    assert made.status_code == 201
    assert any(entry["id"] == 2 for entry in made.json())
    assert "Stop fetching" in (await reader.get("/footy/follow")).text
    stopped = await reader.post("/footy/follow/stop", data={"kind": "league", "id": "39"})
    assert stopped.status_code == 303
    assert 'id="followed-league-39"' not in (await reader.get("/footy/follow")).text
    left = (await reader.delete("/api/footy/follow/league/2")).json()
    assert not any(entry["kind"] == "league" and entry["id"] == 2 for entry in left)


async def test_the_status_page_has_a_row_for_every_source_and_names_the_failing_one(
    day: MatchDay, resources: Resources
) -> None:
    await day.source("bluesky")
    await day.source("x-browser", "login expired")
    assert APP.health is not None
    parts = {part.name: part for part in await APP.health(resources)}
    assert parts["clips: bluesky"].state is HealthState.OK
    assert parts["clips: x-browser"].state is HealthState.WARNING
    assert "login expired" in parts["clips: x-browser"].detail
    assert "PRESSBOX_FOOTY_API_KEY" in parts["fixtures"].detail


async def test_trouble_with_a_match_is_shown_as_such(day: MatchDay, reader: httpx.AsyncClient) -> None:
    since = day.now - timedelta(minutes=5)
    await day.fixture(1, trouble="The API answered 503.", trouble_since=since)
    for path in ("/footy", "/footy/matches/1"):
        page = (await reader.get(path)).text
        assert "Not answered since" in page, path
        assert "The API answered 503." in page, path


async def test_a_match_tells_its_cards_substitutions_and_half_time(day: MatchDay, reader: httpx.AsyncClient) -> None:
    await day.fixture(1, home_goals=1, status="2H", elapsed=75)
    await day.goal(1)
    await day.happen(
        1,
        (31, "Card", "Yellow Card", "I. Konaté", ""),
        (60, "Card", "Red Card", "Rodri", ""),
        (62, "subst", "Substitution 1", "C. Gakpo", "D. Jota"),
        (70, "Goal", "Missed Penalty", "E. Haaland", ""),
        half_time="1-0",
    )
    page = (await reader.get("/footy/matches/1")).text
    record = page[page.index('id="record"') :]
    order = [
        record.index(word) for word in ("D. Szoboszlai", "I. Konaté", "half-time", "Rodri", "D. Jota", "E. Haaland")
    ]
    assert order == sorted(order)
    for words in ("Yellow card", "Red card", "Substitution", "misses a penalty"):
        assert words in record, words
    assert "<b>1–0</b>" in record
    await day.fixture(2, home_goals=0)
    assert 'id="record"' not in (await reader.get("/footy/matches/2")).text


async def test_clips_of_one_fate_are_one_decision(day: MatchDay, reader: httpx.AsyncClient) -> None:
    event_id = await one_goal(day)
    for number in range(40):
        await day.candidate(event_id, outcome="too short", reason=f"{number % 3}.1 seconds")
    await day.candidate(event_id, outcome="wrong minute", reason="its clock shows minute 75, not 23")
    await day.clip(event_id, "share")
    page = (await reader.get(f"/footy/goals/{event_id}/why")).text
    decisions = page[page.index('id="decisions"') : page.index('id="trail"')].split("<details")[1:]
    assert ["stored" in decisions[0], "too short" in decisions[1], "wrong minute" in decisions[2]] == [True] * 3
    assert len(decisions) == 3
    opened = [" open>" in decision.split("<summary")[0] for decision in decisions]
    assert opened == [True, False, True], "what was refused forty times is folded"
    assert 'href="/footy/clips/share"' in decisions[0]


async def test_at_half_time_the_state_is_said_once(day: MatchDay, reader: httpx.AsyncClient) -> None:
    await day.fixture(1, status="HT", elapsed=45)
    for path in ("/footy/matches/1", f"/footy/{day.now.date()}"):
        page = (await reader.get(path)).text
        assert 'data-state="live">half-time</span>' in page, path
        assert ">HT<" not in page, path
    await day.change(1, status="2H", elapsed=63)
    assert '<b class="minute">63′</b>' in (await reader.get("/footy/matches/1")).text


async def test_each_match_says_its_round_where_a_day_has_several(day: MatchDay, reader: httpx.AsyncClient) -> None:
    await day.fixture(1, round="Round of 16")
    path = f"/footy/{day.now.date()}"
    assert "England · Round of 16" in (await reader.get(path)).text
    await day.fixture(2, round="Quarter-finals")
    page = (await reader.get(path)).text
    assert "· Round of 16" not in page
    assert page.index("Round of 16") < page.index("fixture-2") < page.index("Quarter-finals")


async def test_a_list_tells_how_a_shoot_out_ended_unless_scores_are_hidden(
    day: MatchDay, reader: httpx.AsyncClient
) -> None:
    await day.fixture(1, status="PEN", stage="completed", home_goals=1, away_goals=1)
    await day.change(1, home_penalties=4, away_penalties=2)
    for path in (f"/footy/{day.now.date()}", "/footy/search?q=Liverpool"):
        page = " ".join((await reader.get(path)).text.split())
        assert "4–2 pens" in page, path
    for path in ("/", "/search?q=Liverpool"):
        assert "Liverpool 1–1 (4–2) Man City" in (await reader.get(path)).text, path
    german = {"Accept": "text/html", "Accept-Language": "de"}
    assert "4–2 i. E." in " ".join((await reader.get(f"/footy/{day.now.date()}", headers=german)).text.split())
    assert (await reader.put("/api/spoilers", json={"mode": "hidden"})).status_code == 204
    assert "4–2 pens" not in " ".join((await reader.get(f"/footy/{day.now.date()}")).text.split())
    assert "(4–2)" not in (await reader.get("/search?q=Liverpool")).text


async def test_a_cancelled_match_is_called_off_in_german(day: MatchDay, reader: httpx.AsyncClient) -> None:
    await day.fixture(1, status="CANC", stage="completed")
    german = {"Accept": "text/html", "Accept-Language": "de"}
    assert ">abgesagt<" in (await reader.get("/footy/matches/1", headers=german)).text
    assert ">cancelled<" in (await reader.get("/footy/matches/1")).text
