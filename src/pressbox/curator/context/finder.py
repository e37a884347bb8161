"""What an entry is about, by rules alone. Pure CPU work on strangers' text, run in the parser pool."""

from dataclasses import replace

from pressbox.curator.context.domain.candidates import candidates, extract_entities, extract_relationships
from pressbox.curator.context.domain.content_types import detect_content_type, detect_domain
from pressbox.curator.context.domain.context import (
    ContextMethod,
    Entity,
    EntityKind,
    EntryContext,
    entity_key,
    find_repositories,
)
from pressbox.curator.context.links import extract_links, find_installed_programs
from pressbox.curator.context.ports import ContextSource
from pressbox.curator.text.key_sentences import choose_sentences
from pressbox.curator.text.languages import detect_language
from pressbox.curator.text.lines import is_boilerplate, split_lines
from pressbox.curator.text.sentences import Sentence, split_roughly, split_sentences

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
