"""Which repository is the software that an article speaks of. Pure.

Without a model only what is evident counts: a repository that the article links to, or one that has the name and is
known for it, and whose description speaks of what the article speaks of.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from pressbox.curator.context.domain.context import ContextLink, entity_key
from pressbox.curator.context.domain.repository_links import fold_name, repositories_in
from pressbox.curator.text.sentences import extract_terms

WELL_KNOWN = 200
# Another of the same name that is nearly as well known makes it unclear which one is meant.
CLEARLY_MORE = 5
SHARED_WORDS = 2


@dataclass(frozen=True)
class Repository:
    """`linked`: the article leads there itself."""

    full_name: str
    url: str
    description: str = ""
    stars: int = 0
    language: str = ""
    licence: str = ""
    topics: tuple[str, ...] = ()
    pushed_at: datetime | None = None
    archived: bool = False
    fork: bool = False
    linked: bool = False

    @property
    def name(self) -> str:
        return self.full_name.partition("/")[2]


def linked_repository(name: str, links: Sequence[ContextLink]) -> str | None:
    return repositories_in(links).get(fold_name(name))


def evident(name: str, found: Sequence[Repository], text: str) -> Repository | None:
    """The one that it is beyond doubt, or None."""
    linked = next((one for one in found if one.linked and _same_name(name, one)), None)
    if linked is not None:
        return linked
    named = sorted((one for one in found if _same_name(name, one) and not one.fork), key=lambda one: -one.stars)
    if not named or named[0].stars < WELL_KNOWN:
        return None
    if len(named) > 1 and named[1].stars * CLEARLY_MORE > named[0].stars:
        return None
    return named[0] if _speaks_of_it(name, named[0], text) else None


def _same_name(name: str, repository: Repository) -> bool:
    return fold_name(name) in (fold_name(repository.name), fold_name(repository.full_name.replace("/", "")))


def _speaks_of_it(name: str, repository: Repository, text: str) -> bool:
    """The description and the article share words beside the name itself."""
    said = {*extract_terms(repository.description, "en"), *(topic.lower() for topic in repository.topics)}
    return len((said - {entity_key(name), fold_name(name)}) & set(extract_terms(text, "en"))) >= SHARED_WORDS
