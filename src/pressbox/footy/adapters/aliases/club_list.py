"""Team names from the list that comes with the program, for places without a network."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib import resources

from pressbox.footy.domain.names import KnownName, fold, rank_aliases, strip_legal_form
from pressbox.footy.ports.storage import Aliases, TeamName

SOURCE = "club list"
# Our own list first: it has the abbreviations that people use.
_FILES = ("teams.tsv", "clubs.tsv")


@dataclass(frozen=True)
class _Club:
    country: str
    names: tuple[str, ...]


class ClubList:
    """Reads its files at first use and keeps them."""

    async def find_aliases(self, team: TeamName) -> Aliases:
        names = [name for listed in self._find(team) for name in listed.names]
        if not names:
            return Aliases((), SOURCE)
        return Aliases(
            rank_aliases(team.name, [KnownName(name, main=number == 0) for number, name in enumerate(names)]), SOURCE
        )

    def _find(self, team: TeamName) -> Sequence[_Club]:
        """Clubs of this name, of the team's country where it is known. Namesakes are not mixed."""
        found = self._by_name.get(_key(team.name), ())
        country = fold(team.country).casefold().replace(" ", "-")
        same = [listed for listed in found if listed.country == country] or list(found)
        return [listed for listed in same if listed.country == same[0].country]

    @cached_property
    def _by_name(self) -> dict[str, list[_Club]]:
        known: dict[str, list[_Club]] = {}
        for listed in _read_clubs():
            for key in dict.fromkeys(_key(name) for name in listed.names):
                known.setdefault(key, []).append(listed)
        return known


def _key(name: str) -> str:
    return "".join(char for char in fold(strip_legal_form(name)).casefold() if char.isalnum())


def _read_clubs() -> Iterator[_Club]:
    for file in _FILES:
        text = (resources.files("pressbox.footy") / "data" / file).read_text(encoding="utf-8")
        for line in text.splitlines():
            country, name, aliases = line.split("\t")
            yield _Club(country, tuple(filter(None, (name, *aliases.split("|")))))
