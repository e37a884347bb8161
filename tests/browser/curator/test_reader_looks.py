"""How the reader looks: calm articles, small pages, nothing on top of anything else, in both schemes and widths."""

import pytest
from playwright.async_api import APIResponse, Page

from pressbox.curator.following.service import ArticleFollows
from pressbox.curator.library.subjects import FollowedKind
from tests.browser.conftest import DESKTOP, PHONE, SCREENSHOTS, OpenPage, Site, has_no_sideways_scroll
from tests.browser.test_looks import LARGEST_PAGE, OVERLAPS
from tests.fakes.newsstand import RICH, Newsstand

pytestmark = pytest.mark.browser


async def full_stand(stand: Newsstand) -> dict[str, int]:
    """Every state of a source and of an article at once."""
    papers, craft = await stand.category("Newspapers"), await stand.category("Craft and code")
    gazette = await stand.feed("The Harbour Gazette", category_id=papers)
    workshop = await stand.feed("Notes from the Workshop", category_id=craft)
    ill = await stand.feed("A source with quite a long name that does not fit", category_id=craft)
    alone = await stand.feed("横丁だより")
    await stand.failure(ill, "server error", "The server answered 503 three times in a row.", 503)
    rich = await stand.entry(
        gazette,
        "The ferry that carries lemons, letters and one dog",
        RICH,
        author="A. Writer",
        story_id=await stand.story("https://example.org/ferry"),
        summary="The ferry to the outer islands has run every morning since 1921. It carries the post, lemons and a "
        "dog that travels alone. The sea, its captain says, has no timetable.",
    )
    waiting = await stand.entry(
        workshop, "A plane iron, sharpened", "<p>From the feed.</p>", summary="", distil_state="waiting"
    )
    unfetched = await stand.entry(
        workshop, "What the page would not give", fetch_state="failed", fetch_reason="The page answered 403."
    )
    japanese = await stand.entry(
        alone, "路地裏の小さな店", "<p>朝の市場は静かだった。</p>", language="ja", summary="朝の市場は静かだった。"
    )
    for number in range(30):
        await stand.entry(gazette, f"Harbour notes, number {number}, with a title of a usual length")
    return {"rich": rich, "waiting": waiting, "unfetched": unfetched, "japanese": japanese, "ill": ill, "fine": gazette}


async def test_pages_of_the_reader_stand_in_both_schemes_and_widths(
    open_page: OpenPage, site: Site, stand: Newsstand
) -> None:
    ids = await full_stand(stand)
    await stand.paid(ids["fine"], 12_000)
    await ArticleFollows(site.resources.database).follow(stand.user_id, FollowedKind.FEED, ids["fine"])
    paths = {
        "list": "/reader",
        "sources-pane": "/reader?pane=sources",
        "article": f"/reader/entries/{ids['rich']}",
        "unfetched": f"/reader/entries/{ids['unfetched']}",
        "ill-list": f"/reader?list=feed&id={ids['ill']}",
        "told-list": f"/reader?list=feed&id={ids['fine']}",
        "search": "/reader?list=all&q=harbour",
        "sources": "/reader/sources",
        "feed": f"/reader/feeds/{ids['ill']}",
        "add": "/reader/add",
        "import": "/reader/import",
        "costs": "/reader/costs",
    }
    SCREENSHOTS.mkdir(exist_ok=True)
    looks = (("light", "wide", DESKTOP, "en-GB"), ("dark", "phone", PHONE, "de-DE"))
    for scheme, name, viewport, locale in looks:
        page = await open_page(viewport, color_scheme=scheme, reduced_motion="reduce", locale=locale)
        # Side by side three panes are one page.
        for shown, path in paths.items() if viewport is PHONE else list(paths.items())[2:]:
            await page.goto(f"{site.url}{path}")
            await page.screenshot(path=SCREENSHOTS / f"reader-{shown}-{scheme}-{name}.png", full_page=True)
            assert await has_no_sideways_scroll(page), path
            assert await page.evaluate(OVERLAPS) == [], path


async def test_an_empty_reader_says_what_to_paste(open_page: OpenPage, site: Site, stand: Newsstand) -> None:
    for scheme, name, viewport, locale in (("light", "wide", DESKTOP, "en-GB"), ("dark", "phone", PHONE, "de-DE")):
        page = await open_page(viewport, color_scheme=scheme, locale=locale)
        await page.goto(f"{site.url}/reader")
        await page.screenshot(path=SCREENSHOTS / f"reader-empty-{scheme}-{name}.png", full_page=True)
        assert await page.locator("#f-first").is_visible()
        assert "pressbox demo" in await page.locator("#nothing").inner_text()
        assert await has_no_sideways_scroll(page)


async def test_a_full_reader_is_a_small_page(page: Page, site: Site, stand: Newsstand) -> None:
    ids = await full_stand(stand)
    for number in range(60):
        await stand.feed(f"Source number {number} of many")
    await page.goto(f"{site.url}/reader")
    sheets = await page.locator('link[rel="stylesheet"]').evaluate_all("all => all.map(one => one.href)")
    styles = sum([transferred(await page.request.get(sheet)) for sheet in sheets])
    paths = ("/reader", f"/reader?list=feed&id={ids['fine']}", "/reader?list=all&sort=oldest", "/reader/sources")
    sizes = {path: styles + transferred(await page.request.get(f"{site.url}{path}")) for path in paths}
    assert {path: size for path, size in sizes.items() if size >= LARGEST_PAGE} == {}


def transferred(answer: APIResponse) -> int:
    """The bytes on the wire; what is not compressed would be four times as much."""
    assert answer.headers["content-encoding"] in ("gzip", "br")
    return int(answer.headers["content-length"])
