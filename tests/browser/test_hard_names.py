"""Every page with the longest and strangest names there are: nothing leaves the screen, its pane or its cell."""

from collections.abc import Sequence

import pytest
from playwright.async_api import Page

from tests.browser.conftest import DESKTOP, PHONE, OpenPage, Site, Watch
from tests.browser.full_site import fill
from tests.browser.hard_names import NAMES, UNBROKEN, rename_everything
from tests.browser.test_every_page import REFUSED, SIDEWAYS, sign_in

pytestmark = [pytest.mark.browser, pytest.mark.limit(600)]

# What stands beside the box that it belongs to: text over the edge of its block, a block over the edge of its pane, and
# text that is cut where nothing shows that more follows. What scrolls by itself may be as wide as it likes.
SPILLS = """() => {
  const found = new Set();
  const own = '.visually-hidden, .skip, .article, pre, svg, dialog:not([open]), template, script, style, title, option';
  const say = (what, element, by) => {
    const text = element.textContent.trim().replace(/\\s+/g, ' ').slice(0, 30);
    found.add(`${what} by ${Math.round(by)} px: <${element.localName} class="${element.className}"> ${text}`);
  };
  const style = new Map();
  const of = (element) => style.get(element) ?? style.set(element, getComputedStyle(element)).get(element);
  const over = (inner, outer) => Math.max(inner.right - outer.right, outer.left - inner.left);
  const scrolls = (element) => {
    for (let at = element; at && !at.matches('.pane, main, body'); at = at.parentElement)
      if (['auto', 'scroll'].includes(of(at).overflowX)) return true;
    return false;
  };
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  const range = document.createRange();
  const blocks = new Set();
  while (texts.nextNode()) {
    const node = texts.currentNode;
    const parent = node.parentElement;
    if (!node.data.trim() || parent.closest(own) || !parent.checkVisibility({ visibilityProperty: true })) continue;
    if (scrolls(parent)) continue;
    let block = parent;
    while (['inline', 'contents'].includes(of(block).display)) block = block.parentElement;
    blocks.add(block);
    range.selectNodeContents(node);
    const by = over(range.getBoundingClientRect(), block.getBoundingClientRect());
    if (by <= 1.5) continue;
    const shown = of(block).textOverflow === 'ellipsis' || of(block).webkitLineClamp !== 'none';
    if (of(block).overflowX === 'visible') say('text over its block', block, by);
    else if (!shown) say('text cut without a sign', block, by);
  }
  for (const block of blocks) {
    // A count that is pinned to an icon stands in no column.
    if (of(block).position === 'absolute') continue;
    let pane = block.parentElement;
    while (pane !== document.body && of(pane).overflowX === 'visible' && !pane.matches('.pane, main, td, th, li')) {
      pane = pane.parentElement;
    }
    // Links that are made easy to hit reach over their line with space alone.
    const { left, right } = block.getBoundingClientRect();
    const words = { left: left + parseFloat(of(block).paddingLeft), right: right - parseFloat(of(block).paddingRight) };
    const by = over(words, pane.getBoundingClientRect());
    if (by > 1.5) say(`block over ${pane.localName}.${pane.className}`, block, by);
  }
  return [...found];
}"""


async def look(page: Page, url: str, paths: Sequence[str]) -> list[str]:
    """What does not fit on these pages, at both widths of a loaded page."""
    problems: list[str] = []
    for path in paths:
        await page.set_viewport_size(DESKTOP)
        answer = await page.goto(f"{url}{path}")
        assert answer is not None
        if answer.status >= 400 and path not in REFUSED:
            problems.append(f"{path}: {answer.status}")
            continue
        for name, viewport in (("wide", DESKTOP), ("phone", PHONE)):
            await page.set_viewport_size(viewport)
            beyond = await page.evaluate(SIDEWAYS)
            problems += [f"{path} ({name}): page too wide by {beyond} px"] if beyond > 0 else []
            problems += [f"{path} ({name}): {problem}" for problem in await page.evaluate(SPILLS)]
    return problems


# German words are the longest that pages have of their own.
@pytest.mark.parametrize(("names", "locale"), [(NAMES, "de-DE"), ((UNBROKEN,), "en-GB")], ids=["real", "unbroken"])
async def test_no_name_breaks_a_page(
    open_page: OpenPage, closed_site: Site, watch: Watch, names: Sequence[str], locale: str
) -> None:
    watch.expected = tuple(f"{path})" for path in REFUSED)
    full = await fill(closed_site)
    await rename_everything(closed_site.resources.database, names)
    options = {"reduced_motion": "reduce", "locale": locale}
    visitor, page = await open_page(**options), await open_page(**options)
    await sign_in(page, closed_site)
    problems = await look(visitor, closed_site.url, [f"/events/{full.planted.open_slug}"])
    problems += await look(page, closed_site.url, list(dict.fromkeys(full.addresses())))
    assert problems == [], "\n".join(problems)


async def test_a_page_that_does_not_hold_its_names_is_found(page: Page, watch: Watch) -> None:
    """The measure itself: each of the ways in which a name can break a page."""
    box = "width:200px;border:0;margin:0;padding:0"
    pages: dict[str, str] = {
        "text over its block": f'<main style="{box}"><p>{"x" * 120}</p></main>',
        "text cut without a sign": f'<main style="{box}"><p style="overflow:hidden">{"x" * 120}</p></main>',
        "block over main": f'<main style="{box}"><div><p style="{box};width:300px">A name</p></div></main>',
    }
    for problem, html in pages.items():
        await page.set_content(html)
        assert [found for found in await page.evaluate(SPILLS) if found.startswith(problem)], problem
    await page.set_content(
        f'<main style="{box}"><p style="overflow:hidden;text-overflow:ellipsis">{"x" * 120}</p>'
        f'<p style="overflow-wrap:anywhere">{"x" * 120}</p><div style="overflow-x:auto"><p>{"x" * 120}</p></div></main>'
    )
    assert await page.evaluate(SPILLS) == []
