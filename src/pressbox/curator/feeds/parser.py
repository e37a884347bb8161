"""From the bytes of a feed, good or broken, to its entries.

A well-formed document is read strictly, which is fast. A broken one is mended and read again, and what was wrong with
it is kept as a problem that people see; feedparser gets what is beyond that. Why: docs/adr/0017-how-feeds-are-read.md.
"""

import html
import re
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from pressbox.core.errors import PermanentError
from pressbox.curator.feeds.cleaning import cleaned
from pressbox.curator.feeds.document import StatedFeed
from pressbox.curator.feeds.elements import UNDECLARED
from pressbox.curator.feeds.json_feed import read_json_feed
from pressbox.curator.feeds.loose_feed import read_loose_feed
from pressbox.curator.feeds.xml_feed import read_xml_feed
from pressbox.curator.library.domain.feeds import ParsedFeed
from pressbox.curator.text.charsets import decode

if TYPE_CHECKING:
    from lxml.etree import XMLParser, _Element  # type: ignore[import-untyped]

# Nothing here looks further than the next bracket: a hostile document must not make a pattern start over and over.
_ROOT = re.compile(r"<(?:\w{1,20}:)?(?:rss|feed|rdf|channel)\b", re.IGNORECASE)
_PAGE = re.compile(r"<!doctype\s+html|<html\b|<head\b|<body\b", re.IGNORECASE)
_LOGIN = re.compile(r"<input\b[^<>]*\btype\s*=\s*[\"']?password", re.IGNORECASE)
_NOT_IN_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff\ud800-\udfff]")
_NAMED = re.compile(r"&([A-Za-z][A-Za-z0-9]{1,31});")
_LOOSE = re.compile(r"&(?!(?:amp|lt|gt|quot|apos|#[0-9]{1,7}|#[xX][0-9a-fA-F]{1,6});)")
_USED_PREFIX = re.compile(r"</?([A-Za-z_][\w.-]{0,30}):[A-Za-z_]")
_DECLARED_PREFIX = re.compile(r"\bxmlns:([\w.-]{1,31})\s*=")
_XML_KNOWS = frozenset({"amp", "lt", "gt", "quot", "apos"})
_CDATA, _CDATA_END = "<![CDATA[", "]]>"
# A root stands at the beginning, behind a style sheet, a licence or the warnings of a server at most.
_FRONT = 100_000


class NotAFeedError(PermanentError):
    code = "not_a_feed"
    status = 422


class LoginPageError(NotAFeedError):
    code = "login_page"


def parse(
    content: bytes, content_type: str, url: str, *, now: datetime | None = None, limit: int | None = None
) -> ParsedFeed:
    """Read any feed; NotAFeedError says what was found instead. `url` is where relative addresses begin.

    CPU work of some milliseconds: not for the event loop.
    """
    decoded = decode(content, content_type)
    stated = _read(decoded.text, url)
    if stated is None:
        raise _not_a_feed(decoded.text)
    if decoded.problem:
        stated = replace(stated, problems=(decoded.problem, *stated.problems))
    return cleaned(stated, url, now or datetime.now(UTC), limit)


def _read(text: str, url: str) -> StatedFeed | None:
    if text.startswith(("{", "[")):
        return read_json_feed(text, url)
    root = _ROOT.search(text, 0, _FRONT)
    # A page may speak of feeds in its scripts.
    if root is None or _PAGE.search(text, 0, root.start()):
        return None
    # Without what stands in front. A document's own entities are a weapon and not a need: HTML's are known anyway.
    document = text[root.start() :]
    tree, problem = _tree(document, url)
    stated = read_loose_feed(document, url) if tree is None else read_xml_feed(tree, url)
    if stated is None or not problem:
        return stated
    return replace(stated, problems=(problem, *stated.problems))


def _tree(document: str, url: str) -> "tuple[_Element | None, str]":
    # A worker starts without it, and most crawls find nothing new to read.
    from lxml import etree  # type: ignore[import-untyped]

    try:
        return etree.fromstring(document.encode(errors="replace"), _parser(), base_url=url), ""
    except etree.XMLSyntaxError as error:
        problem = f"The XML is broken at line {error.position[0]}; it was mended and read all the same."
    try:
        return etree.fromstring(mended(document).encode(), _parser(), base_url=url), problem
    except etree.XMLSyntaxError:
        return None, problem


def _parser() -> "XMLParser":
    from lxml import etree

    return etree.XMLParser(
        resolve_entities=False, load_dtd=False, no_network=True, huge_tree=False, remove_comments=True, remove_pis=True
    )


def mended(document: str) -> str:
    """Without control characters, loose ampersands, HTML's entities and prefixes that nobody declared."""
    clean = _NOT_IN_XML.sub("", document)
    pieces: list[str] = []
    place = 0
    while place < len(clean):
        start = clean.find(_CDATA, place)
        end = clean.find(_CDATA_END, start) if start >= 0 else -1
        if end < 0:
            pieces.append(_with_known_entities(clean[place:]))
            break
        # Inside a CDATA section an ampersand is one.
        pieces += (_with_known_entities(clean[place:start]), clean[start : end + len(_CDATA_END)])
        place = end + len(_CDATA_END)
    return _with_declared_prefixes("".join(pieces))


def _with_known_entities(text: str) -> str:
    return _LOOSE.sub("&amp;", _NAMED.sub(_as_character, text))


def _as_character(found: re.Match[str]) -> str:
    return found.group() if found.group(1) in _XML_KNOWS else html.unescape(found.group())


def _with_declared_prefixes(text: str) -> str:
    missing = set(_USED_PREFIX.findall(text)) - set(_DECLARED_PREFIX.findall(text)) - {"xml"}
    name = _ROOT.match(text)
    if not missing or name is None:
        return text
    declared = "".join(f' xmlns:{prefix}="{UNDECLARED}{prefix}"' for prefix in sorted(missing))
    return text[: name.end()] + declared + text[name.end() :]


def _not_a_feed(text: str) -> NotAFeedError:
    if not text.strip():
        return NotAFeedError("The answer is empty.")
    if _LOGIN.search(text):
        return LoginPageError(
            "The address answers with a page to sign in. Use the feed's public address, if it has one."
        )
    if _PAGE.search(text[:5_000]):
        return NotAFeedError(
            "The address answers with a web page and not with a feed. Add the site again to look for its feed."
        )
    return NotAFeedError("The answer is neither RSS nor Atom nor JSON Feed.")
