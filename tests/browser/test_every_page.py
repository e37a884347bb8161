"""Every page, found by the routes, in both colours, wide and on a phone: readable, reachable, within the screen."""

from dataclasses import dataclass, field
from importlib.resources import files
from typing import Any

import pytest
from playwright.async_api import Page, ViewportSize

from tests.browser.conftest import DESKTOP, PHONE, OpenPage, Site, Watch
from tests.browser.full_site import EMAIL, PASSWORD, fill

pytestmark = [pytest.mark.browser, pytest.mark.limit(900)]

AXE = (files("axe_playwright_python") / "axe.min.js").read_text()
# Pages that say no: to a link that nobody has, to an address that is none, and to nothing that was shared.
REFUSED = ("/set-up", "/nowhere-at-all", "/choose-password", "/confirm-email", "/share")
SMALL_PHONE: ViewportSize = {"width": 320, "height": 640}
# Rules that other colours or another width can break; all others hold for the page as it is written.
OF_LOOKS = ["color-contrast", "link-in-text-block", "target-size", "scrollable-region-focusable"]
RUN = """rules => {
  document.getAnimations().forEach(animation => animation.cancel());
  return axe.run(document, {
  resultTypes: ['violations'], preload: false, elementRef: false,
  ...(rules ? { runOnly: { type: 'rule', values: rules } }
            : { rules: { 'target-size': { enabled: true } } }),
}).then(found => found.violations.map(({ id, impact, nodes }) =>
  ({ id, impact, where: nodes.slice(0, 3).map(node => node.target.join(' ')) })));
}"""
# Links in a sentence may be as high as its lines; so may the one line that a page shows when it is reached by Tab.
SMALL_TARGETS = """() => {
  const found = [];
  const inside = 'a[href], button, input:not([type=hidden]), select, textarea, summary, [role=button], [role=tab]';
  for (const target of document.querySelectorAll(inside)) {
    if (!target.checkVisibility({ visibilityProperty: true }) || target.closest('.skip, dialog:not([open]), .article'))
      continue;
    const box = ['checkbox', 'radio'].includes(target.type) && target.labels?.[0] || target;
    if (box.closest('.visually-hidden')) continue;
    if (target.matches('a') && getComputedStyle(target).display === 'inline') {
      let around = target.parentElement;
      while (getComputedStyle(around).display === 'inline') around = around.parentElement;
      if (around.textContent.trim() !== target.textContent.trim()) continue;
    }
    const { width, height } = box.getBoundingClientRect();
    if (width < 43.5 || height < 43.5)
      found.push(`${Math.round(width)}×${Math.round(height)} <${target.localName} class="${target.className}"> ${
        (target.textContent || target.ariaLabel || target.name || '').trim().slice(0, 40)}`);
  }
  return [...new Set(found)];
}"""
SIDEWAYS = "() => document.documentElement.scrollWidth - innerWidth"


@dataclass
class Findings:
    """What is wrong, by address. Minor matters of taste are left out."""

    lines: list[str] = field(default_factory=list)

    def add_axe(self, path: str, look: str, violations: list[dict[str, Any]]) -> None:
        for one in violations:
            if one["impact"] != "minor":
                self.lines.append(f"{path} ({look}): {one['impact']} {one['id']} at {one['where']}")

    def add(self, path: str, look: str, problems: list[str]) -> None:
        self.lines += [f"{path} ({look}): {problem}" for problem in problems]


async def inspect(page: Page, url: str, path: str, findings: Findings) -> None:
    await page.set_viewport_size(DESKTOP)
    await page.emulate_media(color_scheme="light")
    answer = await page.goto(f"{url}{path}")
    assert answer is not None
    refused = answer.status >= 400 and path not in REFUSED
    if refused or "text/html" not in answer.headers.get("content-type", ""):
        findings.add(path, "answer", [f"{answer.status} {answer.headers.get('content-type')}"])
        return
    await page.evaluate(AXE)
    findings.add_axe(path, "light", await page.evaluate(RUN, None))
    # Dark and small at once: each costs as much as loading the page.
    await page.emulate_media(color_scheme="dark")
    await page.set_viewport_size(PHONE)
    findings.add_axe(path, "dark phone", await page.evaluate(RUN, OF_LOOKS))
    findings.add(path, "phone", await page.evaluate(SMALL_TARGETS))
    for look, viewport in (("phone", PHONE), ("small phone", SMALL_PHONE)):
        await page.set_viewport_size(viewport)
        beyond = await page.evaluate(SIDEWAYS)
        findings.add(path, look, [f"{beyond} px too wide"] if beyond > 0 else [])


async def sign_in(page: Page, site: Site) -> None:
    await page.goto(f"{site.url}/sign-in")
    await page.fill('[name="email"]', EMAIL)
    await page.fill('[name="password"]', PASSWORD)
    await page.press('[name="password"]', "Enter")
    await page.wait_for_url(f"{site.url}/")


async def test_every_page_is_accessible_and_fits_in_both_colours_and_on_a_phone(
    open_page: OpenPage, closed_site: Site, watch: Watch
) -> None:
    findings, url = Findings(), closed_site.url
    watch.expected = tuple(f"{path})" for path in REFUSED)
    options = {"reduced_motion": "reduce"}
    visitor = await open_page(**options)
    await inspect(visitor, url, f"/set-up?token={await closed_site.accounts.create_setup_link()}", findings)
    full = await fill(closed_site)
    for path in ("/sign-in", "/forgotten-password", "/signed-out", f"/events/{full.planted.open_slug}"):
        await inspect(visitor, url, path, findings)
    page = await open_page(**options)
    await sign_in(page, closed_site)
    for path in dict.fromkeys(full.addresses()):
        await inspect(page, url, path, findings)
    assert findings.lines == [], "\n".join(findings.lines)
