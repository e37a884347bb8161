"""The digest in a browser: chosen, looked at, sent and read, wide and on a phone, in both colours."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from playwright.async_api import expect

from pressbox.core.notices.follows import PersonalFollows
from pressbox.curator.library.rows import EntryRow
from tests.browser.conftest import DESKTOP, PHONE, SCREENSHOTS, OpenPage, Site, has_no_sideways_scroll
from tests.browser.test_inbox import EMAIL, PASSWORD, sign_in
from tests.fakes.curator_rows import Rows
from tests.fakes.footy_day import MatchDay

pytestmark = pytest.mark.browser
TITLES = ("Glaciers of the Alps are growing again for the first time in a century", "A bridge", "Rain in the north")


async def fill(site: Site, user_id: int) -> None:
    now = datetime.now(UTC)
    ended: dict[str, Any] = {"status": "FT", "stage": "completed", "completed_at": now - timedelta(hours=1)}
    day = MatchDay(site.resources)
    await day.fixture(9, home_goals=2, away_goals=1, kickoff=now - timedelta(hours=4), **ended)
    await PersonalFollows(site.resources.database).follow(user_id, "footy.team.91", "Liverpool", "/footy")
    rows = Rows(site.resources.database)
    feeds = [await rows.feed(user_id, title=title) for title in ("The News", "The Post", "The Gazette")]
    seen = now - timedelta(hours=2)
    for feed, title in zip(feeds, TITLES, strict=True):
        times = {"published_at": seen, "first_seen_at": seen, "updated_at": seen}
        states = {"fetch_state": "fetched", "distil_state": "distilled"}
        summary = f"{title}, say those who measure it every autumn. Nobody knows why."
        await rows.add(EntryRow(feed_id=feed, guid=title, title=title, summary=summary, **times, **states))


async def test_a_digest_is_chosen_looked_at_sent_and_read(open_page: OpenPage, closed_site: Site) -> None:
    user = await closed_site.accounts.add_user(EMAIL, PASSWORD)
    await fill(closed_site, user.id)
    page = await sign_in(await open_page(), closed_site)
    await page.goto(f"{closed_site.url}/inbox")
    await page.get_by_role("link", name="Digest").click()
    await page.get_by_label("How often").select_option("daily")
    await page.get_by_label("Time zone").select_option("Europe/Berlin")
    await page.get_by_role("button", name="Save").click()
    await expect(page.get_by_text("The next one comes on")).to_be_visible()
    await page.get_by_role("link", name="Preview").click()
    await expect(page.get_by_role("link", name="Liverpool 2–1 Man City")).to_be_visible()
    await page.get_by_role("button", name="Send me one now").click()
    await expect(page.get_by_role("heading", name="Your digest")).to_be_visible()
    read = page.url
    await page.goto(f"{closed_site.url}/inbox")
    await page.get_by_role("link", name="Your daily digest is here.").click()
    await expect(page).to_have_url(read)
    for size, viewport in (("wide", DESKTOP), ("phone", PHONE)):
        await page.set_viewport_size(viewport)
        for scheme in ("light", "dark"):
            await page.emulate_media(color_scheme=scheme)
            for name, address in (("digest", f"{closed_site.url}/digest"), ("digest-issue", read)):
                await page.goto(address)
                await page.screenshot(path=SCREENSHOTS / f"{name}-{scheme}-{size}.png", full_page=True)
                assert await has_no_sideways_scroll(page), (address, size)
