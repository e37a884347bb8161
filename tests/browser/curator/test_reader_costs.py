"""What models cost, as people see it: the budget of today, the plot, and a reader that says what waits."""

import random
from datetime import timedelta

import pytest

from tests.browser.conftest import DESKTOP, PHONE, SCREENSHOTS, OpenPage, Site, has_no_sideways_scroll
from tests.browser.test_looks import OVERLAPS
from tests.fakes.newsstand import Newsstand

pytestmark = pytest.mark.browser

FEATURES = ("distil", "translate", "context", "rerank", "answer", "research", "evaluate", "graph")


async def test_costs_are_a_plot_by_purpose_and_day_in_both_schemes_and_widths(
    open_page: OpenPage, site: Site, stand: Newsstand
) -> None:
    chance = random.Random(7)
    sources = [await stand.feed(name) for name in ("The Harbour Gazette", "Notes from the Workshop")]
    for day in range(30):
        for feature in chance.sample(FEATURES, 4):
            at = stand.now - timedelta(days=day)
            await stand.paid(chance.choice([*sources, None]), chance.randrange(500, 9000), feature=feature, at=at)
    await stand.paid(sources[0], 200_000, feature="research")
    SCREENSHOTS.mkdir(exist_ok=True)
    for scheme, name, viewport, locale in (("light", "wide", DESKTOP, "en-GB"), ("dark", "phone", PHONE, "de-DE")):
        page = await open_page(viewport, color_scheme=scheme, reduced_motion="reduce", locale=locale)
        await page.goto(f"{site.url}/reader/costs")
        await page.screenshot(path=SCREENSHOTS / f"reader-costs-full-{scheme}-{name}.png", full_page=True)
        assert await has_no_sideways_scroll(page)
        assert await page.evaluate(OVERLAPS) == []
        bars = page.locator(".plot svg > g")
        assert await bars.count() == 30
        assert await page.locator(".plot-legend li").count() == len(FEATURES)
        colours = await page.locator(".plot-legend i").evaluate_all(
            "all => all.map(i => getComputedStyle(i).backgroundColor)"
        )
        assert len(set(colours)) == len(FEATURES)
        assert "PRESSBOX_SPENDING_TOKENS_PER_DAY" in await page.locator("#budget .notice").inner_text()
        words = await page.locator(".plot svg").get_attribute("aria-labelledby")
        assert words == "plot-name plot-words"
