"""The graph as a person walks through it: a picture of links, and who says so."""

import pytest

from pressbox.curator.context.activities import ContextSource
from pressbox.curator.context.domain import ContextMethod as Method
from pressbox.curator.context.domain import Entity, EntityKind, EntryContext
from pressbox.curator.context.domain import Relationship as Statements
from pressbox.curator.graph.activities import GraphDocument
from pressbox.curator.graph.store import PostgresGraph, SqlGraphQueue
from tests.browser.conftest import DESKTOP, PHONE, SCREENSHOTS, OpenPage, Site, arrived, has_no_sideways_scroll
from tests.browser.test_looks import LARGEST_PAGE, OVERLAPS
from tests.fakes.newsstand import Newsstand

pytestmark = pytest.mark.browser

IN_SIGHT = "one => one.getBoundingClientRect().top > 0 && one.getBoundingClientRect().bottom <= innerHeight"
LEMONS = "The Harbour Ferry carries lemons to the outer islands, as it has since 1921."
FAR = "".join(f"<p>Line {number} of a long article.</p>" for number in range(80))


async def plant(stand: Newsstand, *, long_lists: bool = True) -> None:
    """Two articles that agree on a ferry, and one that names much beside it."""
    gazette = await stand.feed("The Harbour Gazette")
    notes = await stand.feed("Notes from the Workshop")
    ferry = Entity("Harbour Ferry", EntityKind.PRODUCT, "A ferry to the outer islands.", LEMONS)
    islands = Entity("Outer Islands", EntityKind.PLACE, quote=LEMONS)
    guild = Entity("Captains' Guild of the Northern and Outer Islands", EntityKind.ORGANISATION)
    people = [Entity(name, EntityKind.PERSON) for name in ("Example Captain", "A. Writer")]
    relations = (
        Statements("Harbour Ferry", "Outer Islands", "sails to", LEMONS),
        Statements(
            "Captains' Guild of the Northern and Outer Islands", "Harbour Ferry", "is responsible for the safety of"
        ),
        Statements("Example Captain", "Harbour Ferry", "commands", "The captain has commanded the ferry for years."),
        Statements("Harbour Ferry", "横丁市場", "brings lemons to"),
        Statements("Example Captain", guild.name, "belongs to"),
    )
    market = Entity("横丁市場", EntityKind.ORGANISATION)
    many = [Entity(f"Thing number {number}", EntityKind.CONCEPT) for number in range(20 if long_lists else 1)]
    said = (
        (
            gazette,
            "The ferry that carries lemons",
            f"{FAR}<p>{LEMONS}</p>",
            (ferry, islands, market, guild, *people),
            relations,
        ),
        (gazette, "The ferry again", f"<p>{LEMONS}</p>", (ferry, islands), relations[:1]),
        (notes, "All that a ferry carries", "<p>Much.</p>", (ferry, *many), ()),
    )
    graph, queue = PostgresGraph(stand.resources.database), SqlGraphQueue(stand.resources.database)
    for number, (feed, title, body, entities, related) in enumerate(said):
        text = f"text {number}"
        entry_id = await stand.entry(feed, title, body, content_hash=text)
        source = ContextSource(entry_id, feed, title, "", text, "", "en", text)
        context = EntryContext(entry_id, text, Method.LLM, entities=entities, relationships=related)
        (added,) = await graph.add([GraphDocument(source, context)])
        await queue.mark_added({added.entry_id: added.content_hash}, stand.now)


async def test_a_person_walks_from_an_entity_to_its_neighbour_and_to_the_passage(
    open_page: OpenPage, site: Site, stand: Newsstand
) -> None:
    await plant(stand)
    page = await open_page(DESKTOP)
    await page.goto(f"{site.url}/reader")
    await page.locator(".sources a[href='/reader/graph']").click()
    await page.get_by_role("link", name="Harbour Ferry").click()
    await arrived(page, f"{site.url}/reader/graph/harbour%20ferry")
    picture = page.locator(".web > svg")
    assert await picture.locator(".web-spot").count() == 8
    await page.get_by_role("link", name="More neighbours").click()
    await page.wait_for_url("**neighbours=16#picture")
    assert await picture.locator(".web-spot").count() == 16
    # By keyboard alone: every node is a link, and one sees which has the focus.
    spot = picture.get_by_role("link", name="Outer Islands, place")
    await spot.focus()
    await page.keyboard.press("Tab")
    await page.keyboard.press("Shift+Tab")
    assert await spot.locator("rect").evaluate("one => getComputedStyle(one).strokeWidth") == "3.5px"
    await page.keyboard.press("Enter")
    await arrived(page, f"{site.url}/reader/graph/outer%20islands")
    assert "Harbour Ferry sails to Outer Islands" in await page.locator("#neighbours").inner_text()
    await page.locator("#neighbours blockquote a").first.click()
    await page.wait_for_url("**/reader/entries/**")
    quoted = page.locator(".article p", has_text="carries lemons to the outer islands")
    assert await quoted.count() == 1
    # Far below the beginning of the article, and yet in viewer.
    await page.wait_for_function(IN_SIGHT, arg=await quoted.element_handle())


async def test_the_graph_stands_in_both_schemes_and_widths_and_says_what_it_lacks(
    open_page: OpenPage, site: Site, stand: Newsstand
) -> None:
    SCREENSHOTS.mkdir(exist_ok=True)
    looks = (("light", "wide", DESKTOP, "en-GB"), ("dark", "phone", PHONE, "de-DE"))
    pages = [await open_page(size, color_scheme=scheme, locale=locale) for scheme, _, size, locale in looks]
    for page, (scheme, name, _, locale) in zip(pages, looks, strict=True):
        await page.goto(f"{site.url}/reader/graph")
        empty = "Der Graph ist leer." if locale == "de-DE" else "The graph is empty."
        assert empty in await page.locator("#graph").inner_text()
        await page.screenshot(path=SCREENSHOTS / f"reader-graph-empty-{scheme}-{name}.png", full_page=True)
    await plant(stand)
    for page, (scheme, name, _, _) in zip(pages, looks, strict=True):
        # It came while the page was open.
        await page.locator(".entities a").first.wait_for()
        paths = {
            "graph": "/reader/graph",
            "graph-nothing": "/reader/graph?q=nobody",
            "entity": "/reader/graph/harbour%20ferry",
            "entity-most": "/reader/graph/harbour%20ferry?neighbours=24",
        }
        for shown, path in paths.items():
            answer = await page.goto(f"{site.url}{path}")
            assert answer is not None
            assert len(await answer.body()) < LARGEST_PAGE
            await page.screenshot(path=SCREENSHOTS / f"reader-{shown}-{scheme}-{name}.png", full_page=True)
            assert await has_no_sideways_scroll(page), path
            assert await page.evaluate(OVERLAPS) == [], path
    phone = pages[1]
    await phone.goto(f"{site.url}/reader/graph/harbour%20ferry")
    words, picture = await phone.locator("#neighbours").bounding_box(), await phone.locator("#picture").bounding_box()
    assert words is not None
    assert picture is not None
    assert words["y"] < picture["y"], "on a phone the list comes first"
