"""Finds out what an entry is about by rules alone, without key and network. Runs in the parser pool."""

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any
from urllib.parse import urldefrag, urlsplit

from pressbox.curator.articles.html_tree import parse_html
from pressbox.curator.context.activities import ContextSource
from pressbox.curator.context.candidates import candidates, extract_entities, extract_relationships
from pressbox.curator.context.domain import (
    ContextLink,
    ContextMethod,
    Entity,
    EntityKind,
    EntryContext,
    detect_content_type,
    detect_domain,
    entity_key,
    find_repositories,
)
from pressbox.curator.context.naming import INSTALLERS, INSTALLING
from pressbox.curator.library.parser_pool import ParserPool
from pressbox.curator.library.urls import canonical_url, host_of
from pressbox.curator.text.languages import detect_language
from pressbox.curator.text.plain_text import is_boilerplate, shorten, split_lines
from pressbox.curator.text.sentences import Sentence, choose_sentences, split_roughly, split_sentences

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


VERSION = "1"
KEY_POINTS = 5
# So much is split by the rules of its language, which take their time; what follows, by its marks.
CAREFULLY = 20_000
# A novel. What follows is not read: it would take longer than a piece of work may take on a busy machine.
LONGEST_READ = 400_000
MOST_PROGRAMS = 8


def extract_context(source: ContextSource) -> EntryContext:
    language = detect_language(source.text) or source.language.split("-")[0].lower()
    sentences = _sentences(source.text[:LONGEST_READ], language)
    texts = [sentence.text for sentence in sentences]
    found = candidates(texts, source.title, language)
    links = extract_links(source.html, source.url)
    named = extract_entities(found, texts)
    programs = (*find_repositories(links).values(), *find_installed_programs(source.html))
    points = choose_sentences(sentences, source.title, language, KEY_POINTS)
    return EntryContext(
        entry_id=source.entry_id,
        content_hash=source.content_hash,
        method=ContextMethod.OFFLINE,
        prompt_version=VERSION,
        domain=detect_domain(source.url) or "",
        content_type=detect_content_type(source.title, source.url, source.text),
        language=language,
        entities=_add_programs(named, programs[:MOST_PROGRAMS]),
        relationships=extract_relationships(found, texts),
        key_points=tuple(sentence.text for sentence in points),
        links=links,
    )


def _sentences(text: str, language: str) -> list[Sentence]:
    lines = ["" if is_boilerplate(line) else line for line in split_lines(text)]
    size, last = 0, len(lines) - 1
    for number, line in enumerate(lines):
        size += len(line)
        if size > CAREFULLY:
            last = number
            break
    careful = split_sentences(lines, 0, last, language)
    return careful + split_roughly(lines, last + 1, len(lines) - 1)


def _add_programs(named: tuple[Entity, ...], programs: tuple[str, ...]) -> tuple[Entity, ...]:
    """What the article links to as a repository, or installs, is software; named in the text or not."""
    by_key = {entity.key: entity for entity in named}
    for program in programs:
        name = program.rpartition("/")[2]
        known = by_key.get(entity_key(name))
        if known is None:
            by_key[entity_key(name)] = Entity(name, EntityKind.SOFTWARE)
        else:
            by_key[known.key] = replace(known, kind=EntityKind.SOFTWARE)
    return tuple(by_key.values())


class OfflineContextExtractor:
    def __init__(self, parsers: ParserPool) -> None:
        self._parsers = parsers

    async def extract(self, source: ContextSource) -> EntryContext:
        return await self._parsers.run(extract_context, source)


class PooledLinks:
    def __init__(self, parsers: ParserPool) -> None:
        self._parsers = parsers

    async def find(self, html: str, url: str) -> Sequence[ContextLink]:
        return await self._parsers.run(extract_links, html, url)
