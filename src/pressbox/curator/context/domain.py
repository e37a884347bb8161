"""What an entry is about: field, kind of text, entities, relations, key points and links, joined from pieces. Pure.

Context, graph, asking and research speak of the same entities, so they are here once.

The same words are what a model may answer, so pages know all of them.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from urllib.parse import urlsplit

from pressbox.curator.library.urls import host_of

# The relation of names that stand in one sentence.
MENTIONED_WITH = "mentioned with"
_TO_FOLD = re.compile(r"[\s._-]+|(?:js|py|rs|go)$")
FULL_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,99}/[A-Za-z0-9_.-]{1,100}")
_HOSTS = ("github.com", "www.github.com")
_NO_OWNERS = ("topics", "features", "orgs", "sponsors", "about", "settings", "marketplace", "apps", "search", "login")


class ContextMethod(StrEnum):
    """OFFLINE: candidates found by rules, labelled as such wherever they are shown."""

    OFFLINE = "offline"
    LLM = "llm"


class EntityKind(StrEnum):
    PERSON = "person"
    ORGANISATION = "organisation"
    PLACE = "place"
    SOFTWARE = "software"
    PRODUCT = "product"
    EVENT = "event"
    CONCEPT = "concept"
    OTHER = "other"


@dataclass(frozen=True)
class Entity:
    """`quote` is a passage of the entry that names it."""

    name: str
    kind: EntityKind = EntityKind.OTHER
    description: str = ""
    quote: str = ""

    @property
    def key(self) -> str:
        return entity_key(self.name)


@dataclass(frozen=True)
class Relationship:
    """Both ends are names of entities of the same entry."""

    source: str
    target: str
    relation: str
    quote: str = ""


@dataclass(frozen=True)
class ContextLink:
    url: str
    title: str = ""


@dataclass(frozen=True)
class EntryContext:
    entry_id: int
    content_hash: str
    method: ContextMethod
    model: str = ""
    prompt_version: str = ""
    domain: str = ""
    content_type: str = ""
    language: str = ""
    entities: tuple[Entity, ...] = ()
    relationships: tuple[Relationship, ...] = ()
    key_points: tuple[str, ...] = ()
    links: tuple[ContextLink, ...] = ()


def entity_key(name: str) -> str:
    """One spelling for all: "  OpenAI’s " and "openai's" are the same."""
    plain = unicodedata.normalize("NFKC", name).replace("’", "'").casefold()
    return " ".join(plain.split()).strip(" .,;:!?\"'()[]")


def find_repositories(links: Sequence[ContextLink]) -> dict[str, str]:
    """`owner/name` of repositories on GitHub that an article links to, by the name folded."""
    found: dict[str, str] = {}
    for link in links:
        pieces = [piece for piece in urlsplit(link.url).path.split("/") if piece]
        if host_of(link.url) not in _HOSTS or len(pieces) < 2 or pieces[0] in _NO_OWNERS:
            continue
        full_name = f"{pieces[0]}/{pieces[1].removesuffix('.git')}"
        if FULL_NAME.fullmatch(full_name):
            found.setdefault(fold_name(full_name.partition("/")[2]), full_name)
    return found


def fold_name(name: str) -> str:
    return _TO_FOLD.sub("", entity_key(name))


class ContentType(StrEnum):
    ARTICLE = "article"
    GUIDE = "guide"
    REVIEW = "review"
    INTERVIEW = "interview"
    OPINION = "opinion"
    RELEASE_NOTES = "release notes"
    PAPER = "paper"
    REFERENCE = "reference"
    NOTE = "short note"
    OTHER = "other"


class Domain(StrEnum):
    TECHNOLOGY = "technology"
    SCIENCE = "science"
    HEALTH = "health"
    POLITICS = "politics"
    BUSINESS = "business"
    SPORT = "sport"
    CULTURE = "culture"
    ENVIRONMENT = "environment"
    SOCIETY = "society"
    TRAVEL = "travel"
    OTHER = "other"


_SECTIONS: Mapping[Domain, str] = {
    Domain.TECHNOLOGY: "technology tech technik digital netzwelt computer software developer programming informatique",
    Domain.SCIENCE: "science wissen wissenschaft sciences ciencia ciencias space physics",
    Domain.HEALTH: "health gesundheit sante salud saude medizin medicine coronavirus",
    Domain.POLITICS: "politics politik politique politica elections wahlen us-politics inland ausland",
    Domain.BUSINESS: "business wirtschaft economy economie economia finance finanzen money markets mercado",
    Domain.SPORT: "sport sports fussball football esporte deportes",
    Domain.CULTURE: "culture kultur arts music film books feuilleton cultura musique livres",
    Domain.ENVIRONMENT: "environment umwelt climate klima environnement medio-ambiente",
    Domain.SOCIETY: "society gesellschaft panorama societe sociedad education",
    Domain.TRAVEL: "travel reise reisen voyage viajes",
}
_BY_SECTION = {word: domain for domain, words in _SECTIONS.items() for word in words.split()}
_BY_TITLE: tuple[tuple[ContentType, re.Pattern[str]], ...] = (
    (ContentType.INTERVIEW, re.compile(r"interview\b|im gespräch\b|entretien\b|entrevista\b|q&a\b", re.IGNORECASE)),
    (
        ContentType.OPINION,
        re.compile(r"(?:opinion|kommentar|editorial|meinung|column|tribune)\b ?[:|–-]", re.IGNORECASE),
    ),
    (ContentType.REVIEW, re.compile(r"review\b|im test\b|testbericht\b|rezension\b|critique ?:", re.IGNORECASE)),
    (
        ContentType.GUIDE,
        re.compile(r"how to\b|tutorial\b|guide\b|anleitung\b|so geht\b|comment faire\b|cómo\b", re.IGNORECASE),
    ),
    (
        ContentType.RELEASE_NOTES,
        re.compile(r"release notes\b|changelog\b|\breleased?\b.{0,40}\d\.\d|\d\.\d.{0,40}\breleased\b", re.IGNORECASE),
    ),
)
_BY_PATH: Mapping[str, ContentType] = {
    "opinion": ContentType.OPINION,
    "opinions": ContentType.OPINION,
    "meinung": ContentType.OPINION,
    "commentisfree": ContentType.OPINION,
    "review": ContentType.REVIEW,
    "reviews": ContentType.REVIEW,
    "interview": ContentType.INTERVIEW,
    "tutorial": ContentType.GUIDE,
    "tutorials": ContentType.GUIDE,
    "how-to": ContentType.GUIDE,
    "releases": ContentType.RELEASE_NOTES,
    "changelog": ContentType.RELEASE_NOTES,
    "rfc": ContentType.REFERENCE,
    "wiki": ContentType.REFERENCE,
    "docs": ContentType.REFERENCE,
    "abs": ContentType.PAPER,
}
_LONGEST_NOTE = 600
_LONGEST_TITLE = 300


def detect_domain(url: str) -> Domain | None:
    """By the section of the site in its address."""
    return next((_BY_SECTION[part] for part in _parts(url) if part in _BY_SECTION), None)


def detect_content_type(title: str, url: str, text: str) -> ContentType:
    host = host_of(url)
    if host.endswith(("arxiv.org", "doi.org")):
        return ContentType.PAPER
    for part in _parts(url):
        if part in _BY_PATH and (part != "abs" or "arxiv" in host):
            return _BY_PATH[part]
    for kind, pattern in _BY_TITLE:
        if pattern.search(title[:_LONGEST_TITLE]):
            return kind
    return ContentType.NOTE if len(text) < _LONGEST_NOTE else ContentType.ARTICLE


def _parts(url: str) -> list[str]:
    """Of an address, what stands between its slashes, and the first label of its host: sport.example.org."""
    try:
        path = urlsplit(url).path
    except ValueError:
        return []
    return [*host_of(url).split(".")[:1], *(part for part in path.lower().split("/") if part)]


PIECE = 12_000
OVERLAP = 600
MOST_ENTITIES = 40
MOST_RELATIONSHIPS = 60
MOST_POINTS = 8
_SPACE = re.compile(r"\s+")
# Where a piece may end, best first.
_BREAKS = ("\n", "。", ". ", " ")


@dataclass(frozen=True)
class PieceContext:
    """Of one piece of the text."""

    domain: str
    content_type: str
    entities: tuple[Entity, ...]
    relationships: tuple[Relationship, ...]
    key_points: tuple[str, ...]


@dataclass(frozen=True)
class MergedContext:
    domain: str
    content_type: str
    entities: tuple[Entity, ...]
    relationships: tuple[Relationship, ...]
    key_points: tuple[str, ...]


def split_pieces(text: str) -> list[str]:
    """The whole text in pieces that overlap, so that no name is cut in two without being whole in one of them."""
    pieces, begin = [], 0
    while len(text) - begin > PIECE:
        end = _break(text, begin + PIECE // 2, begin + PIECE)
        pieces.append(text[begin:end])
        begin = max(_break(text, end - OVERLAP, end), begin + 1)
    return [*pieces, text[begin:]]


def _break(text: str, first: int, last: int) -> int:
    """Where a line, a sentence or a word ends between the two; the last place when none does."""
    window = text[first:last]
    for mark in _BREAKS:
        place = window.rfind(mark, 0, len(window) - 1) if len(window) > 1 else -1
        if place > 0:
            return first + place + len(mark)
    return last


def keep_supported(said: PieceContext, piece: str) -> PieceContext:
    """Without entities that the piece does not name, quotes that it does not have, and relations of strangers."""
    plain = _fold(piece)
    named = {entity.key: _keep_real_quote(entity, plain) for entity in said.entities if _fold(entity.name) in plain}
    relations = tuple(
        Relationship(named[source].name, named[target].name, one.relation, one.quote if _has(one.quote, plain) else "")
        for one in said.relationships
        if (source := entity_key(one.source)) in named and (target := entity_key(one.target)) in named
        if source != target
    )
    return PieceContext(said.domain, said.content_type, tuple(named.values()), relations, said.key_points)


def merge_pieces(pieces: Sequence[PieceContext]) -> MergedContext:
    """What most pieces say of the whole; every entity once, those of several pieces first."""
    counts = Counter(entity.key for piece in pieces for entity in {one.key: one for one in piece.entities}.values())
    known: dict[str, Entity] = {}
    for entity in (entity for piece in pieces for entity in piece.entities):
        known[entity.key] = _join_entities(known.get(entity.key), entity)
    # Sorting is stable: those of equally many pieces stay in the order of the text.
    chosen = sorted(known.values(), key=lambda entity: -counts[entity.key])[:MOST_ENTITIES]
    names = {entity.key: entity.name for entity in chosen}
    return MergedContext(
        domain=_most(piece.domain for piece in pieces),
        content_type=_most(piece.content_type for piece in pieces),
        entities=tuple(chosen),
        relationships=_relations(pieces, names),
        key_points=_points(pieces),
    )


def _relations(pieces: Sequence[PieceContext], names: Mapping[str, str]) -> tuple[Relationship, ...]:
    found: dict[tuple[str, str, str], Relationship] = {}
    for one in (one for piece in pieces for one in piece.relationships):
        source, target = entity_key(one.source), entity_key(one.target)
        if source in names and target in names:
            key = (source, target, one.relation.casefold())
            found.setdefault(key, Relationship(names[source], names[target], one.relation, one.quote))
    return tuple(found.values())[:MOST_RELATIONSHIPS]


def _points(pieces: Sequence[PieceContext]) -> tuple[str, ...]:
    """From every piece in turn: the end of a text has its say too."""
    found: dict[str, str] = {}
    for round_number in range(max((len(piece.key_points) for piece in pieces), default=0)):
        for piece in pieces:
            if round_number < len(piece.key_points):
                point = piece.key_points[round_number]
                found.setdefault(_fold(point), point)
    return tuple(found.values())[:MOST_POINTS]


def _join_entities(known: Entity | None, entity: Entity) -> Entity:
    if known is None:
        return entity
    kind = entity.kind if known.kind is EntityKind.OTHER else known.kind
    return Entity(known.name, kind, known.description or entity.description, known.quote or entity.quote)


def _most(values: Iterable[str]) -> str:
    counted = Counter(value for value in values if value)
    return counted.most_common(1)[0][0] if counted else ""


def _keep_real_quote(entity: Entity, plain: str) -> Entity:
    quote = entity.quote if _has(entity.quote, plain) else ""
    return Entity(entity.name, entity.kind, entity.description, quote)


def _has(quote: str, plain: str) -> bool:
    return bool(quote) and _fold(quote) in plain


def _fold(text: str) -> str:
    return _SPACE.sub(" ", text.replace("’", "'")).strip().casefold()
