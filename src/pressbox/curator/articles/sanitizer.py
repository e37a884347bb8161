"""Strangers' HTML becomes HTML that is safe and calm inside our own pages.

First the tree is made calm (lazy images, embeds, headings, addresses), then nh3 writes it anew from its list of what
is allowed. That order is the safety: nothing touches the text after nh3. The tree comes from lxml, which also bounds
the depth; nh3 alone takes minutes for a megabyte of nested tags. Both twice give the same as once.
"""

from typing import Any
from urllib.parse import urljoin, urlsplit

from pressbox.curator.articles.embeds import link_embeds
from pressbox.curator.articles.html_tree import parsed, removed, serialised, unwrapped
from pressbox.curator.articles.pictures import HOW_TO_LOAD, settle_pictures

ID_PREFIX = "text-"
LINK_REL = "noopener noreferrer nofollow"
_SCHEMES = frozenset({"http", "https", "mailto"})
_GONE = """
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
    "img": {"src", "alt", "title", "width", "height", *HOW_TO_LOAD},
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


def sanitise(html: str, base_url: str) -> str:
    """Only what reading needs, with absolute addresses; relative ones are resolved against `base_url`."""
    import nh3

    root = parsed(html)
    if root is None:
        return ""
    settle_pictures(root, base_url)
    link_embeds(root, base_url)
    _simplify(root)
    _lower_headings(root)
    _settle_links(root, base_url)
    return nh3.clean(
        serialised(root),
        tags=set(_TAGS.split()),
        clean_content_tags={"script", "style", "svg", "math", "template", "iframe", "object", "noscript", "textarea"},
        attributes=_ATTRIBUTES,
        attribute_filter=_allowed,
        link_rel=LINK_REL,
        url_schemes=set(_SCHEMES),
    ).strip()


def _allowed(tag: str, attribute: str, value: str) -> str | None:
    if attribute == "id":
        return value if value.startswith(ID_PREFIX) else None
    if attribute in _NUMBERS:
        return _number(attribute, value)
    if tag == "img" and attribute == "src":
        return value if urlsplit(value).scheme in ("http", "https") else None
    return value


def _number(attribute: str, value: str) -> str | None:
    digits = value.strip().removesuffix("px")
    if not (digits.isascii() and digits.isdigit() and len(digits) <= 5):
        return None
    # A cell over thousands of columns makes browsers stand still.
    return str(min(int(digits), _LARGEST_SPAN)) if attribute.endswith("span") else str(int(digits))


def _simplify(root: Any) -> None:
    for element in list(root.iter(*_GONE.split())):
        removed(element)
    for element in list(root.iter("math")):
        text = element.get("alttext") or " ".join(element.text_content().split())
        tail = element.tail
        element.clear()
        element.tag, element.text, element.tail = "code", text, tail
    for element in root.iter(*_BLOCKS.split()):
        element.tag = "div"
    for element in list(root.iter("form", "font", "picture", "legend", "label")):
        unwrapped(element)


def _lower_headings(root: Any) -> None:
    """The title of the article is the page's h1, and ours: a text that has its own begins one level lower."""
    if next(root.iter("h1"), None) is None:
        return
    for element in root.iter("h1", "h2", "h3", "h4", "h5"):
        element.tag = f"h{int(element.tag[1]) + 1}"


def _settle_links(root: Any, base_url: str) -> None:
    """Footnotes lead to their place in this text; everything else leads to where it is on the web."""
    for element in root.iter("a"):
        # The old way to name a place.
        name = element.get("name")
        if name and not element.get("id"):
            element.set("id", name)
    ids = set()
    for element in root.iter():
        identity = (element.get("id") or "").strip()
        if identity:
            ids.add(_prefixed(identity))
            element.set("id", _prefixed(identity))
    page = urlsplit(base_url)._replace(fragment="").geturl()
    for element in root.iter("a", "blockquote", "q"):
        attribute = "href" if element.tag == "a" else "cite"
        value = element.get(attribute)
        if value is not None:
            _settle(element, attribute, absolute(value, base_url), page, ids)


def _settle(element: Any, attribute: str, address: str | None, page: str, ids: set[str]) -> None:
    if address is None:
        del element.attrib[attribute]
        return
    place, _, fragment = address.partition("#")
    inside = fragment and place in (page, "") and _prefixed(fragment) in ids
    element.set(attribute, f"#{_prefixed(fragment)}" if inside else address)


def _prefixed(identity: str) -> str:
    """Their ids can then not be taken for ours, by a style sheet, a script or a link."""
    return identity if identity.startswith(ID_PREFIX) else ID_PREFIX + identity


def absolute(address: str, base_url: str) -> str | None:
    """The whole address, or None if it is none that a reader may follow."""
    # Browsers ignore tabs and line ends inside addresses, so a scheme can be hidden with them.
    cleaned = "".join(character for character in address.strip() if character not in "\t\r\n\0")
    try:
        whole = urljoin(base_url, cleaned)
        parts = urlsplit(whole)
    except ValueError:
        return None
    if parts.scheme.lower() not in _SCHEMES:
        # Without a base a link inside the text is still one.
        return cleaned if cleaned.startswith("#") and not base_url else None
    return whole if parts.netloc or parts.scheme.lower() == "mailto" else None
