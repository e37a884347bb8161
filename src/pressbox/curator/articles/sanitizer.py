"""Turns strangers' HTML into HTML that is safe and calm inside our own pages.

First the tree is simplified (lazy images, embeds, headings, addresses), then nh3 writes it anew from its list of what
is allowed. That order makes it safe: nothing touches the text after nh3. The tree comes from lxml, which also limits
the depth; nh3 alone takes minutes for a megabyte of nested tags. Sanitising twice gives the same as once.

What comes out is never much larger than what went in. nh3 reads as browsers do: formatting that is still open where a
paragraph or a table ends is opened again for every block behind it. So the tree is brought into a form in which that
does not happen.
"""

import html as escaping
from functools import cache
from typing import TYPE_CHECKING, Any
from urllib.parse import urljoin, urlsplit

from pressbox.curator.articles.html_tree import BLOCKS, html_to_text, parse_html, remove, serialise, unwrap
from pressbox.curator.articles.media import LOADING_ATTRIBUTES, fix_pictures, link_embeds
from pressbox.curator.library.urls import is_plain_address

if TYPE_CHECKING:
    import nh3
    from lxml import etree  # type: ignore[import-untyped]

ID_PREFIX = "text-"
LINK_REL = "noopener noreferrer nofollow"
_IGNORED_IN_ADDRESSES = dict.fromkeys(map(ord, "\t\r\n\0"))
_SCHEMES = frozenset({"http", "https", "mailto"})
_DROPPED = """
    script style template noscript head meta link base title svg canvas map dialog frameset input button select textarea
    option datalist progress meter applet xmp plaintext noembed noframes
"""
_BLOCKS = "article section main header footer nav aside hgroup center fieldset address"
_TAGS = """
    a abbr b bdi bdo blockquote br caption cite code col colgroup dd del details dfn div dl dt em figcaption figure
    h2 h3 h4 h5 h6 hr i img ins kbd li mark ol p pre q rb rp rt rtc ruby s samp small span strike strong sub
    summary sup table tbody td tfoot th thead time tr tt u ul var wbr
"""
_ATTRIBUTES = {
    "*": {"id", "lang", "dir"},
    "a": {"href", "title"},
    "abbr": {"title"},
    "blockquote": {"cite"},
    "col": {"span"},
    "colgroup": {"span"},
    "del": {"datetime"},
    "details": {"open"},
    "dfn": {"title"},
    "img": {"src", "alt", "title", "width", "height", *LOADING_ATTRIBUTES},
    "ins": {"datetime"},
    "li": {"value"},
    "ol": {"start", "reversed", "type"},
    "q": {"cite"},
    "td": {"colspan", "rowspan", "headers"},
    "th": {"colspan", "rowspan", "headers", "scope", "abbr"},
    "time": {"datetime"},
}
_NUMBERS = frozenset({"width", "height", "colspan", "rowspan", "span", "start", "value"})
_LARGEST_SPAN = 100
# Those that browsers open again behind the end of a block.
_FORMATTING_NAMES = "a b big code em font i nobr s small strike strong tt u"
_FORMATTING = tuple(_FORMATTING_NAMES.split())
# A paragraph is a block itself.
_ENDING_PARAGRAPHS = tuple(sorted(BLOCKS - {"br"}))
_TABLE_PARTS = frozenset({"table", "tbody", "thead", "tfoot", "tr", "colgroup"})
DEEPEST_FORMATTING = 10
# Addresses become absolute and pictures get attributes; with this much, something else grows.
MOST_GROWTH = 10
LARGEST_EXTRA = 50_000
LONGEST_RESULT = 4_000_000
LONGEST_BASE = 2_000
_LONGEST_NAMES = {"id": 200, "lang": 35, "dir": 10, "headers": 500, "datetime": 100}


def sanitise(html: str, base_url: str) -> str:
    """Keep only what reading needs, with absolute addresses, resolved against `base_url`.

    What would grow beyond measure becomes plain paragraphs.
    """
    root = parse_html(html)
    if root is None:
        return ""
    if len(base_url) > LONGEST_BASE:
        # Repeated in every relative address, it would make a small text a large one.
        base_url = ""
    limit = min(MOST_GROWTH * len(html) + LARGEST_EXTRA, LONGEST_RESULT)
    fix_pictures(root, base_url)
    link_embeds(root, base_url)
    _simplify(root)
    _lower_headings(root)
    _resolve_links(root, base_url)
    _separate_links(root)
    _close_paragraphs(root)
    _limit_formatting(root)
    simple = serialise(root)
    clean = _clean(simple) if len(simple) <= limit else simple
    return clean if len(clean) <= limit else _write_paragraphs(html, limit)


def _clean(html: str) -> str:
    return _cleaner().clean(html).strip()


@cache
def _cleaner() -> "nh3.Cleaner":
    """Made once: for a short text, making it takes longer than using it."""
    # Imported here, because most processes clean nothing.
    import nh3

    return nh3.Cleaner(
        tags=set(_TAGS.split()),
        clean_content_tags={"script", "style", "svg", "math", "template", "iframe", "object", "noscript", "textarea"},
        attributes=_ATTRIBUTES,
        attribute_filter=_filter_attribute,
        link_rel=LINK_REL,
        url_schemes=set(_SCHEMES),
    )


def _write_paragraphs(html: str, limit: int) -> str:
    lines = html_to_text(html)[: limit // 10].split("\n")
    return "\n".join(f"<p>{escaping.escape(line, quote=False)}</p>" for line in lines if line.strip())


def _close_paragraphs(root: Any) -> None:
    """Make paragraphs with blocks inside plain blocks, since a browser would end them at the first of these."""
    for element in _with_any_inside(root, "p", *_ENDING_PARAGRAPHS):
        element.tag = "div"


def _separate_links(root: Any) -> None:
    """Unwrap links with links inside: parsers do not agree where the outer one ends."""
    for element in _with_any_inside(root, "a", "a"):
        unwrap(element)


def _with_any_inside(root: Any, tag: str, *inner: str) -> list[Any]:
    """Find the elements with one of the others inside, among which must be `tag`.

    So each search ends at the next element of the same kind at the latest, and nothing is looked at twice.
    """
    candidates = (element for element in root.iter(tag) if len(element))
    return [element for element in candidates if next(element.iterdescendants(*inner), None) is not None]


def _limit_formatting(root: Any) -> None:
    """Unwrap formatting that is nested deeply, or stands between the parts of a table."""
    from lxml import etree

    depth, deep = 0, []
    for event, element in etree.iterwalk(root, events=("start", "end"), tag=_FORMATTING):
        depth += 1 if event == "start" else -1
        if event == "start" and depth > DEEPEST_FORMATTING:
            deep.append(element)
    for element in deep:
        unwrap(element)
    for element in list(root.iter(*_FORMATTING)):
        parent = element.getparent()
        if parent is not None and parent.tag in _TABLE_PARTS:
            unwrap(element)


def _filter_attribute(tag: str, attribute: str, value: str) -> str | None:
    if len(value) > _LONGEST_NAMES.get(attribute, len(value)):
        return None
    if attribute == "id":
        return value if value.startswith(ID_PREFIX) else None
    if attribute in _NUMBERS:
        return _clean_number(attribute, value)
    if tag == "img" and attribute == "src":
        return value if urlsplit(value).scheme in ("http", "https") else None
    return value


def _clean_number(attribute: str, value: str) -> str | None:
    digits = value.strip().removesuffix("px")
    if not (digits.isascii() and digits.isdigit() and len(digits) <= 5):
        return None
    # A cell over thousands of columns freezes browsers.
    return str(min(int(digits), _LARGEST_SPAN)) if attribute.endswith("span") else str(int(digits))


def _simplify(root: Any) -> None:
    for element in list(root.iter(*_DROPPED.split())):
        remove(element)
    for element in list(root.iter("math")):
        text = element.get("alttext") or " ".join(element.text_content().split())
        tail = element.tail
        element.clear()
        element.tag, element.text, element.tail = "code", text, tail
    for element in root.iter(*_BLOCKS.split()):
        element.tag = "div"
    for element in list(root.iter("form", "font", "picture", "legend", "label")):
        unwrap(element)


def _lower_headings(root: Any) -> None:
    """Lower all headings by one level if there is an h1, which our pages use for the title."""
    if next(root.iter("h1"), None) is None:
        return
    for element in root.iter("h1", "h2", "h3", "h4", "h5"):
        element.tag = f"h{int(element.tag[1]) + 1}"


def _resolve_links(root: Any, base_url: str) -> None:
    """Let footnotes lead to their place in this text, and everything else to its address on the web."""
    for element in root.iter("a"):
        # The old way to name a place in a page.
        name = element.get("name")
        if name and not element.get("id"):
            element.set("id", name)
    ids = set()
    for element in _find_with_ids()(root):
        identity = element.get("id").strip()
        if identity:
            ids.add(_prefix_id(identity))
            element.set("id", _prefix_id(identity))
    page = urlsplit(base_url)._replace(fragment="").geturl()
    for element in root.iter("a", "blockquote", "q"):
        attribute = "href" if element.tag == "a" else "cite"
        value = element.get(attribute)
        if value is not None:
            _set_link(element, attribute, absolute_link(value, base_url), page, ids)


def _set_link(element: Any, attribute: str, address: str | None, page: str, ids: set[str]) -> None:
    if address is None:
        del element.attrib[attribute]
        return
    place, _, fragment = address.partition("#")
    inside = fragment and place in (page, "") and _prefix_id(fragment) in ids
    element.set(attribute, f"#{_prefix_id(fragment)}" if inside else address)


@cache
def _find_with_ids() -> "etree.XPath":
    from lxml import etree

    return etree.XPath("descendant-or-self::*[@id]")


def _prefix_id(identity: str) -> str:
    """Prefix an id, so that no style sheet, script or link takes it for one of ours."""
    return identity if identity.startswith(ID_PREFIX) else ID_PREFIX + identity


def absolute_link(address: str, base_url: str) -> str | None:
    """Return the absolute address, or None if a reader may not follow it."""
    if is_plain_address(address):
        return address
    # Browsers ignore tabs and line ends inside addresses, so a scheme can be hidden with them.
    cleaned = address.strip().translate(_IGNORED_IN_ADDRESSES)
    try:
        whole = urljoin(base_url, cleaned)
        parts = urlsplit(whole)
    except ValueError:
        return None
    if parts.scheme.lower() not in _SCHEMES:
        # Without a base a link inside the text still works.
        return cleaned if cleaned.startswith("#") and not base_url else None
    return whole if parts.netloc or parts.scheme.lower() == "mailto" else None
