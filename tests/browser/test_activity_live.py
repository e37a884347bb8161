"""The activity page while things happen: in place, in order, without a jump and without a gap."""

import re
from datetime import UTC, datetime, timedelta

import pytest
from playwright.async_api import Locator, Page, expect

from pressbox.core.live import slots
from pressbox.core.progress.contracts import ProgressState
from tests.browser.conftest import OpenPage, Site, Watch, Work

pytestmark = pytest.mark.browser


def node(page: Page, workflow_id: str) -> Locator:
    return page.locator(f'[data-workflow="{workflow_id}"]')


async def open_live(page: Page, site: Site) -> None:
    await page.goto(f"{site.url}/activity")
    await expect(page.locator("[data-live]")).to_have_text("Live.")


async def test_numbers_change_in_place_and_nothing_moves(page: Page, site: Site, work: Work) -> None:
    await work.report("ingest", "Ingesting 480 feeds", done=9, total=480)
    await work.report("backup", "Backing up", done=1)
    await open_live(page, site)
    bar, title = node(page, "ingest").locator(".bar span"), node(page, "backup").locator(".title")
    bar_before, title_before = await bar.bounding_box(), await title.bounding_box()
    await work.report("ingest", "Ingesting 480 feeds", done=480, total=480)
    await expect(bar).to_have_text("480 / 480")
    assert await node(page, "ingest").locator("progress").get_attribute("value") == "480"
    assert await bar.bounding_box() == bar_before
    assert await title.bounding_box() == title_before


async def test_new_work_arrives_under_its_parent_and_is_tinted_once(page: Page, site: Site, work: Work) -> None:
    await work.report("ingest", "Ingesting 2 feeds", total=2)
    await open_live(page, site)
    await work.report("feed-1", "example.org", parent_workflow_id="ingest", total=5)
    child = node(page, "ingest").locator('> [data-list="open"] > [data-workflow="feed-1"]')
    await expect(child).to_have_attribute("data-level", "1")
    await expect(child.locator("> .row")).to_have_class("row arrived")
    await expect(child.locator("> .row")).to_have_class("row")
    await expect(page.locator('[data-total="running"]')).to_have_text("2")
    await expect(page.locator("[data-pulse] b")).to_have_text("2")


async def test_a_child_that_comes_before_its_parent_finds_its_place(page: Page, site: Site, work: Work) -> None:
    await open_live(page, site)
    await expect(page.locator("[data-quiet]")).to_be_visible()
    await work.report("grandchild", parent_workflow_id="child")
    await work.report("child", parent_workflow_id="parent")
    await expect(node(page, "child")).to_have_attribute("data-level", "0")
    await expect(page.locator("[data-quiet]")).to_be_hidden()
    await work.report("parent")
    nested = page.locator('[data-tree] > ul > [data-workflow="parent"] > ul > [data-workflow="child"] > ul > li')
    await expect(nested).to_have_attribute("data-workflow", "grandchild")
    await expect(nested).to_have_attribute("data-level", "2")


async def test_failed_work_comes_first_with_its_reason_and_a_retry(page: Page, site: Site, work: Work) -> None:
    await work.report("quiet-one", "Quiet work")
    await work.report("broken-one", "Broken work")
    await open_live(page, site)
    await work.report("broken-one", "Broken work", state=ProgressState.FAILED, error="The disk is full. Free some.")
    first = page.locator('[data-tree] > [data-list="open"] > li').first
    await expect(first.locator(".title a")).to_have_text("Broken work")
    await expect(first.locator(".reason")).to_have_text("The disk is full. Free some.")
    await expect(first.get_by_role("button", name="Retry")).to_be_visible()
    await expect(page.locator('[data-total="failed"]')).to_have_text("1")
    await work.report("broken-one", "Broken work", done=1, total=3)
    await expect(first.locator(".state")).to_have_text("running")
    await expect(page.locator('[data-total="failed"]')).to_have_text("0")


async def test_finished_work_is_seen_ending_and_then_folds_away(page: Page, site: Site, work: Work) -> None:
    await work.report("tidy", "Cleaning up", done=5, total=6)
    await open_live(page, site)
    await work.report("tidy", "Cleaning up", done=6, total=6, state=ProgressState.COMPLETED)
    await expect(node(page, "tidy").locator(".state")).to_have_text("done")
    await expect(page.locator('[data-root-fold] [data-workflow="tidy"]')).to_have_count(1)
    await expect(node(page, "tidy")).to_be_hidden()
    await expect(page.locator("[data-root-fold] [data-fold-count]")).to_have_text("1")
    await page.keyboard.press("f")
    await expect(node(page, "tidy")).to_be_visible()


async def test_a_parent_with_a_failed_child_rises_and_stays_in_sight(page: Page, site: Site, work: Work) -> None:
    await work.report("parent", total=1)
    await work.report("calm", started_at=datetime.now(UTC))
    await work.report("child", parent_workflow_id="parent")
    await open_live(page, site)
    first = page.locator('[data-tree] > [data-list="open"] > li').first
    await expect(first).to_have_attribute("data-workflow", "calm")
    await work.report("child", parent_workflow_id="parent", state=ProgressState.FAILED, error="No answer.")
    await expect(first).to_have_attribute("data-workflow", "parent")
    await work.report("parent", total=1, done=1, state=ProgressState.COMPLETED)
    await expect(node(page, "parent").locator("> .row .state")).to_have_text("done")
    await page.wait_for_timeout(2_300)
    await expect(node(page, "child")).to_be_visible()


async def test_old_failures_fold_away_behind_what_runs(page: Page, site: Site, work: Work) -> None:
    failed = ProgressState.FAILED
    await work.report("alive", "Still running")
    await work.report_all([work.row(f"bad-{number}", state=failed, error="No answer.") for number in range(5)])
    await open_live(page, site)
    await expect(page.locator("[data-earlier]")).to_be_hidden()
    await work.report("bad-new", state=failed, error="No answer either.")
    opened = page.locator('[data-tree] > [data-list="open"] > li')
    await expect(opened.first).to_have_attribute("data-workflow", "bad-new")
    await expect(opened).to_have_count(6)
    await expect(opened.last).to_have_attribute("data-workflow", "alive")
    await expect(page.locator("[data-earlier] [data-fold-count]")).to_have_text("1")


async def test_a_browser_that_was_cut_off_says_so_and_misses_nothing(
    page: Page, site: Site, work: Work, watch: Watch
) -> None:
    watch.expected = (
        "ERR_CONNECTION_REFUSED",
        "ERR_INCOMPLETE_CHUNKED_ENCODING",
        "ERR_EMPTY_RESPONSE",
        "ERR_CONNECTION_RESET",
        # What the server was at when it was ended.
        f"500 (Internal Server Error) ({site.url}/api/activity/summary)",
    )
    await work.report("ingest", "Ingesting 5 feeds", done=1, total=5)
    await open_live(page, site)
    await site.stop()
    await expect(page.locator("[data-live]")).to_contain_text("reconnecting")
    await expect(page.locator("[data-live]")).to_have_class("stale")
    await work.report("ingest", "Ingesting 5 feeds", done=4, total=5)
    await work.report("meanwhile", "Begun while nobody looked")
    await site.start()
    await expect(page.locator("[data-live]")).to_have_text("Live.")
    await expect(node(page, "ingest").locator(".bar span")).to_have_text("4 / 5")
    await expect(node(page, "meanwhile")).to_be_visible()


async def test_cancel_asks_first(page: Page, site: Site, work: Work) -> None:
    await work.report("long", "A long piece of work")
    await open_live(page, site)
    await node(page, "long").get_by_role("link", name="Cancel").click()
    dialog = page.get_by_role("dialog")
    await expect(dialog).to_contain_text("A long piece of work")
    assert await dialog.locator("form").get_attribute("action") == "/activity/long/cancel"
    await dialog.get_by_role("button", name="Keep it running").click()
    await expect(dialog).to_be_hidden()


async def test_a_row_that_arrived_live_is_the_same_as_one_that_was_there(page: Page, site: Site, work: Work) -> None:
    await open_live(page, site)
    await work.report("a/b c", "Odd id & <title>", done=2, total=4, message="half of it")
    live = node(page, "a/b c")
    await expect(live).to_be_visible()
    await expect(live.locator("> .row")).to_have_class("row")
    script = 'row => row.outerHTML.replace(/\\s+/g, \' \').replace(/data-exact="1"|title="[^"]*"|>\\d+:\\d+</g, \'\')'
    arrived = await live.locator("> .row").evaluate(script)
    await page.reload()
    served = await node(page, "a/b c").locator("> .row").evaluate(script)
    assert _without_milliseconds(arrived) == _without_milliseconds(served)


def _without_milliseconds(markup: str) -> str:
    markup = re.sub(r"\.\d+(\+00:00|Z)", "Z", markup).replace("+00:00", "Z")
    return re.sub(r"\s+", "", markup)


async def test_reduced_motion_is_respected(open_page: OpenPage, site: Site, work: Work) -> None:
    page = await open_page(reduced_motion="reduce")
    await work.report("one")
    await open_live(page, site)
    await expect(page.locator("[data-pulse]")).to_have_attribute("data-running", "")
    animation = "getComputedStyle(document.querySelector('[data-pulse]'), '::before').animationName"
    assert await page.evaluate(animation) == "none"


async def test_without_room_for_another_stream_the_page_says_so_looks_by_itself_and_comes_back(
    page: Page, site: Site, work: Work, watch: Watch, monkeypatch: pytest.MonkeyPatch
) -> None:
    watch.expected = ("429 (Too Many Requests)",)
    monkeypatch.setattr(slots, "RETRY_AFTER", timedelta(seconds=1))
    assert site.app is not None
    state = site.app.state
    free = state.stream_slots
    state.stream_slots = slots.StreamSlots(slots.StreamLimits(per_address=0, in_all=1))
    try:
        await page.goto(f"{site.url}/activity")
        await expect(page.locator("[data-live]")).to_contain_text("Too many live pages are open.")
        await work.report("ingest", "Ingesting 480 feeds", done=9, total=480)
        await expect(node(page, "ingest")).to_be_visible()
    finally:
        state.stream_slots = free
    await expect(page.locator("[data-live]")).to_have_text("Live.")
    await work.report("ingest", "Ingesting 480 feeds", done=480, total=480)
    await expect(node(page, "ingest").locator(".bar span")).to_have_text("480 / 480")


async def test_a_row_without_progress_keeps_its_columns(page: Page, site: Site, work: Work) -> None:
    await work.report("counted", "Ingesting 2 feeds", done=1, total=2)
    await open_live(page, site)
    await work.report("bare", "Answering a question")
    await expect(node(page, "bare")).to_be_visible()
    for part in (".started", ".took", ".acts"):
        counted, bare = [await node(page, one).locator(part).bounding_box() for one in ("counted", "bare")]
        assert counted is not None
        assert bare is not None
        assert counted["x"] + counted["width"] == bare["x"] + bare["width"], part


async def test_work_that_arrives_is_called_as_the_page_speaks(open_page: OpenPage, site: Site, work: Work) -> None:
    await work.report("sources", "All sources", total=2)
    page = await open_page(locale="de-DE")
    await page.goto(f"{site.url}/activity")
    await expect(page.locator("[data-live]")).to_have_text("Live.")
    await expect(node(page, "sources").locator("> .row .title a")).to_have_text("Alle Quellen")
    await work.report("feed", "Articles of Hamburg, evenings", parent_workflow_id="sources", total=5)
    await work.report("sources", "All sources", done=1, total=2)
    await expect(node(page, "feed").locator(".title a")).to_have_text("Artikel von Hamburg, evenings")
    await expect(node(page, "sources").locator("> .row .bar span")).to_have_text("1 / 2")
    await expect(node(page, "sources").locator("> .row .title a")).to_have_text("Alle Quellen")
