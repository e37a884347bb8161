"""A match day in a real browser: everything that happens is seen without reloading, and clips play and seek."""

import re
from collections.abc import AsyncIterator
from typing import Any

import pytest
from playwright.async_api import Page, Response, expect

from tests.browser.conftest import DESKTOP, PHONE, SCREENSHOTS, OpenPage, Site, Watch, arrived, has_no_sideways_scroll
from tests.browser.test_looks import LARGEST_TRANSFER, OVERLAPS, count_transferred
from tests.fakes.footy_day import SECONDS, MatchDay, film

pytestmark = pytest.mark.browser


@pytest.fixture
async def day(site: Site) -> AsyncIterator[MatchDay]:
    day = MatchDay(site.resources)
    await day.clear()
    yield day
    await day.clear()


async def open_and_mark(page: Page, address: str) -> None:
    """A reload would lose the mark; and nothing is changed before the page listens."""
    await page.goto(address)
    await page.evaluate("window.here = true; window.arrived = []")
    await page.evaluate(
        "addEventListener('animationstart', e => e.animationName === 'arrive' && window.arrived.push(e.target.id))"
    )
    await expect(page.locator("[data-live]")).to_have_text("Up to date.")


async def not_reloaded(page: Page) -> bool:
    return await page.evaluate("window.here") is True


async def has_slid_in(page: Page, name: str) -> None:
    await page.wait_for_function("name => window.arrived.includes(name)", arg=name)


async def state(page: Page) -> dict[str, Any]:
    found: dict[str, Any] = await page.locator("video").evaluate(
        "v => ({time: v.currentTime, paused: v.paused, ended: v.ended, source: v.getAttribute('src'), muted: v.muted,"
        " duration: v.duration, mark: v.mark ?? null})"
    )
    return found


async def playing(page: Page) -> None:
    await page.wait_for_function("() => document.querySelector('video')?.currentTime > 0.05")


async def test_fixtures_go_live_goals_appear_and_a_match_ends_without_reloading(
    page: Page, site: Site, day: MatchDay
) -> None:
    await day.fixture(1, status="NS", stage="staging", home_goals=None, away_goals=None, elapsed=None)
    await day.fixture(2, "Brighton", "Leeds")
    await open_and_mark(page, f"{site.url}/footy/{day.now.date()}")
    row = page.locator("#fixture-1")
    await expect(row).to_contain_text("upcoming")
    await day.change(1, status="1H", stage="active", home_goals=0, away_goals=0, elapsed=3)
    await expect(row.locator(".state")).to_have_text("live")
    await expect(row.locator(".minute")).to_have_text("3′")
    event_id = await day.goal(1, confirmed_at=None, monitor_complete=False)
    await day.change(1, home_goals=1, elapsed=23)
    chip = page.locator(f'[id="goal-{event_id}"]')
    await expect(chip).to_contain_text("23′ D. Szoboszlai (being confirmed)")
    await has_slid_in(page, f"goal-{event_id}")
    await expect(row.locator(".score")).to_have_text("1–0")
    await day.change_goal(event_id, confirmed_at=day.now, monitor_complete=True)
    await expect(chip).to_contain_text("(searching)")
    await day.clip(event_id, "one")
    await expect(chip).to_contain_text("(1 clip)")
    await day.change_goal(event_id, player_name="C. Gakpo")
    await expect(chip).to_contain_text("C. Gakpo (1 clip)")
    await day.change(1, status="FT", stage="completed", completed_at=day.now)
    await expect(page.locator("#finished #fixture-1")).to_be_attached()
    await expect(page.locator("#finished > summary")).to_have_text("1 finished")
    await day.change(2, status="PST", stage="staging")
    await expect(page.locator("#fixture-2 .state")).to_have_text("postponed")
    assert await not_reloaded(page)


async def test_clips_arrive_and_change_their_order_without_reloading(page: Page, site: Site, day: MatchDay) -> None:
    await day.fixture(1, home_goals=1)
    event_id = await day.goal(1)
    await open_and_mark(page, f"{site.url}/footy/goals/{event_id}")
    await expect(page.locator("#no-clip")).to_be_visible()
    await day.clip(event_id, "one", rank=1)
    await expect(page.locator(".clip")).to_have_count(1)
    await day.clip(event_id, "two", rank=2)
    await expect(page.locator(".clip")).to_have_count(2)
    await has_slid_in(page, "clip-two")
    await day.change_clip(event_id, "one", rank=3)
    await day.change_clip(event_id, "two", rank=1, popularity=7, timestamp_verified=True)
    await expect(page.locator(".clip").first).to_have_id("clip-two")
    await expect(page.locator("#clip-two")).to_contain_text("found 7×")
    await expect(page.locator("#clip-two .badge")).to_have_text("verified")
    await expect(page.locator("[data-stage]")).to_have_attribute("data-shows", "two")
    assert await not_reloaded(page)


async def test_a_clip_plays_in_place_and_seeks(page: Page, site: Site, day: MatchDay) -> None:
    await day.fixture(1, home_goals=1)
    event_id = await day.goal(1)
    await day.clip(event_id, "one")
    asked: list[Response] = []
    page.on("response", lambda answer: asked.append(answer) if ".mp4" in answer.url else None)
    await open_and_mark(page, f"{site.url}/footy/matches/1")
    await page.locator("[data-stage] [data-play]").click()
    await playing(page)
    assert (await state(page))["duration"] == pytest.approx(SECONDS, abs=0.5)
    seeked = "v => new Promise(done => { v.onseeked = () => done(v.currentTime); v.currentTime = 6 })"
    assert await page.locator("video").evaluate(seeked) == pytest.approx(6, abs=0.2)
    assert {answer.status for answer in asked} == {206}
    assert await not_reloaded(page)


async def test_a_playing_clip_is_left_alone_by_everything_that_changes_around_it(
    page: Page, site: Site, day: MatchDay
) -> None:
    await day.fixture(1, home_goals=1)
    event_id = await day.goal(1)
    for rank, name in enumerate(("one", "two", "three"), start=1):
        await day.clip(event_id, name, rank=rank)
    await open_and_mark(page, f"{site.url}/footy/matches/1")
    await page.locator("#clip-two [data-play]").click()
    await playing(page)
    await page.locator("video").evaluate(
        "v => { v.mark = 'same'; v.loop = true; v.interrupted = 0; v.onpause = v.onemptied = () => v.interrupted++ }"
    )
    await day.change_clip(event_id, "two", rank=9, popularity=12)
    await expect(page.locator(".clip").last).to_have_id("clip-two")
    await day.clip(event_id, "four", rank=2)
    await expect(page.locator(".clip")).to_have_count(4)
    later = await day.goal(1, "H. Ekitike", 60, home_score=2)
    await day.clip(later, "other")
    await expect(page.locator(f'[id="goal-{later}"]')).to_contain_text("1 clip")
    await day.replace(event_id, "two", film(seed=2))
    better = page.get_by_role("button", name="A better copy has arrived")
    await expect(better).to_be_visible()
    await expect(page.locator("[data-stage] [data-words]")).to_contain_text("found 12×")
    now = await state(page)
    assert (now["mark"], now["paused"]) == ("same", False)
    assert await page.locator("video").evaluate("v => v.interrupted") == 0
    assert await page.locator("#clip-two").get_attribute("aria-current") is not None
    before = now["source"]
    await better.click()
    await expect(better).to_be_hidden()
    assert (await state(page))["source"] != before
    await playing(page)
    assert await not_reloaded(page)


async def test_a_better_copy_is_there_under_the_same_link(page: Page, site: Site, day: MatchDay) -> None:
    await day.fixture(1, home_goals=1)
    event_id = await day.goal(1)
    await day.clip(event_id, "one")
    await open_and_mark(page, f"{site.url}/footy/goals/{event_id}")
    await day.replace(event_id, "one", film(seed=2, width=640))
    await day.change_clip(event_id, "one", width=640, height=360)
    await expect(page.locator("#clip-one")).to_contain_text("640×360")
    await page.goto(f"{site.url}/footy/clips/one")
    await page.locator("video").evaluate("v => v.play()")
    await playing(page)
    assert await page.locator("video").evaluate("v => v.videoWidth") == 640


async def test_a_disallowed_goal_leaves_the_pages(open_page: OpenPage, site: Site, day: MatchDay, watch: Watch) -> None:
    await day.fixture(1, home_goals=2)
    kept, gone = await day.goal(1), await day.goal(1, "M. Salah", 40)
    await day.clip(gone, "one")
    listing, match = await open_page(), await open_page()
    await open_and_mark(listing, f"{site.url}/footy/{day.now.date()}")
    await open_and_mark(match, f"{site.url}/footy/goals/{gone}")
    await expect(match.locator(".clip")).to_have_count(1)
    await day.change_goal(gone, removed_at=day.now)
    await expect(listing.locator(f'[id="goal-{gone}"]')).to_have_count(0)
    await expect(match.locator(f'[id="goal-{gone}"] del.scorer')).to_have_text("M. Salah")
    for page in (listing, match):
        await expect(page.locator(f'[id="goal-{kept}"]')).to_be_visible()
        assert await not_reloaded(page)
    await expect(match.locator("#gone")).to_contain_text("(M. Salah) was disallowed")
    await expect(match.locator(".clip")).to_have_count(0)
    watch.expected = ("410 (Gone)",)
    await match.reload()
    await expect(match.get_by_role("heading", level=1)).to_have_text("Disallowed")
    await match.get_by_role("link", name="To the match").click()
    await expect(match.locator(f'[id="goal-{kept}"]')).to_be_visible()


async def test_the_film_obeys_the_keyboard(page: Page, site: Site, day: MatchDay) -> None:
    await day.fixture(1, home_goals=1)
    event_id = await day.goal(1)
    await day.clip(event_id, "one", rank=1)
    await day.clip(event_id, "two", rank=2)
    await page.goto(f"{site.url}/footy/matches/1")
    await page.keyboard.press("Space")
    await playing(page)
    assert "/one.mp4" in (await state(page))["source"]
    await page.keyboard.press("Space")
    assert (await state(page))["paused"]
    at = (await state(page))["time"]
    await page.keyboard.press("ArrowRight")
    assert (await state(page))["time"] == pytest.approx(at + 2, abs=0.1)
    await page.keyboard.press("ArrowLeft")
    assert (await state(page))["time"] == pytest.approx(at, abs=0.1)
    await page.keyboard.press("m")
    assert (await state(page))["muted"]
    await page.keyboard.press("n")
    await expect(page.locator("[data-stage]")).to_have_attribute("data-shows", "two")
    assert "/two.mp4" in (await state(page))["source"]
    await page.keyboard.press("p")
    await expect(page.locator("[data-stage]")).to_have_attribute("data-shows", "one")
    await page.keyboard.press("f")
    await page.wait_for_function("() => document.fullscreenElement?.tagName === 'VIDEO'")
    await page.keyboard.press("f")
    await page.wait_for_function("() => !document.fullscreenElement")
    await page.keyboard.press("?")
    dialog = page.get_by_role("dialog", name="Keyboard shortcuts")
    await expect(dialog).to_contain_text("Next and previous clip")
    await page.keyboard.press("Escape")
    await page.keyboard.press("g")
    await page.keyboard.press("m")
    await arrived(page, f"{site.url}/footy")
    await page.keyboard.press("n")
    await arrived(page, re.compile(r"/footy/\d{4}-\d\d-\d\d$"))
    await expect(page.locator(".day-strip [aria-current]")).not_to_contain_text("today")
    await page.keyboard.press("t")
    await expect(page.locator(".day-strip [aria-current]")).to_contain_text("today")


async def test_the_trail_answers_with_and_without_a_clip(page: Page, site: Site, day: MatchDay) -> None:
    await day.fixture(1, home_goals=2)
    with_clip, without = await day.goal(1), await day.goal(1, "M. Salah", 40)
    await day.clip(with_clip, "one")
    await day.candidate(with_clip, outcome="wrong minute", reason="the clock shows 71")
    await page.goto(f"{site.url}/footy/goals/{with_clip}")
    await page.get_by_role("link", name="Why these clips?").click()
    await expect(page.get_by_role("heading", level=1)).to_have_text("Why these clips?")
    await expect(page.locator("[data-answer]")).to_contain_text("2 found:")
    refused = page.locator(".decision", has_text="wrong minute")
    await expect(refused).to_contain_text("the clock shows 71")
    await day.search(without, 1, failure="login expired")
    await page.goto(f"{site.url}/footy/goals/{without}/why")
    await expect(page.get_by_role("heading", level=1)).to_have_text("Why is there no clip?")
    await expect(page.locator("[data-answer]")).to_contain_text("Bluesky does not answer: login expired.")


async def test_without_scripts_every_clip_is_a_link_to_its_own_page(
    open_page: OpenPage, site: Site, day: MatchDay
) -> None:
    await day.fixture(1, home_goals=1)
    await day.clip(await day.goal(1), "one")
    page = await open_page(java_script_enabled=False)
    await page.goto(f"{site.url}/footy/{day.now.date()}")
    await page.get_by_role("link", name="D. Szoboszlai").click()
    await page.locator("#clip-one [data-play]").click()
    await expect(page).to_have_url(f"{site.url}/footy/clips/one")
    await expect(page.locator("video")).to_be_visible()


async def full_day(day: MatchDay) -> str:
    """Every state of a fixture and a goal at once."""
    await day.fixture(1, "Liverpool", "Manchester City", home_goals=2, away_goals=1, elapsed=63, status="2H")
    await day.fixture(2, "Brighton & Hove Albion", "Wolverhampton Wanderers", status="HT", elapsed=45)
    nothing: dict[str, Any] = {"home_goals": None, "away_goals": None, "elapsed": None, "stage": "staging"}
    await day.fixture(3, "Arsenal", "Everton", status="NS", **nothing)
    await day.fixture(4, "Leeds", "Sunderland", trouble="The API answered 503.", trouble_since=day.now)
    league: dict[str, Any] = {"league_id": 78, "league_name": "Bundesliga", "country": "Germany"}
    await day.fixture(5, "Borussia Mönchengladbach", "1. FC Heidenheim", status="PST", **league, **nothing)
    await day.fixture(
        6, "Bayern", "Union", status="FT", stage="completed", home_goals=3, winner_id=61, completed_at=day.now, **league
    )
    best = await day.goal(1)
    for rank in range(1, 6):
        await day.clip(best, f"clip{rank}", rank=rank, popularity=9 - rank, timestamp_verified=rank < 3)
    await day.candidate(best, outcome="filmed from a screen")
    await day.search(best, 1, found=6)
    await day.goal(1, "E. Haaland", 41, home_score=1, away_score=1, team_name="Manchester City")
    await day.goal(1, "", 60, home_score=2, away_score=1, monitor_complete=False, confirmed_at=None)
    await day.goal(6, "H. Kane", 12, detail="Penalty", completed_at=day.now)
    return best


async def test_pages_of_matches_stand_in_both_schemes_and_widths(
    open_page: OpenPage, site: Site, day: MatchDay
) -> None:
    best = await full_day(day)
    paths = {
        "day": f"/footy/{day.now.date()}",
        "match": "/footy/matches/1",
        "why": f"/footy/goals/{best}/why",
        "clip": "/footy/clips/clip1",
        "follow": "/footy/follow",
        "search": "/footy/search?q=Liverpool",
        "empty": "/footy/2026-01-01",
    }
    SCREENSHOTS.mkdir(exist_ok=True)
    looks = (("light", "wide", DESKTOP, "en-GB"), ("dark", "phone", PHONE, "de-DE"))
    for scheme, name, viewport, locale in looks:
        page = await open_page(viewport, color_scheme=scheme, reduced_motion="reduce", locale=locale)
        for shown, path in paths.items():
            await page.goto(f"{site.url}{path}")
            await page.screenshot(path=SCREENSHOTS / f"footy-{shown}-{scheme}-{name}.png", full_page=True)
            assert await has_no_sideways_scroll(page), path
            assert await page.evaluate(OVERLAPS) == [], path


async def test_a_phone_has_targets_for_thumbs(open_page: OpenPage, site: Site, day: MatchDay) -> None:
    await full_day(day)
    page = await open_page(PHONE, has_touch=True)
    await page.goto(f"{site.url}/footy/{day.now.date()}")
    for target in await page.locator(".fixture-line:visible, .day-strip a:visible, .goal-chip:visible").all():
        box = await target.bounding_box()
        if box is not None:
            assert box["height"] >= 40, await target.text_content()
    await page.locator("#fixture-1 .fixture-line").tap()
    await page.locator("#clip-clip2 [data-play]").tap()
    await playing(page)


async def test_a_busy_day_and_a_rich_match_are_small_pages(page: Page, site: Site, day: MatchDay) -> None:
    best = await full_day(day)
    for number in range(10, 50):
        await day.fixture(number, f"Home of number {number}", f"Away of number {number}")
        for minute in (12, 45, 71):
            await day.goal(number, f"Scorer {minute}", minute)
    for rank in range(6, 12):
        await day.clip(best, f"clip{rank}", rank=rank)
    await page.goto(f"{site.url}/footy/{day.now.date()}")
    sheets = await page.locator('link[rel="stylesheet"]').evaluate_all("all => all.map(one => one.href)")
    styles = sum([await count_transferred(sheet) for sheet in sheets])
    for path in (f"/footy/{day.now.date()}", "/footy/matches/1", f"/footy/goals/{best}/why", "/footy/follow"):
        size = styles + await count_transferred(f"{site.url}{path}")
        assert size < LARGEST_TRANSFER, (path, size)
    await expect(page.locator(".fixture")).to_have_count(15)
    await page.locator("#finished a").click()
    await expect(page.locator("#finished #fixture-6")).to_be_attached()
