"""Leagues and teams by name: what somebody types, and which of those that fit come first. Pure."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache

from pressbox.footy.domain.names import fold
from pressbox.footy.domain.team_names import split_section, strip_legal_form
from pressbox.footy.domain.views import FollowKind

# API-Football refuses shorter searches.
SHORTEST_ASKED = 3
LONGEST_ASKED = 60


@dataclass(frozen=True)
class Entry:
    """A league or team. Its id is negative as long as only the list that comes with the program knows it."""

    kind: FollowKind
    id: int
    name: str
    country: str = ""
    aliases: tuple[str, ...] = ()

    @property
    def is_listed_only(self) -> bool:
        return self.id < 0


# As somebody types, the same names are compared with every letter.
@lru_cache(maxsize=8192)
def plain_words(text: str) -> tuple[str, ...]:
    """Words in plain small letters, as names are compared."""
    return tuple("".join(char if char.isalnum() else " " for char in fold(text).casefold()).split())


def asked_text(query: str) -> str:
    """The search as API-Football takes it, letters, digits and blanks only; empty when it is too short for it."""
    text = " ".join(plain_words(query))[:LONGEST_ASKED].strip()
    return text if text.isascii() and len(text) >= SHORTEST_ASKED else ""


def searched_text(entry: Entry) -> str:
    """The plain words among which those of a search are looked for."""
    return " ".join(word for part in (entry.name, entry.country, *entry.aliases) for word in plain_words(part))


def rank_entries(entries: Iterable[Entry], words: Sequence[str], near: frozenset[str], limit: int) -> tuple[Entry, ...]:
    """Sort by how well the name fits; among equals first teams, then the countries whose leagues are followed."""
    return tuple(sorted(entries, key=lambda entry: (_distance(entry, words), *_order(entry, near)))[:limit])


def _distance(entry: Entry, words: Sequence[str]) -> int:
    wanted = " ".join(words)
    names = [" ".join(plain_words(name)) for name in (entry.name, strip_legal_form(entry.name))]
    others = [" ".join(plain_words(name)) for name in entry.aliases]
    if wanted in names:
        return 0
    if wanted in others:
        return 1
    if any(name.startswith(wanted) for name in names):
        return 2
    if any(f" {name}".find(f" {wanted}") >= 0 for name in (*names, *others)):
        return 3
    return 4


def _order(entry: Entry, near: frozenset[str]) -> tuple[bool, bool, int, str, str]:
    section = split_section(entry.name)
    far = entry.country.casefold() not in near
    return (section.women or section.other, far, len(entry.name), entry.name.casefold(), entry.country)
