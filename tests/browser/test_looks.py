"""How pages look: small, within the screen, nothing on top of anything else. Pictures are kept in `screenshots/`."""

import httpx
import pytest
from playwright.async_api import Page

from pressbox.core.progress.contracts import ProgressState
from tests.browser.conftest import DESKTOP, PHONE, SCREENSHOTS, OpenPage, Site, Work, has_no_sideways_scroll
from tests.waiting import PATIENCE_SECONDS

pytestmark = pytest.mark.browser

LARGEST_PAGE = 50_000
# As it travels, compressed, with its styles.
LARGEST_TRANSFER = 30_000
PAGES: tuple[str, ...] = ("/", "/activity", "/status", "/account", "/styleguide", "/footy", "/events", "/reader")
PAGES += ("/api/docs", "/api/docs/accounts", "/api/docs/activity", "/activity/ingest", "/search?q=feed")
PAGES += tuple(f"/api/docs/{group}" for group in ("events", "announcements", "subscriptions", "channels"))
PAGES += (
    "/events/new",
    "/events/channels",
    "/events/subscriptions",
    "/footy/follow",
    "/footy/search",
    "/reader/add",
    "/reader/import",
    "/reader/sources",
    "/reader/costs",
    "/reader/evaluations",
    "/reader/keys",
    "/styleguide/reader",
    "/api/docs/matches",
    "/api/docs/goals",
    "/api/docs/teams",
)

# Text of one element must not lie on text of another: ranges of text nodes, not boxes, so that padding may overlap.
# What is cut off by an edge or scrolled away is not seen, and a bar that floats is meant to.
OVERLAPS = """() => {
  const seen = [], walker = document.createTreeWalker(document.querySelector('main'), NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const node = walker.currentNode, range = document.createRange();
    const around = node.parentElement;
    if (!node.textContent.trim() || !around.checkVisibility() || around.closest('.visually-hidden')) continue;
    range.selectNodeContents(node);
    let clip = around, floats = around;
    while (floats && getComputedStyle(floats).position !== 'fixed') floats = floats.parentElement;
    if (floats) continue;
    while (clip && getComputedStyle(clip).overflow === 'visible') clip = clip.parentElement;
    const edge = clip?.getBoundingClientRect();
    for (const { left, top, right, bottom } of range.getClientRects()) {
      const box = edge && clip !== document.documentElement && clip !== document.body
        ? { left: Math.max(left, edge.left), top: Math.max(top, edge.top), right: Math.min(right, edge.right),
            bottom: Math.min(bottom, edge.bottom) } : { left, top, right, bottom };
      if (box.right > box.left && box.bottom > box.top) seen.push([node, box]);
    }
  }
  const found = [];
  for (let i = 0; i < seen.length; i++) for (let j = i + 1; j < seen.length && j < i + 60; j++) {
    const [a, one] = seen[i], [b, two] = seen[j];
    const wide = Math.min(one.right, two.right) - Math.max(one.left, two.left);
    const high = Math.min(one.bottom, two.bottom) - Math.max(one.top, two.top);
    if (a !== b && wide > 2 && high > 4) found.push(a.textContent.trim() + ' | ' + b.textContent.trim());
  }
  return found;
}"""

CLASSES = """() => [...document.styleSheets].flatMap(sheet => [...sheet.cssRules]).filter(rule => rule.selectorText)
  .flatMap(rule => rule.selectorText.match(/\\.[a-z-]+/g) ?? [])"""


async def fill(work: Work) -> None:
    failed, done = ProgressState.FAILED, ProgressState.COMPLETED
    await work.report_all(
        [
            work.row("ingest", "Ingesting 48 feeds", done=31, total=48, message="fetch 31/48 · distil 12/48"),
            work.row("one", "example.org", parent_workflow_id="ingest", done=3, total=5),
            work.row("two", "A feed with a name of many words and letters", parent_workflow_id="ingest", total=5),
            work.row("bad", "Rebuilding the index", state=failed, error="The disk is full.", total=9),
            *(work.row(f"done-{number}", "Cleaning up", done=6, total=6, state=done) for number in range(40)),
            *(work.row(f"feed-{number}", parent_workflow_id="ingest", state=done) for number in range(40)),
        ]
    )


async def count_transferred(url: str) -> int:
    """The bytes of an answer as they travel, compressed."""
    async with (
        httpx.AsyncClient(trust_env=False, timeout=PATIENCE_SECONDS, headers={"accept-encoding": "gzip"}) as client,
        client.stream("GET", url) as answer,
    ):
        assert answer.is_success
        return sum([len(part) async for part in answer.aiter_raw()])


async def test_every_page_with_its_styles_is_small(page: Page, site: Site, work: Work) -> None:
    await fill(work)
    await page.goto(f"{site.url}/")
    address = await page.locator('link[rel="stylesheet"]').first.get_attribute("href")
    styles = await count_transferred(f"{site.url}{address}")
    sizes = {path: styles + await count_transferred(f"{site.url}{path}") for path in PAGES}
    assert {path: size for path, size in sizes.items() if size >= LARGEST_TRANSFER} == {}


@pytest.mark.parametrize(("name", "viewport"), [("wide", DESKTOP), ("phone", PHONE)])
@pytest.mark.parametrize(("scheme", "locale"), [("light", "en-GB"), ("dark", "de-DE")])
async def test_the_styleguide_and_the_activity_page_stand_in_both_schemes_languages_and_widths(
    open_page: OpenPage, site: Site, work: Work, scheme: str, locale: str, name: str, viewport: dict[str, int]
) -> None:
    await fill(work)
    SCREENSHOTS.mkdir(exist_ok=True)
    page = await open_page(viewport, color_scheme=scheme, locale=locale, reduced_motion="reduce")
    for path in ("/styleguide", "/styleguide/reader", "/activity"):
        await page.goto(f"{site.url}{path}")
        await page.screenshot(path=SCREENSHOTS / f"{path[1:].replace('/', '-')}-{scheme}-{name}.png", full_page=True)
        assert await has_no_sideways_scroll(page), path
        assert await page.evaluate(OVERLAPS) == [], path


async def test_the_styleguide_shows_every_class_of_the_stylesheet(page: Page, site: Site, work: Work) -> None:
    await fill(work)
    named: set[str] = set()
    for path in ("/styleguide", "/styleguide/reader"):
        await page.goto(f"{site.url}{path}")
        named |= set(await page.evaluate(CLASSES))
    used: set[str] = set()
    for path in (*PAGES, "/nowhere-at-all"):
        text = await (await page.request.get(f"{site.url}{path}")).text()
        used |= {f".{name}" for part in text.split('class="')[1:] for name in part.split('"')[0].split()}
    # Given by scripts, or only on pages that need an account.
    elsewhere = {".address", ".arrived", ".stale", ".outside", ".steps", ".choices", ".skeleton", ".toasts"}
    assert named - used - elsewhere == set()


async def test_a_picture_shows_no_layout_shift(page: Page, site: Site, work: Work) -> None:
    await fill(work)
    await page.add_init_script(
        "window.shift = 0; new PerformanceObserver(list => list.getEntries().forEach(e => window.shift += e.value))"
        ".observe({type: 'layout-shift', buffered: true})"
    )
    for path in ("/", "/activity", "/status"):
        await page.goto(f"{site.url}{path}")
        await page.wait_for_timeout(700)
        assert await page.evaluate("window.shift") < 0.01, path
