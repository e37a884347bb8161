"""The links of an article's HTML: addresses with their words, and programs that its code installs."""

import re
from collections.abc import Sequence
from typing import Any
from urllib.parse import urldefrag, urlsplit

from pressbox.curator.articles.html_tree import parse_html
from pressbox.curator.context.domain.context import ContextLink
from pressbox.curator.context.domain.naming import INSTALLERS, INSTALLING
from pressbox.curator.library.domain.urls import canonical_url, host_of
from pressbox.curator.text.plain_text import shorten

MOST_LINKS = 100
LONGEST_ADDRESS = 1_500
LONGEST_TITLE = 200
_SHARING = re.compile(r"/(?:sharer|intent|share|submit|shareArticle)\b", re.IGNORECASE)
_SHARING_HOSTS = (
    "facebook.com",
    "twitter.com",
    "x.com",
    "linkedin.com",
    "reddit.com",
    "t.me",
    "wa.me",
    "pinterest.com",
)
_CODE_WORD = re.compile(r"[A-Za-z0-9@._/-]{1,80}")
_PACKAGE = re.compile(r"[A-Za-z][A-Za-z0-9._-]{1,40}")
_MOST_CODE = 200


def extract_links(html: str, own_url: str) -> tuple[ContextLink, ...]:
    """In order of appearance, each once, without the article itself and buttons that share it."""
    root = parse_html(html)
    if root is None:
        return ()
    own = canonical_url(own_url)
    found: dict[str, ContextLink] = {}
    for element in root.iter("a"):
        address = urldefrag((element.get("href") or "").strip()).url
        if address not in found and (
            not _is_readable(address) or _is_share_button(address) or canonical_url(address) == own
        ):
            continue
        known = found.get(address)
        if known is None or not known.title:
            found[address] = ContextLink(address, shorten(" ".join(element.text_content().split()), LONGEST_TITLE))
        if len(found) > MOST_LINKS:
            break
    return tuple(found.values())[:MOST_LINKS]


def find_installed_programs(html: str) -> tuple[str, ...]:
    """Names behind "pip install", "npm add" and the like in pieces of code."""
    root = parse_html(html)
    if root is None:
        return ()
    names: dict[str, None] = {}
    for element in list(root.iter("pre", "code"))[:_MOST_CODE]:
        for line in _lines(element):
            names |= dict.fromkeys(_parse_install(_CODE_WORD.findall(line)[:12]))
    return tuple(names)


def _is_readable(address: str) -> bool:
    try:
        parts = urlsplit(address)
    except ValueError:
        return False
    return parts.scheme in ("http", "https") and bool(parts.netloc) and len(address) <= LONGEST_ADDRESS


def _is_share_button(address: str) -> bool:
    return host_of(address).removeprefix("www.") in _SHARING_HOSTS and _SHARING.search(address) is not None


def _lines(element: Any) -> list[str]:
    return [line.strip() for line in element.text_content().split("\n") if line.strip()][:_MOST_CODE]


def _parse_install(words: Sequence[str]) -> list[str]:
    for at, word in enumerate(words[:4]):
        if word in INSTALLERS and len(words) > at + 2 and words[at + 1] in INSTALLING:
            named = (part for part in words[at + 2 :] if not part.startswith("-"))
            return [part for part in named if _PACKAGE.fullmatch(part) and part.lower() != part.upper()][:3]
    return []
