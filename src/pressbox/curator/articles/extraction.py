"""From a page to its article. Pure CPU work on strangers' text, run in the parser pool."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any
from urllib.parse import urljoin

from pressbox.core.errors import PermanentError
from pressbox.curator.articles.anchors import anchored, squeezed
from pressbox.curator.articles.html_text import text_of
from pressbox.curator.articles.html_tree import bounded_tags, removed, serialised
from pressbox.curator.articles.metadata import metadata_of
from pressbox.curator.articles.pictures import first_picture
from pressbox.curator.articles.rules import check_rules, remove_unwanted, wanted
from pressbox.curator.articles.sanitizer import sanitise
from pressbox.curator.library.domain.entries import FetchedArticle
from pressbox.curator.library.domain.feeds import ExtractionRule
from pressbox.curator.text.languages import detect_language

LEAST_TEXT = 30
# Three novels. What is longer is no article, and would be carried around by everything that follows.
LONGEST_HTML = 2_000_000
_AROUND = ("nav", "aside", "footer", "form", "header", "dialog", "menu")
NOTHING_TO_READ = "The page has nothing to read. It may need scripts, or want people to sign in or to agree first."
TOO_LONG = f"The article is longer than {LONGEST_HTML:,} characters, which is more than is kept."
NOT_A_PAGE = "The page is not HTML that can be read."


def article_of(html: str, url: str, rules: Sequence[ExtractionRule], now: datetime) -> FetchedArticle:
    from trafilatura import load_html

    check_rules(rules)
    tree = load_html(bounded_tags(html))
    if tree is None:
        raise PermanentError(NOT_A_PAGE)
    base = _base(tree, url)
    known = metadata_of(tree, base, now)
    _lighten(tree)
    remove_unwanted(tree, rules)
    content, whole_page = _content(tree, url, rules)
    _drop_title(content, known.title)
    found = "".join(serialised(element) for element in content)
    if len(found) > LONGEST_HTML:
        raise PermanentError(TOO_LONG)
    clean = sanitise(found, base)
    text = text_of(clean)
    by_rule = any(rule.keep for rule in rules) and not whole_page
    if len(text) < (1 if by_rule else LEAST_TEXT) and "<img" not in clean:
        raise PermanentError(NOTHING_TO_READ)
    return FetchedArticle(
        html=clean,
        text=text,
        title=known.title,
        author=known.author,
        language=detect_language(text) or known.language,
        thumbnail_url=known.picture or first_picture(clean),
        published_at=known.published_at,
        final_url=url,
        whole_page=whole_page,
    )


def feed_text_of(html: str, base_url: str) -> FetchedArticle:
    """The feed's own text as an article."""
    clean = sanitise(html, base_url)
    text = text_of(clean)
    return FetchedArticle(
        html=clean, text=text, language=detect_language(text), thumbnail_url=first_picture(clean), final_url=base_url
    )


def _base(tree: Any, url: str) -> str:
    stated = next(iter(tree.xpath("//base/@href")), "")
    try:
        return urljoin(url, str(stated))
    except ValueError:
        return url


def _lighten(tree: Any) -> None:
    """Half of a page is often scripts, and the tree is copied and walked many times. Data for machines stays."""
    for element in list(tree.iter("script", "style", "svg")):
        if element.get("type") != "application/ld+json":
            removed(element)


def _content(tree: Any, url: str, rules: Sequence[ExtractionRule]) -> tuple[list[Any], bool]:
    chosen = wanted(tree, rules)
    if chosen:
        return chosen, False
    found = _extracted(tree, url)
    if found is not None:
        return [found], False
    for element in list(tree.iter(*_AROUND)):
        removed(element)
    return [tree], True


def _extracted(tree: Any, url: str) -> Any | None:
    from trafilatura import bare_extraction
    from trafilatura.settings import Document

    document = bare_extraction(tree, url=url, fast=True, include_comments=False)
    if not isinstance(document, Document) or not document.text:
        return None
    place = anchored(tree, document.text)
    if place is not None:
        return place
    # One paragraph that stands nowhere: the extractor's last resort, all words of the page without its form.
    return _as_extracted(tree, url) if len(document.body) > 1 else None


def _as_extracted(tree: Any, url: str) -> Any | None:
    """The extractor's own markup, when the text cannot be found again where it came from."""
    from trafilatura import extract, load_html

    html = extract(
        tree,
        url=url,
        fast=True,
        include_comments=False,
        include_images=True,
        include_links=True,
        include_formatting=True,
        output_format="html",
    )
    return load_html(html) if html else None


def _drop_title(content: Sequence[Any], title: str) -> None:
    """The reader shows the title above the text."""
    for element in content[:1]:
        heading = next(element.iter("h1", "h2"), None)
        if heading is None or not title:
            continue
        own = squeezed(heading.text_content())
        if own and (own == squeezed(title) or squeezed(title).startswith(own)):
            removed(heading)
