"""What an article is about, as a person sees it: nothing yet, at work, found, failed; cards and links."""

from datetime import timedelta

import pytest

from pressbox.core.audiences.contracts import EVERYONE
from pressbox.core.progress.contracts import ProgressState, ProgressUpdate
from pressbox.core.progress.sink import store
from pressbox.curator.cards.contracts import CONTEXT_COLLECTION, context_collection_workflow_id
from pressbox.curator.cards.domain import EnrichmentKind, NewEnrichment
from pressbox.curator.cards.store import SqlEnrichments
from pressbox.curator.context.domain import (
    ContextLink,
    ContextMethod,
    Entity,
    EntityKind,
    EntryContext,
    Relationship,
)
from pressbox.curator.context.store import SqlContexts
from tests.browser.conftest import DESKTOP, PHONE, SCREENSHOTS, OpenPage, Site, has_no_sideways_scroll
from tests.browser.test_looks import LARGEST_PAGE, OVERLAPS
from tests.fakes.newsstand import Newsstand

pytestmark = pytest.mark.browser

BODY = "<p>Lanternfish 2.1 is an embedded database. Rahel Lindqvist keeps time series in it.</p>"
QUOTE = "Rahel Lindqvist keeps time series in it."
ATTACK = "<script>document.title = 'taken'</script>"


async def article(stand: Newsstand) -> int:
    feed = await stand.feed("The Harbour Gazette")
    return await stand.entry(feed, "A database that glows in the dark", BODY, content_hash="text")


def extract_context(entry_id: int) -> EntryContext:
    names = [
        Entity("Rahel Lindqvist", EntityKind.PERSON, "", QUOTE),
        Entity("Lanternfish", EntityKind.SOFTWARE, "an embedded database"),
        Entity("University of Tarnow", EntityKind.ORGANISATION),
        Entity(ATTACK, EntityKind.OTHER),
        *(Entity(f"Name number {number}") for number in range(12)),
    ]
    relations = [
        Relationship("Rahel Lindqvist", "Lanternfish", "mentioned with", QUOTE),
        *(Relationship("Lanternfish", f"Name number {number}", "mentioned with") for number in range(10)),
    ]
    links = [
        ContextLink(f"https://site-{number}.example.org/a/rather/long/path/{number}", f"Where number {number} is told")
        for number in range(40)
    ]
    return EntryContext(
        entry_id, "text", ContextMethod.OFFLINE, "", "1", "technology", "article", "en", tuple(names), tuple(relations),
        ("Lanternfish is an embedded database.", QUOTE), tuple(links),
    )  # fmt: skip


async def plant(stand: Newsstand, entry_id: int) -> int:
    database = stand.resources.database
    context, cards = extract_context(entry_id), SqlEnrichments(database)
    assert await SqlContexts(database).save(context, stand.now)
    facts = {
        "description": "A small embedded database for time series, with a query language of its own",
        "stars": 4812, "language": "Rust", "licence": "Apache-2.0", "topics": ["database", "time-series", "rust"],
        "pushed_at": "2026-11-10T08:15:00Z", "by": "rules", "archived": False,
    }  # fmt: skip
    readme = "<h2>Lanternfish</h2><p>A small database.</p>"
    repository = NewEnrichment(
        entry_id, EnrichmentKind.GITHUB, "lanternfish-db/lanternfish", "lanternfish-db/lanternfish",
        "https://github.com/lanternfish-db/lanternfish", readme, facts,
    )  # fmt: skip
    number = await cards.save(repository, stand.now)
    first, second = context.links[0].url, context.links[1].url
    await cards.save(
        NewEnrichment(entry_id, EnrichmentKind.LINK, first, "What was told", first, "<p>It was told.</p>"), stand.now
    )
    await cards.save(
        NewEnrichment(entry_id, EnrichmentKind.LINK, second, "", second, reason="The page is not there (404)."),
        stand.now,
    )
    assert number is not None
    return number


async def report(stand: Newsstand, entry_id: int, state: ProgressState, **words: object) -> None:
    workflow_id = context_collection_workflow_id(str(entry_id))
    detail = {"currentStep": words.get("step", "")}
    update = ProgressUpdate(
        workflow_id=workflow_id, run_id="run", workflow_type=CONTEXT_COLLECTION, task_queue="curator",
        parent_workflow_id=None, state=state, title="Context of articles", done=0, total=1,
        message=str(words.get("message", "")), error=str(words.get("error", "")), detail=detail,
 audience=EVERYONE,
 started_at=stand.now, updated_at=stand.now + timedelta(seconds=int(str(words.get("at", 0)))),
    )  # fmt: skip
    async with stand.resources.database.unit_of_work() as work:
        await store(work, [update])


async def test_what_an_article_is_about_comes_live_with_its_cards_and_a_card_goes_at_once(
    open_page: OpenPage, site: Site, stand: Newsstand
) -> None:
    entry_id = await article(stand)
    page = await open_page(DESKTOP)
    await page.goto(f"{site.url}/reader/entries/{entry_id}")
    await page.get_by_role("link", name="What it is about").click()
    await page.locator("#no-context").wait_for()
    await report(stand, entry_id, ProgressState.RUNNING, step="waiting", message="The model is away.", at=1)
    await page.get_by_text("The model is away.").wait_for()
    number = await plant(stand, entry_id)
    await page.locator("#names").wait_for()
    assert "Candidates found by rules" in await page.locator("#made-by").inner_text()
    assert ATTACK in await page.locator("#names-other").inner_text()
    assert "taken" not in await page.title()
    name = page.locator("#names-person a")
    assert await name.get_attribute("href") == "/reader/graph/rahel%20lindqvist"
    assert await page.locator(".link-list li").count() == 25
    await page.locator("#all-links a").click()
    await page.locator(".link-list li").nth(39).wait_for()
    assert "404" in await page.locator("#link-2").inner_text()
    await page.get_by_role("link", name="Read its README").click()
    await page.get_by_text("A small database.").wait_for()
    await page.go_back()
    await page.locator(f"#card-{number} button").click()
    await page.wait_for_url("**tab=enrichments")
    assert await page.locator("#repositories").count() == 0


async def test_the_tab_stands_in_both_schemes_and_widths_without_scripts_and_when_it_failed(
    open_page: OpenPage, site: Site, stand: Newsstand
) -> None:
    SCREENSHOTS.mkdir(exist_ok=True)
    entry_id = await article(stand)
    address = f"{site.url}/reader/entries/{entry_id}?tab=enrichments"
    wide = await open_page(DESKTOP, color_scheme="light", locale="en-GB")
    phone = await open_page(PHONE, color_scheme="dark", locale="de-DE")
    await wide.goto(address)
    await wide.screenshot(path=SCREENSHOTS / "reader-context-empty-light-wide.png", full_page=True)
    await plant(stand, entry_id)
    for page, name in ((wide, "light-wide"), (phone, "dark-phone")):
        answer = await page.goto(address)
        assert answer is not None
        assert len(await answer.body()) < LARGEST_PAGE
        await page.locator("#names").wait_for()
        await page.screenshot(path=SCREENSHOTS / f"reader-context-{name}.png", full_page=True)
        assert await has_no_sideways_scroll(page)
        assert await page.evaluate(OVERLAPS) == []
    await report(stand, entry_id, ProgressState.FAILED, error="The model gave an answer that cannot be used.", at=60)
    await phone.locator("#collect-failed").wait_for()
    await phone.screenshot(path=SCREENSHOTS / "reader-context-failed-dark-phone.png")
