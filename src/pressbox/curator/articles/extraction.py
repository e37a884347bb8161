"""Finds the article on a page, by the rules of its feed if it has some. Strangers' HTML is read in the parser pool."""

import re
from collections.abc import Iterable, Sequence
from copy import deepcopy
from datetime import datetime, timedelta
from typing import Any
from urllib.parse import urljoin

from pressbox.core.clock import Clock, utc_now
from pressbox.core.errors import InvalidInputError, PermanentError
from pressbox.core.processes.calls import Terms
from pressbox.curator.articles.domain import WALL, FetchedArticle, Page, is_wall
from pressbox.curator.articles.html_tree import find_place, html_to_text, make_parsable, remove, serialise, squash
from pressbox.curator.articles.media import find_first_picture
from pressbox.curator.articles.metadata import read_metadata
from pressbox.curator.articles.sanitizer import sanitise
from pressbox.curator.library.domain import ExtractionRule
from pressbox.curator.library.parser_pool import ParserPool, TooSlowError
from pressbox.curator.text.languages import detect_language

MOST_MATCHES = 10_000


def remove_unwanted(root: Any, rules: Sequence[ExtractionRule]) -> None:
    for rule in rules:
        if not rule.keep:
            for element in _find(root, rule):
                remove(element)


def select_wanted(root: Any, rules: Sequence[ExtractionRule]) -> list[Any]:
    """Return what the rules keep, in the order of the page, nothing twice; empty when no rule finds anything."""
    chosen = {element for rule in rules if rule.keep for element in _find(root, rule)}
    return [
        element for element in root.iter() if element in chosen and not chosen.intersection(element.iterancestors())
    ]


def check_rules(rules: Iterable[ExtractionRule]) -> None:
    """Raise for the first rule that cannot be read, before anything is fetched for it."""
    for rule in rules:
        _compile(rule)


def _find(root: Any, rule: ExtractionRule) -> list[Any]:
    from lxml import etree  # type: ignore[import-untyped]

    try:
        found = _compile(rule)(root)
    except etree.XPathError as error:
        raise _unreadable_rule(rule) from error
    # An expression may also return a text, an attribute or a number.
    elements = [one for one in found if isinstance(one, etree._Element)] if isinstance(found, list) else []
    if len(elements) > MOST_MATCHES:
        raise InvalidInputError(
            f"“{rule.expression[:100]}” finds {len(elements):,} parts of the page; at most {MOST_MATCHES:,} are used.",
            field="rules",
        )
    return elements


def _compile(rule: ExtractionRule) -> Any:
    from cssselect import SelectorError
    from lxml import etree
    from lxml.cssselect import CSSSelector  # type: ignore[import-untyped]

    try:
        if rule.kind == "css":
            return CSSSelector(rule.expression, translator="html")
        if rule.kind == "xpath":
            return etree.XPath(rule.expression)
    except (SelectorError, etree.XPathError, ValueError) as error:
        raise _unreadable_rule(rule) from error
    raise InvalidInputError(f"A rule is css or xpath, not “{rule.kind[:20]}”.", field="rules")


def _unreadable_rule(rule: ExtractionRule) -> InvalidInputError:
    kind = "a CSS selector" if rule.kind == "css" else "an XPath"
    return InvalidInputError(f"“{rule.expression[:100]}” cannot be read as {kind}. Change the rule.", field="rules")


LEAST_TEXT = 30
# Of processor time, for the whole page: rules are written by people, and some would never come to an end.
RULES_SECONDS = 3
SLOW_RULES_PAUSE = timedelta(hours=1)
MOST_SLOW_RULES = 1_000
# Three novels: what is longer is no article, and every later step would have to carry it.
LONGEST_HTML = 2_000_000
_HIDDEN = re.compile(r"(?:display\s*:\s*none|visibility\s*:\s*hidden)\b", re.IGNORECASE)
# Captions, code and tables may come along with the article, other articles may not.
MOST_EXTRA, ALWAYS_EXTRA = 1.15, 300
LEAST_CERTAIN = 800
# A hidden block that is so many times as long as what is found without it is the article.
HIDDEN_ARTICLE = 1.5
_PAGE_FRAME = ("nav", "aside", "footer", "form", "header", "dialog", "menu")
NOTHING_TO_READ = "The page has nothing to read. It may need scripts, or want people to sign in or to agree first."
TOO_LONG = f"The article is longer than {LONGEST_HTML:,} characters, which is more than is kept."
SLOW_RULES = "The rules take too long on this page. Make them simpler, such as article .content."
NOT_A_PAGE = "The page is not HTML that can be read."


class SlowRulesError(TooSlowError):
    pass


class PooledExtractor:
    """Extracts in the child processes of the parser pool. Rules have a smaller budget; beyond it they rest an hour."""

    def __init__(self, parsers: ParserPool, now: Clock = utc_now) -> None:
        self._parsers = parsers
        self._now = now
        self._slow: dict[tuple[ExtractionRule, ...], datetime] = {}

    async def extract(self, page: Page, rules: Sequence[ExtractionRule], owner: str = "") -> FetchedArticle:
        chosen = tuple(rules)
        if not owner and self._is_slow(chosen):
            raise SlowRulesError(SLOW_RULES)
        terms = Terms(owner=owner, processor_seconds=RULES_SECONDS if rules else None)
        try:
            return await self._parsers.run_by(
                terms, extract_article, _encodable(page.html), _encodable(page.url), chosen, now=self._now()
            )
        except TooSlowError as error:
            if not rules:
                raise
            self._remember_slow(chosen)
            raise SlowRulesError(SLOW_RULES) from error

    def _is_slow(self, rules: tuple[ExtractionRule, ...]) -> bool:
        until = self._slow.get(rules)
        return until is not None and self._now() < until

    def _remember_slow(self, rules: tuple[ExtractionRule, ...]) -> None:
        """The articles of a feed share its rules: the second one need not find out again."""
        now = self._now()
        self._slow = {known: until for known, until in self._slow.items() if until > now}
        if len(self._slow) < MOST_SLOW_RULES:
            self._slow[rules] = now + SLOW_RULES_PAUSE

    async def from_feed(self, html: str, base_url: str) -> FetchedArticle:
        return await self._parsers.run(extract_feed_text, _encodable(html), _encodable(base_url))


def extract_article(html: str, url: str, rules: Sequence[ExtractionRule], now: datetime) -> FetchedArticle:
    from trafilatura import load_html

    check_rules(rules)
    tree = load_html(make_parsable(html))
    if tree is None:
        raise PermanentError(NOT_A_PAGE)
    base = _base_url(tree, url)
    metadata = read_metadata(tree, base, now)
    heading = " ".join("".join(tree.xpath("//head/title[1]//text()")).split())
    _drop_scripts(tree)
    remove_unwanted(tree, rules)
    content, whole_page = _select_shown_content(tree, url, rules)
    _drop_title(content, metadata.title)
    found = "".join(serialise(element) for element in content)
    if len(found) > LONGEST_HTML:
        raise PermanentError(TOO_LONG)
    clean = sanitise(found, base)
    text = html_to_text(clean)
    by_rule = any(rule.keep for rule in rules) and not whole_page
    if len(text) < (LEAST_TEXT if whole_page else 1) and "<img" not in clean:
        raise PermanentError(NOTHING_TO_READ)
    if not by_rule and (is_wall(text, metadata.title, url) or is_wall(text, heading, url)):
        raise PermanentError(WALL)
    return FetchedArticle(
        html=clean,
        text=text,
        title=metadata.title,
        author=metadata.author,
        language=detect_language(text) or metadata.language,
        thumbnail_url=metadata.picture or find_first_picture(clean),
        published_at=metadata.published_at,
        final_url=url,
        whole_page=whole_page,
    )


def extract_feed_text(html: str, base_url: str) -> FetchedArticle:
    """Make an article of the feed's own text."""
    clean = sanitise(html, base_url)
    text = html_to_text(clean)
    return FetchedArticle(
        html=clean,
        text=text,
        language=detect_language(text),
        thumbnail_url=find_first_picture(clean),
        final_url=base_url,
    )


def _base_url(tree: Any, url: str) -> str:
    href = next(iter(tree.xpath("//base/@href")), "")
    try:
        return urljoin(url, str(href))
    except ValueError:
        return url


def _drop_scripts(tree: Any) -> None:
    """Drop scripts and styles, often half of a page, before the tree is copied and walked. Linked data stays."""
    for element in list(tree.iter("script", "style", "svg")):
        if element.get("type") != "application/ld+json":
            remove(element)


def _select_shown_content(tree: Any, url: str, rules: Sequence[ExtractionRule]) -> tuple[list[Any], bool]:
    """Leave out what no reader of the page sees, unless it is the article: some pages show their text by a script."""
    longest = _longest_hidden_text(tree)
    if not longest:
        return _select_content(tree, url, rules)
    shown = deepcopy(tree)
    for element in _find_hidden(shown):
        remove(element)
    content, whole_page = _select_content(shown, url, rules)
    found = sum(len(squash(element.text_content())) for element in content)
    if longest > HIDDEN_ARTICLE * found:
        return _select_content(tree, url, rules)
    return content, whole_page


def _find_hidden(tree: Any) -> list[Any]:
    return [element for element in tree.iter() if isinstance(element.tag, str) and _is_hidden(element)]


def _longest_hidden_text(tree: Any) -> int:
    return max((len(squash(element.text_content())) for element in _find_hidden(tree)), default=0)


def _is_hidden(element: Any) -> bool:
    if element.tag in ("html", "body"):
        return False
    return element.get("hidden") is not None or _HIDDEN.search(element.get("style") or "") is not None


def _select_content(tree: Any, url: str, rules: Sequence[ExtractionRule]) -> tuple[list[Any], bool]:
    chosen = select_wanted(tree, rules)
    if chosen:
        return chosen, False
    found = _find_article(tree, url)
    if found is not None:
        return [found], False
    for element in list(tree.iter(*_PAGE_FRAME)):
        remove(element)
    return [tree], True


def _find_article(tree: Any, url: str) -> Any | None:
    """The place of what the extractor finds, unless too much else is there: then the extractor's own markup."""
    from trafilatura import bare_extraction
    from trafilatura.settings import Document

    document = bare_extraction(tree, url=url, favor_precision=True, include_comments=False)
    if not isinstance(document, Document) or not document.text:
        return None
    wanted = len(squash(document.text))
    place = find_place(deepcopy(tree), document.text)
    if place is not None:
        extra = len(squash(place.text_content())) - wanted
        # An extractor that found next to nothing knows less about the page than its own structure.
        if extra <= ALWAYS_EXTRA + (MOST_EXTRA - 1) * wanted or wanted < LEAST_CERTAIN:
            return place
    # A single paragraph that stands nowhere is the extractor's last resort: all words of the page, unstructured.
    return _extract_markup(tree, url) if len(document.body) > 1 or place is not None else None


def _extract_markup(tree: Any, url: str) -> Any | None:
    """Return the extractor's own markup, for a text that cannot be found on the page again."""
    from trafilatura import extract, load_html

    html = extract(
        tree,
        url=url,
        favor_precision=True,
        include_comments=False,
        include_images=True,
        include_links=True,
        include_formatting=True,
        output_format="html",
    )
    return load_html(html) if html else None


def _drop_title(content: Sequence[Any], title: str) -> None:
    """Drop a heading that repeats the title, which the reader shows above the text."""
    for element in content[:1]:
        heading = next(element.iter("h1", "h2"), None)
        if heading is None or not title:
            continue
        own = squash(heading.text_content())
        if own and (own == squash(title) or squash(title).startswith(own)):
            remove(heading)


def _encodable(text: str) -> str:
    """Replace halves of characters, which no message can carry."""
    return text.encode("utf-8", errors="replace").decode()
