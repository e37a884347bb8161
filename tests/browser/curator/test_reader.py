"""The reader in a real browser: with keys only, by thumb, without scripts, and while articles are on their way."""

import re

import pytest
from playwright.async_api import Page, Route, expect

from pressbox.core.accounts.models import Role
from pressbox.curator.search.embedders import BUNDLED_MODEL
from tests.browser.conftest import PHONE, OpenPage, Site, Watch, Work, arrived, has_no_sideways_scroll
from tests.fakes.newsstand import RICH, Newsstand
from tests.waiting import until

pytestmark = pytest.mark.browser

PASSWORD = "four words in a row"


async def plant(stand: Newsstand, count: int = 5) -> tuple[int, list[int]]:
    feed_id = await stand.feed("The Harbour Gazette")
    return feed_id, [await stand.entry(feed_id, f"Article {number}") for number in range(count)]


async def titles(page: Page) -> list[str]:
    return await page.locator(".entry-title").all_inner_texts()


async def open_reader(page: Page, site: Site, path: str = "/reader") -> None:
    await page.goto(f"{site.url}{path}")


async def has_opened(page: Page, entry_id: int) -> None:
    await expect(page.locator("article.paper")).to_have_attribute("data-entry", str(entry_id))
    await expect(page.locator(f"#entry-{entry_id}")).to_have_attribute("data-read", "")


async def test_read_only_with_the_keyboard_next_open_star_mark_up_label_search_all_read(
    page: Page, site: Site, stand: Newsstand
) -> None:
    _, ids = await plant(stand)
    await page.context.route("https://example.org/**", lambda route: route.fulfill(body="the original"))
    await open_reader(page, site)
    keys = page.keyboard
    await keys.press("j")
    await has_opened(page, ids[0])
    await keys.press("j")
    await has_opened(page, ids[1])
    await expect(page).to_have_url(re.compile(rf"/reader/entries/{ids[1]}\?"))
    async with page.context.expect_page() as opened:
        await keys.press("v")
    assert (await opened.value).url.startswith("https://example.org/articles/")
    await (await opened.value).close()
    await keys.press("k")
    await expect(page.get_by_role("heading", level=1, name="Article 0")).to_be_visible()
    await keys.press("n")
    await keys.press("n")
    await expect(page.locator(f"#entry-{ids[2]}")).to_have_attribute("data-chosen", "")
    await expect(page.locator(f"#entry-{ids[2]}")).not_to_have_attribute("data-read", "")
    await keys.press("f")
    await expect(page.locator(f"#entry-{ids[2]}")).to_have_attribute("data-starred", "")
    await keys.press("o")
    await has_opened(page, ids[2])
    await expect(page.get_by_role("button", name="Star")).to_have_attribute("aria-pressed", "true")
    await keys.press("u")
    await expect(page.get_by_role("button", name="More", exact=True)).to_have_attribute("aria-pressed", "true")
    await keys.press("d")
    await expect(page.get_by_role("button", name="Less")).to_have_attribute("aria-pressed", "true")
    await expect(page.get_by_role("button", name="More", exact=True)).to_have_attribute("aria-pressed", "false")
    await keys.press("m")
    await expect(page.locator(f"#entry-{ids[2]}")).not_to_have_attribute("data-read", "")
    await keys.press("l")
    await keys.type("ferries")
    await keys.press("Enter")
    await expect(page.locator(".label-chip")).to_have_text("ferries")
    await expect(page.get_by_role("link", name="ferries 1")).to_be_visible()
    await page.locator("body").click(position={"x": 5, "y": 500})
    await keys.press("g")
    await keys.press("f")
    await arrived(page, re.compile(r"list=starred"))
    assert await titles(page) == ["Article 2"]
    await keys.press("g")
    await keys.press("l")
    await arrived(page, re.compile(r"list=all"))
    await expect(page.locator(".entry")).to_have_count(5)
    await keys.press("g")
    await keys.press("n")
    await arrived(page, re.compile(r"/reader$"))
    await keys.press("A")
    await expect(page.get_by_text("You are all caught up.")).to_be_visible()
    await page.wait_for_load_state()
    await keys.press("z")
    await expect(page.locator(".entry")).to_have_count(3)
    await page.wait_for_load_state()
    await keys.press("?")
    await expect(page.get_by_role("dialog")).to_contain_text("Mark all of this list as read")
    await keys.press("Escape")
    await keys.press("/")
    await expect(page.locator("main [data-seek]")).to_be_focused()


async def test_other_keys_can_be_chosen(page: Page, site: Site, stand: Newsstand) -> None:
    _, ids = await plant(stand)
    await page.goto(f"{site.url}/reader/keys")
    await page.get_by_label("Next article").fill("x")
    await page.get_by_role("button", name="Save").click()
    await expect(page.get_by_role("status").filter(has_text="Saved.")).to_be_visible()
    await open_reader(page, site)
    await page.keyboard.press("j")
    await page.keyboard.press("x")
    await has_opened(page, ids[0])
    await expect(page.locator(f"#entry-{ids[1]}")).not_to_have_attribute("data-read", "")


async def test_what_was_read_in_this_view_stays_in_place_until_the_view_changes(
    page: Page, site: Site, stand: Newsstand
) -> None:
    feed_id, ids = await plant(stand)
    await open_reader(page, site)
    await page.locator(f"#entry-{ids[1]} a").click()
    await has_opened(page, ids[1])
    # The whole page anew with the same list, and a change that makes the list be read again: it is still there.
    await page.reload()
    await expect(page.locator(".entry")).to_have_count(5)
    late = await stand.entry(feed_id, "Late news", published_at=stand.now)
    await expect(page.locator(f"#entry-{late}")).to_be_visible()
    await expect(page.locator(f"#entry-{ids[1]}")).to_have_attribute("data-read", "")
    await expect(page.locator(f"#entry-{ids[1]}")).to_have_attribute("data-chosen", "")
    await page.get_by_role("link", name="Unread").click()
    await expect(page.locator(f"#entry-{ids[1]}")).to_have_count(0)
    assert await titles(page) == ["Late news", "Article 0", "Article 2", "Article 3", "Article 4"]


async def test_opening_counts_down_and_another_window_hears_of_it(
    open_page: OpenPage, site: Site, stand: Newsstand
) -> None:
    _, ids = await plant(stand)
    here, there = await open_page(), await open_page()
    for page in (here, there):
        await open_reader(page, site)
        await expect(page.locator(".sources [data-key=n]")).to_have_text("Unread5")
    await here.locator(f"#entry-{ids[0]} a").click()
    await has_opened(here, ids[0])
    for page in (here, there):
        await expect(page.locator(".sources [data-key=n]")).to_have_text("Unread4")
    await expect(there.locator(f"#entry-{ids[0]}")).to_have_attribute("data-read", "")


async def test_on_a_phone_by_thumb(open_page: OpenPage, site: Site, stand: Newsstand) -> None:
    _, ids = await plant(stand)
    page = await open_page(PHONE, has_touch=True)
    await open_reader(page, site)
    for target in await page.locator(".entry-line:visible, .to-panes a:visible, .acts-bar button:visible").all():
        box = await target.bounding_box()
        assert box is not None
        assert box["height"] >= 44, await target.inner_text()
    await page.locator(f"#entry-{ids[0]} a").tap()
    await has_opened(page, ids[0])
    await expect(page.locator(".pane-list")).to_be_hidden()
    await page.get_by_role("button", name="Star").tap()
    await expect(page.get_by_role("button", name="Star")).to_have_attribute("aria-pressed", "true")
    bar = await page.locator(".acts-bar").bounding_box()
    assert bar is not None
    assert bar["y"] > PHONE["height"] / 2, "within reach of a thumb"
    await page.get_by_role("link", name="Next article").tap()
    await expect(page.locator("article.paper")).to_have_attribute("data-entry", str(ids[1]))
    assert await has_no_sideways_scroll(page)
    await page.go_back()
    await page.get_by_role("link", name="← Unread").tap()
    await expect(page.locator(".pane-list")).to_be_visible()
    await page.get_by_role("link", name="Sources").tap()
    await page.get_by_role("link", name="The Harbour Gazette").tap()
    await expect(page.get_by_role("heading", level=1)).to_have_text("The Harbour Gazette")


async def test_reading_starring_and_labels_work_without_scripts(
    open_page: OpenPage, site: Site, stand: Newsstand
) -> None:
    _, ids = await plant(stand)
    page = await open_page(java_script_enabled=False)
    for header in ({"Sec-Purpose": "prefetch"}, {"Sec-Fetch-Site": "cross-site"}):
        assert (await page.request.get(f"{site.url}/reader/entries/{ids[4]}", headers=header)).ok
    await page.goto(f"{site.url}/reader")
    await expect(page.locator(f"#entry-{ids[4]}")).not_to_have_attribute("data-read", "")
    await page.get_by_role("link", name="Article 0").click()
    await expect(page.get_by_role("heading", level=1, name="Article 0")).to_be_visible()
    await expect(page.locator(f"#entry-{ids[0]}")).to_have_attribute("data-read", "")
    await page.get_by_role("button", name="Star").click()
    await expect(page.get_by_role("button", name="Star")).to_have_attribute("aria-pressed", "true")
    await page.get_by_label("New label").fill("kept")
    await page.get_by_label("New label").press("Enter")
    await expect(page.locator(".label-chip")).to_have_text("kept")
    await page.get_by_text("Note", exact=True).click()
    await page.get_by_label("Note", exact=True).fill("Read it again.")
    await page.get_by_role("button", name="Save the note").click()
    await expect(page.get_by_label("Note", exact=True)).to_have_value("Read it again.")
    await page.get_by_role("link", name="Next article").click()
    await expect(page.get_by_role("heading", level=1, name="Article 1")).to_be_visible()
    await expect(page.locator(".entry")).to_have_count(5)


async def test_summaries_appear_one_by_one_while_the_count_goes_on_also_after_a_reload(
    page: Page, site: Site, stand: Newsstand, work: Work
) -> None:
    feed_id = await stand.feed("The Harbour Gazette")
    path = f"/reader?list=feed&id={feed_id}"
    ids = [await stand.entry(feed_id, f"Article {number}", summary="", distil_state="waiting") for number in range(5)]

    async def report(fetched: int, distilled: int) -> None:
        counts = {"contentsFetched": fetched, "entriesDistilled": distilled, "totalEntries": 5}
        await work.report(
            f"ingest-feed-{feed_id}",
            workflow_type="SingleFeedIngestionWorkflow",
            detail={"feedId": feed_id, "feedName": "The Harbour Gazette", **counts},
        )

    await report(3, 1)
    await open_reader(page, site, path)
    await expect(page.locator("#works")).to_contain_text("fetch 3/5 · summarise 1/5")
    await page.evaluate("window.here = true")
    await stand.change(ids[0], summary="The first summary.", distil_state="distilled")
    await expect(page.locator(f"#entry-{ids[0]} .entry-gist")).to_have_text("The first summary.")
    await report(3, 2)
    await expect(page.locator("#works")).to_contain_text("fetch 3/5 · summarise 2/5")
    assert await page.evaluate("window.here") is True
    await page.reload()
    await expect(page.locator("#works")).to_contain_text("fetch 3/5 · summarise 2/5")
    await page.locator(f"#entry-{ids[1]} a").click()
    await expect(page.get_by_text("The summary is on its way.")).to_be_visible()
    await stand.change(ids[1], summary="The second summary.", distil_state="distilled", distil_model="example-7b")
    await expect(page.locator(".gist")).to_contain_text("The second summary.")
    await expect(page.locator(".gist")).to_contain_text("written by example-7b")
    await report(5, 5)
    await work.report(f"ingest-feed-{feed_id}", workflow_type="SingleFeedIngestionWorkflow", state="completed")
    await expect(page.locator("#works")).to_be_empty()


async def test_article_pages_of_any_publisher_look_calm_and_pictures_can_be_switched_off(
    page: Page, site: Site, stand: Newsstand, watch: Watch
) -> None:
    feed_id = await stand.feed("The Harbour Gazette")
    picture = '<p><img src="https://pictures.example.org/one.png" alt="One" loading="lazy"></p>'
    entry_id = await stand.entry(feed_id, "Everything at once", RICH + picture)
    shown: list[str] = []

    async def give(route: Route) -> None:
        shown.append(route.request.url)
        await route.fulfill(body="<svg xmlns='http://www.w3.org/2000/svg'/>", content_type="image/svg+xml")

    await page.context.route(lambda address: "/reader/pictures/" in address or "example.org" in address, give)
    await open_reader(page, site, f"/reader/entries/{entry_id}")
    column = await page.locator(".article").bounding_box()
    assert column is not None
    for kind in ("table", "pre", "figure img"):
        box = await page.locator(f".article {kind}").first.bounding_box()
        assert box is not None
        assert box["width"] <= column["width"] + 1, kind
    wide = "e => e.scrollWidth > e.clientWidth && getComputedStyle(e).overflowX === 'auto'"
    assert await page.locator(".article table").evaluate(wide), "a wide table scrolls inside"
    assert await page.locator(".article pre").evaluate(wide), "so does code"
    assert await has_no_sideways_scroll(page)
    # A letter of a serif is a little less than half as wide as it is high.
    letters = "e => e.clientWidth / parseFloat(getComputedStyle(e).fontSize) / 0.45"
    assert 60 <= await page.locator(".article > p").first.evaluate(letters) <= 80
    await page.locator(".article sup a").click()
    await expect(page.locator("#note-1")).to_be_in_viewport()
    # The article may be drawn again meanwhile, so each look scrolls to the picture that is there then.
    await page.wait_for_function("""() => {
        const picture = document.querySelector('.article img[alt=One]');
        picture?.scrollIntoView();
        return picture?.complete;
    }""")
    await until(lambda: shown, "the picture is asked for")
    (asked,) = shown
    assert asked.startswith(f"{site.url}/reader/pictures/"), "publishers do not learn who looks at their pictures"
    watch.expected = ("Content Security Policy",)
    await page.goto(f"{site.url}/reader/sources")
    await page.get_by_role("button", name="Stop loading pictures").click()
    await expect(page.get_by_text("This browser does not load pictures from publishers.")).to_be_visible()
    await open_reader(page, site, f"/reader/entries/{entry_id}")
    await expect(page.locator('.article img[alt="One"]')).to_be_hidden()
    assert shown == [asked], "switched off, none is asked for"


async def test_recommended_changes_when_articles_are_marked_up(page: Page, site: Site, stand: Newsstand) -> None:
    feed_id = await stand.feed("The Harbour Gazette")
    ids = [await stand.entry(feed_id, f"Article {number}") for number in range(20)]
    for number, entry_id in enumerate(ids):
        # Even ones are about the sea, odd ones about bread.
        await stand.vector(
            entry_id, BUNDLED_MODEL, *((1.0, 0.0, number / 100) if number % 2 else (0.0, 1.0, number / 100))
        )
    await open_reader(page, site, "/reader?list=all&sort=recommended")
    await expect(page.locator("#list-note")).to_contain_text("You have not marked anything yet")
    assert (await titles(page))[:4] == ["Article 0", "Article 1", "Article 2", "Article 3"]
    for entry_id in ids[10:20:2]:
        address, ours = f"{site.url}/reader/entries/{entry_id}/state", {"Origin": site.url}
        assert (await page.request.post(address, form={"preference": "1"}, headers=ours)).ok
    await page.reload()
    await expect(page.locator("#list-note")).to_have_count(0)
    first = [int(title.removeprefix("Article ")) for title in (await titles(page))[:5]]
    assert all(number % 2 == 0 for number in first), first


async def test_two_people_share_an_instance_and_their_states_are_apart(
    open_page: OpenPage, closed_site: Site, site: Site
) -> None:
    accounts = closed_site.accounts
    ada = await accounts.add_user("ada@example.org", PASSWORD, role=Role.ADMIN)
    ben = await accounts.add_user("ben@example.org", PASSWORD)
    stand = Newsstand(closed_site.resources, ada.id)
    feed_id, ids = await plant(stand)
    await stand.subscribe(ben.id, feed_id)
    pages = {}
    for name in ("ada", "ben"):
        page = await open_page()
        await page.goto(f"{closed_site.url}/reader")
        await page.get_by_label("E-mail").fill(f"{name}@example.org")
        await page.get_by_label("Password").fill(PASSWORD)
        await page.get_by_role("button", name="Sign in").click()
        await expect(page.locator(".entry")).to_have_count(5)
        pages[name] = page
    await pages["ada"].locator(f"#entry-{ids[0]} a").click()
    await has_opened(pages["ada"], ids[0])
    await pages["ada"].get_by_role("button", name="Star").click()
    await expect(pages["ada"].locator(".sources [data-key=f]")).to_have_text("Starred1")
    await pages["ben"].reload()
    await expect(pages["ben"].locator(f"#entry-{ids[0]}")).not_to_have_attribute("data-read", "")
    await expect(pages["ben"].locator(".sources [data-key=f]")).to_have_text("Starred")
    await pages["ben"].goto(f"{closed_site.url}/reader/feeds/{feed_id}")
    await expect(pages["ben"].get_by_text("Other people read this source too")).to_be_visible()


async def test_more_of_the_list_comes_while_scrolling_and_stays_when_something_changes(
    page: Page, site: Site, stand: Newsstand
) -> None:
    _, ids = await plant(stand, 40)
    await open_reader(page, site)
    await page.locator(f"#entry-{ids[14]}").scroll_into_view_if_needed()
    await expect(page.locator(f"#entry-{ids[29]}")).to_be_attached()
    await stand.change(ids[3], summary="Another summary.")
    await expect(page.locator(f"#entry-{ids[3]}")).to_contain_text("Another summary.")
    await expect(page.locator(f"#entry-{ids[29]}")).to_be_attached()
    shown = await titles(page)
    assert len(shown) == len(set(shown)) >= 30


async def test_a_source_in_trouble_says_why_and_when_it_is_tried_again(
    page: Page, site: Site, stand: Newsstand, watch: Watch
) -> None:
    watch.expected = ("422 (Unprocessable",)
    feed_id = await stand.feed("The Harbour Gazette")
    await page.goto(f"{site.url}/reader/sources")
    line = page.locator(f"#feed-{feed_id}")
    await expect(line).to_contain_text("fine")
    await stand.failure(feed_id, "rate limited", "It asked us to wait two hours.", 429)
    await expect(line).to_contain_text("asked us to wait")
    await line.get_by_role("link", name="The Harbour Gazette").click()
    await expect(page.locator("#trouble")).to_contain_text("It asked us to wait two hours.")
    await expect(page.locator("#trouble")).to_contain_text("Next try in 40 minutes")
    await expect(page.get_by_role("row", name="asked us to wait (429)")).to_be_visible()
    await page.get_by_role("button", name="Pause").click()
    await expect(page.locator("#health")).to_contain_text("paused")
    await page.get_by_role("button", name="Resume").click()
    await page.get_by_label("Or a new category").fill("Papers")
    await page.locator("#yours").get_by_role("button", name="Save").click()
    await expect(page.locator(".crumb")).to_contain_text("Papers")
    await page.get_by_label("Check every … minutes").fill("1")
    await page.locator("#settings").get_by_role("button", name="Save").click()
    await expect(page.get_by_role("alert")).to_contain_text("An interval lies between 15 minutes and 30 days.")


async def test_a_story_of_several_sources_is_one_line_that_names_them(page: Page, site: Site, stand: Newsstand) -> None:
    story = await stand.story("https://example.org/story")
    one, two = await stand.feed("The Harbour Gazette"), await stand.feed("The Weekly Digest")
    await stand.entry(one, "The ferry", story_id=story)
    await stand.entry(two, "The ferry", story_id=story)
    await open_reader(page, site)
    await expect(page.locator(".entry")).to_have_count(1)
    await page.locator(".entry a").click()
    await expect(page.get_by_role("heading", name="The same story elsewhere")).to_be_visible()
