"""Reads RSS 0.9 to 2.0, RDF and Atom 0.3 and 1.0 from a tree of XML, whatever prefix or namespace it uses."""

import base64
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import timedelta
from functools import lru_cache
from typing import TYPE_CHECKING

from pressbox.curator.feeds.domain import NO_TEXT, RawEntry, RawFeed, RawFile, RawText
from pressbox.curator.library.urls import absolute_url, is_web_url

if TYPE_CHECKING:
    from lxml.etree import _Element  # type: ignore[import-untyped]

# The namespace given to prefixes that are not declared.
UNDECLARED = "undeclared:"

_XML = "{http://www.w3.org/XML/1998/namespace}"
_LOOKS_LIKE_HTML = re.compile(
    r"</?(?:p|br|a|div|img|ul|ol|li|blockquote|em|strong|b|i|h[1-6]|pre|table)\b[^<>]*>|&\w+;", re.I
)
# By their beginnings, because versions, final slashes and capitals differ.
_NAMESPACES = (
    ("http://www.w3.org/2005/atom", "atom"),
    ("http://purl.org/atom/ns", "atom"),
    ("http://purl.org/rss/1.0/modules/content", "content"),
    ("http://purl.org/rss/1.0/modules/syndication", "sy"),
    ("http://purl.org/rss/", ""),
    ("http://my.netscape.com/", ""),
    ("http://channel.netscape.com/", ""),
    ("http://backend.userland.com/", ""),
    ("http://blogs.law.harvard.edu/", ""),
    ("http://cyber.law.harvard.edu/", ""),
    ("http://purl.org/dc/elements", "dc"),
    ("http://purl.org/dc/terms", "dcterms"),
    ("http://search.yahoo.com/mrss", "media"),
    ("http://www.itunes.com/dtds/", "itunes"),
    ("http://rssnamespace.org/feedburner", "feedburner"),
    ("http://webfeeds.org/rss", "webfeeds"),
    ("http://www.w3.org/1999/02/22-rdf-syntax-ns", "rdf"),
    ("http://www.w3.org/1999/xhtml", "xhtml"),
)


@lru_cache(maxsize=4096)
def short_name(tag: str) -> str:
    """Return `media:thumbnail` for a tag of a known namespace, and the bare name for RSS's own of any version."""
    if not tag.startswith("{"):
        return tag.lower()
    namespace, _, local = tag[1:].partition("}")
    if namespace.startswith(UNDECLARED):
        return f"{namespace.removeprefix(UNDECLARED).lower()}:{local.lower()}"
    known = namespace.lower().replace("https://", "http://", 1)
    prefix = next((short for start, short in _NAMESPACES if known.startswith(start)), "other")
    return f"{prefix}:{local.lower()}" if prefix else local.lower()


class Children:
    """The children of an element by short name. `own` is the prefix that this kind of document leaves out."""

    def __init__(self, element: "_Element", own: str = "") -> None:
        self.element = element
        self.own = own
        self._named: dict[str, list[_Element]] = {}
        start = f"{own}:" if own else ""
        for child in element.iterchildren(tag="*"):
            name = short_name(child.tag)
            self._named.setdefault(name.removeprefix(start), []).append(child)

    def all(self, *names: str) -> Iterator["_Element"]:
        for name in names:
            yield from self._named.get(name, ())

    def first(self, *names: str) -> "_Element | None":
        for name in names:
            if name in self._named:
                return self._named[name][0]
        return None

    def text(self, *names: str) -> str:
        """Return the text of the first that has any."""
        for name in names:
            for element in self._named.get(name, ()):
                if text := element_text(element):
                    return text
        return ""

    def inside(self, *names: str) -> "Sequence[Children]":
        return [Children(element, self.own) for element in self.all(*names)]


def element_text(element: "_Element") -> str:
    text = element.text if not len(element) else "".join(element.itertext())
    return (text or "").strip()


def attribute(element: "_Element", name: str) -> str:
    return str(element.get(name, "")).strip()


def xml_language(element: "_Element") -> str:
    return attribute(element, f"{_XML}lang")


def xml_base(element: "_Element") -> str:
    """Return the `xml:base` that holds for an element; empty when there is none."""
    # lxml resolves several of them against each other.
    near: _Element | None = element
    while near is not None:
        if near.get(f"{_XML}base"):
            return str(element.base or "")
        near = near.getparent()
    return ""


def read_markup(element: "_Element | None") -> RawText:
    """Read an element of RSS: HTML inside text or, against the rules, as elements."""
    if element is None:
        return NO_TEXT
    value = _inner_html(element) if len(element) else element_text(element)
    return RawText(value, html=True, base=xml_base(element)) if value else NO_TEXT


def read_construct(element: "_Element | None") -> RawText:
    """Read a text construct of Atom 1.0 or 0.3."""
    if element is None:
        return NO_TEXT
    kind, mode = attribute(element, "type").lower(), attribute(element, "mode").lower()
    if element.get("src"):
        return NO_TEXT
    if mode == "base64" or _is_binary(kind):
        return RawText(_decode_base64(element_text(element)), html=True, base=xml_base(element))
    if kind == "xhtml" or mode == "xml" or (len(element) and kind != "text"):
        return RawText(_inner_html(element), html=True, base=xml_base(element), xhtml=True)
    value = element_text(element)
    return RawText(value, html="html" in kind or mode == "escaped", base=xml_base(element))


def _is_binary(kind: str) -> bool:
    """Whether Atom 1.0 wants a text of this type in base64."""
    return "/" in kind and not kind.startswith("text/") and not kind.endswith(("xml", "json", "html"))


def _decode_base64(text: str) -> str:
    try:
        return base64.b64decode(text, validate=False).decode()
    except ValueError:
        # A picture, or what is not base64 at all.
        return ""


def read_body(element: "_Element | None") -> RawText:
    """Read a long text construct: what is declared as text may be HTML all the same."""
    text = read_construct(element)
    return replace(text, html=True) if _LOOKS_LIKE_HTML.search(text.value) else text


def _inner_html(element: "_Element") -> str:
    from lxml import etree  # type: ignore[import-untyped]

    for inner in element.iterdescendants(tag="*"):
        # The sanitiser knows `p`, not `xhtml:p`.
        inner.tag = etree.QName(inner).localname.rpartition(":")[2]
    pieces = [_escape(element.text or "")]
    pieces += [etree.tostring(child, method="html", encoding="unicode") for child in element]
    return "".join(pieces).strip()


def _escape(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


MOST_ENTRIES = 5_000
LONGEST_NAME = 300
_PERIODS = {"hourly": 1, "daily": 24, "weekly": 24 * 7, "monthly": 24 * 30, "yearly": 24 * 365}
_NAME_IN_BRACKETS = re.compile(r"\S+@\S+\s*\((?P<name>[^)]+)\)")
_NAME_BEFORE_ADDRESS = re.compile(r"(?P<name>[^<>]+?)\s*<[^<>]*>")


def read_xml_feed(root: "_Element", url: str) -> RawFeed | None:
    """Return None when this is no feed of a known kind."""
    name = short_name(root.tag)
    if name in ("atom:feed", "feed"):
        return _atom(Children(root, "atom"), url)
    if name == "other:feed":
        # A draft of Atom under a namespace of its own.
        return _atom(Children(root, "other"), url)
    if name in ("rss", "rdf:rdf", "channel"):
        return _rss(root, url)
    return None


def _rss(root: "_Element", url: str) -> RawFeed | None:
    outer = Children(root)
    element = root if short_name(root.tag) == "channel" else outer.first("channel")
    if element is None and outer.first("item") is None:
        return None
    channel = outer if element is None else Children(element)
    # In RDF and in some broken feeds the items stand beside the channel.
    items = [*channel.all("item"), *(outer.all("item") if channel is not outer else ())]
    image = next(iter(channel.inside("image")), None)
    language = channel.text("language", "dc:language") or xml_language(channel.element)
    return RawFeed(
        title=_title(channel),
        site_url=_site(channel, url),
        description=read_markup(channel.first("description", "tagline", "itunes:summary", "itunes:subtitle")),
        language=language,
        icon_url=absolute_url(channel.text("webfeeds:icon") or (image.text("url") if image else ""), url)
        or _itunes_image(channel, url),
        interval=_interval(channel),
        entries=tuple(_item(Children(item), url) for item in items[:MOST_ENTRIES]),
    )


def _title(item: Children) -> RawText:
    titles = item.all("title", "dc:title", "media:title")
    return read_markup(next((title for title in titles if element_text(title)), None))


def _item(item: Children, url: str) -> RawEntry:
    long = read_markup(item.first("content:encoded", "xhtml:body", "body", "fullitem"))
    short = read_markup(item.first("description", "dc:description", "itunes:summary", "summary", "media:description"))
    guid = item.first("guid")
    link = _item_link(item, guid, xml_base(item.element) or url)
    media = _media(item)
    return RawEntry(
        guid=element_text(guid) if guid is not None else _about(item),
        url=link,
        title=_title(item),
        author=_creators(item) or _person_name(item.text("author", "itunes:author", "atom:author", "media:credit")),
        published=item.text(
            "pubdate", "dc:date", "dcterms:issued", "dcterms:created", "atom:published", "published", "date"
        ),
        updated=item.text("atom:updated", "dcterms:modified", "updated", "lastbuilddate"),
        content=long if long.value else short,
        summary=short if long.value else NO_TEXT,
        language=item.text("dc:language") or xml_language(item.element),
        thumbnail_url=_thumbnail(item, media, url),
        files=_files(item, media, url),
    )


def _creators(item: Children) -> str:
    names = (_person_name(element_text(creator)) for creator in item.all("dc:creator"))
    return ", ".join(dict.fromkeys(filter(None, names)))[:LONGEST_NAME]


def _item_link(item: Children, guid: "_Element | None", base: str) -> str:
    address = item.text("feedburner:origlink", "link")
    for link in item.all("atom:link", "link"):
        if not address and attribute(link, "rel") in ("", "alternate"):
            address = attribute(link, "href")
    if not address and guid is not None and attribute(guid, "isPermaLink").lower() != "false":
        address = element_text(guid) if is_web_url(element_text(guid)) else ""
    return absolute_url(address, base) if address else ""


def _about(item: Children) -> str:
    """RSS 1.0 identifies its items by an attribute."""
    return next((str(value) for name, value in item.element.attrib.items() if str(name).endswith("}about")), "")


def _site(channel: Children, url: str) -> str:
    address = channel.text("link")
    if not address:
        links = (attribute(link, "href") for link in channel.all("atom:link") if attribute(link, "rel") == "alternate")
        address = next(links, "")
    return absolute_url(address, xml_base(channel.element) or url)


def _atom(feed: Children, url: str) -> RawFeed:
    base = xml_base(feed.element) or url
    author = _atom_author(feed)
    entries = [_entry(Children(entry, feed.own), base, author) for entry in list(feed.all("entry"))[:MOST_ENTRIES]]
    return RawFeed(
        title=read_construct(feed.first("title")),
        site_url=_atom_link(feed, base),
        description=read_construct(feed.first("subtitle", "tagline")),
        language=xml_language(feed.element) or feed.text("dc:language"),
        icon_url=absolute_url(feed.text("icon", "webfeeds:icon", "logo"), base) or _itunes_image(feed, base),
        interval=_interval(feed),
        entries=tuple(entries),
    )


def _entry(entry: Children, base: str, feed_author: str) -> RawEntry:
    here = xml_base(entry.element) or base
    long = read_body(entry.first("content"))
    short = read_body(entry.first("summary"))
    if not long.value and not short.value:
        short = _media_description(entry)
    media = _media(entry)
    return RawEntry(
        guid=entry.text("id"),
        url=absolute_url(entry.text("feedburner:origlink"), here) or _atom_link(entry, here) or _address_in_id(entry),
        title=read_construct(entry.first("title", "media:title")),
        author=_atom_author(entry) or _person_name(entry.text("dc:creator")) or feed_author,
        published=entry.text("published", "issued", "created", "dc:date", "pubdate"),
        updated=entry.text("updated", "modified", "dcterms:modified"),
        content=long if long.value else short,
        summary=short if long.value else NO_TEXT,
        language=xml_language(entry.element),
        thumbnail_url=_thumbnail(entry, media, here),
        files=_files(entry, media, here),
    )


def _atom_link(parent: Children, base: str) -> str:
    """Prefer the page to other formats of the same; a link without `rel` leads to the page."""
    links = [link for link in parent.all("link") if attribute(link, "rel").lower() in ("", "alternate")]
    links.sort(key=lambda link: "html" not in (attribute(link, "type") or "html"))
    return next((found for link in links if (found := absolute_url(attribute(link, "href"), base))), "")


def _address_in_id(entry: Children) -> str:
    """Without a link, an id that is an address is the best guess."""
    return entry.text("id") if is_web_url(entry.text("id")) else ""


def _atom_author(parent: Children) -> str:
    people = (person.text("name", "email") or element_text(person.element) for person in parent.inside("author"))
    names = map(_person_name, people)
    return ", ".join(dict.fromkeys(filter(None, names)))


def _media_description(entry: Children) -> RawText:
    """The description of a video, which is plain text."""
    places = [entry, *entry.inside("media:group")]
    text = next((text for place in places if (text := place.text("media:description"))), "")
    return RawText(text, html=False)


def _media(entry: Children) -> list[Children]:
    groups = entry.inside("media:group")
    return [entry, *groups, *(inner for place in (entry, *groups) for inner in place.inside("media:content"))]


def _thumbnail(entry: Children, places: Sequence[Children], base: str) -> str:
    pictures = [picture for place in places for picture in place.all("media:thumbnail")]
    pictures += [file for place in places for file in place.all("media:content") if _is_picture(file)]
    pictures.sort(key=_width, reverse=True)
    pictures += [file for file in entry.all("enclosure") if _is_picture(file)]
    found = (absolute_url(attribute(picture, "url"), base) for picture in pictures)
    return next(filter(None, found), "") or _itunes_image(entry, base)


def _itunes_image(parent: Children, base: str) -> str:
    image = parent.first("itunes:image")
    return "" if image is None else absolute_url(attribute(image, "href") or attribute(image, "url"), base)


def _is_picture(file: "_Element") -> bool:
    return attribute(file, "medium") == "image" or attribute(file, "type").startswith("image/")


def _width(picture: "_Element") -> int:
    width = attribute(picture, "width")
    return int(width) if width.isascii() and width.isdigit() and len(width) < 6 else 0


def _files(entry: Children, places: Sequence[Children], base: str) -> tuple[RawFile, ...]:
    found = [_file(file, base, "url", "length") for file in entry.all("enclosure")]
    found += [
        _file(link, base, "href", "length") for link in entry.all("link") if attribute(link, "rel") == "enclosure"
    ]
    media = (file for place in places for file in place.all("media:content"))
    found += [_file(file, base, "url", "fileSize") for file in media if not _is_picture(file)]
    # Nobody can play Flash any more.
    return tuple(file for file in found if file.url and "flash" not in file.type)


def _file(element: "_Element", base: str, address: str, size: str) -> RawFile:
    url = absolute_url(attribute(element, address), base)
    return RawFile(url, attribute(element, "type").lower(), attribute(element, size))


def _person_name(author: str) -> str:
    text = author[:LONGEST_NAME]
    found = _NAME_IN_BRACKETS.fullmatch(text) or _NAME_BEFORE_ADDRESS.fullmatch(text)
    return " ".join((found["name"] if found else text).split())


def _interval(channel: Children) -> timedelta | None:
    """How often the feed asks to be read, at most."""
    minutes = channel.text("ttl")
    if minutes.isascii() and minutes.isdigit() and int(minutes[:9]) > 0:
        return timedelta(minutes=min(int(minutes[:9]), 60 * 24 * 365))
    hours = _PERIODS.get(channel.text("sy:updateperiod").lower())
    if hours is None:
        return None
    often = channel.text("sy:updatefrequency")
    return timedelta(hours=hours) / max(1, int(often[:6]) if often.isascii() and often.isdigit() else 1)
