"""Team names from the list that comes with the program, for places without a network."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from importlib import resources
from zlib import crc32

from pressbox.footy.adapters.aliases.countries import country_code, country_names, is_same_country, may_share_a_league
from pressbox.footy.domain.directory import Entry, searched_text
from pressbox.footy.domain.names import fold
from pressbox.footy.domain.team_names import KnownName, Section, rank_aliases, split_section, strip_legal_form
from pressbox.footy.domain.views import FollowKind
from pressbox.footy.ports.storage import Aliases, TeamName

SOURCE = "club list"
# The country of national teams in the list.
WORLD = "world"
# Our own list first: it has the abbreviations that people use.
_FILES = ("teams.tsv", "clubs.tsv")
# Behind a name that is kept although it would fit other clubs too.
_PROVEN = "!"


@dataclass(frozen=True)
class _Club:
    country: str
    names: tuple[str, ...]
    proven: frozenset[str] = frozenset()

    @property
    def known_names(self) -> Iterator[KnownName]:
        for number, name in enumerate(self.names):
            yield KnownName(name, main=number == 0, proven=name in self.proven)

    @property
    def id(self) -> int:
        """Negative, and the same for ever: API-Football numbers its teams upwards from 1."""
        return -1 - (crc32(f"{self.country}/{self.names[0]}".encode()) & 0x3FFFFFFF)

    @property
    def entry(self) -> Entry:
        country = "" if self.country == WORLD else self.country.replace("-n-", "-and-").replace("-", " ")
        # USA is written as it is.
        country = country.title() if country.islower() else country
        return Entry(
            FollowKind.TEAM, self.id, strip_legal_form(self.names[0]), country.replace(" And ", " and "), self.names[1:]
        )


class ClubList:
    """Reads its files at first use and keeps them."""

    async def find_aliases(self, team: TeamName) -> Aliases:
        section = split_section(team.name)
        clubs = self._find(section.club, team.country)
        countries = country_names(section.club) if not country_code(team.country) else ()
        if section.is_first_team:
            known = [*(name for club in clubs for name in club.known_names), *countries]
        else:
            known = self._names_of_section(section, team, [*(next(club.known_names) for club in clubs), *countries])
        return Aliases(rank_aliases(section.club, known) if known else (), SOURCE)

    def find_proven(self, team: TeamName) -> list[KnownName]:
        """Names that everybody uses, and that no rule would keep."""
        return [name for club in self._find(team.name, team.country) for name in club.known_names if name.proven]

    def _names_of_section(self, section: Section, team: TeamName, mains: Sequence[KnownName]) -> list[KnownName]:
        """Its own names and those of the club proper; LFC and the Gunners are the first teams."""
        listed = (name for club in self._find(team.name, team.country) for name in club.known_names)
        # Nobody types the mark of football data: Chelsea W.
        own = [name for name in listed if not name.text.endswith(" W")]
        if not own and not mains:
            return []
        return [KnownName(section.name, main=True, proven=True), *own, *mains]

    def search(self, words: Sequence[str]) -> Sequence[Entry]:
        """Clubs and national teams that have all of these plain words in a name or the country."""
        found = self._entries
        for word in words:
            found = [pair for pair in found if word in pair[1]]
        return [entry for entry, _ in found]

    def load_entry(self, listed_id: int) -> Entry | None:
        return next((entry for entry, _ in self._entries if entry.id == listed_id), None)

    def identify(self, team: TeamName) -> frozenset[int]:
        """The ids under which this list has a team of API-Football. Women, youth and reserves are not their club."""
        section = split_section(team.name)
        found = self._find(section.club if section.is_first_team else team.name, team.country)
        return frozenset(club.id for club in (found if country_code(team.country) else found[:1]))

    @cached_property
    def _entries(self) -> Sequence[tuple[Entry, str]]:
        """One for each club: our own list has some that the other has too, under a name that it has among others."""
        seen: set[tuple[str, str]] = set()
        entries = []
        for club in _read_clubs():
            keys = {(club.country, _key(name)) for name in club.names}
            if (club.country, _key(club.names[0])) in seen:
                continue
            seen |= keys
            entries.append((club.entry, searched_text(club.entry)))
        return entries

    def _find(self, name: str, country: str) -> Sequence[_Club]:
        """Clubs of this name that may play in the country's league. Namesakes are not mixed: better none than another.

        Where no country is known, as for teams seen in international cups only, the name must be one that the list
        spells in the same way: “SC Villa” is not “Villa”.
        """
        if not country_code(country):
            spelt = [club for club in self._by_name.get(_key(name), ()) if _spells(club, name)]
            return _of_one_country(spelt)
        found = [club for club in self._by_name.get(_key(name), ()) if club.country != WORLD]
        same = [club for club in found if is_same_country(club.country, country)]
        return same or _of_one_country([club for club in found if may_share_a_league(club.country, country)])

    @cached_property
    def _by_name(self) -> dict[str, list[_Club]]:
        known: dict[str, list[_Club]] = {}
        for listed in _read_clubs():
            for key in dict.fromkeys(_key(name) for name in listed.names):
                known.setdefault(key, []).append(listed)
        return known


@cache
def club_list() -> ClubList:
    """The one list of a process."""
    return ClubList()


def _of_one_country(clubs: Sequence[_Club]) -> list[_Club]:
    return [club for club in clubs if club.country == clubs[0].country]


def _spells(club: _Club, name: str) -> bool:
    """Whether the list has this very name, and not as the name of another club in its language."""
    main = set(_words(club.names[0]))
    return any(_words(known) == _words(name) and (main & set(_words(known)) or known.isupper()) for known in club.names)


def _words(name: str) -> list[str]:
    return "".join(char if char.isalnum() else " " for char in fold(name).casefold()).split()


def _key(name: str) -> str:
    return "".join(char for char in fold(strip_legal_form(name)).casefold() if char.isalnum())


def _read_clubs() -> Iterator[_Club]:
    for file in _FILES:
        text = (resources.files("pressbox.footy") / "data" / file).read_text(encoding="utf-8")
        for line in text.splitlines():
            country, name, aliases = line.split("\t")
            # Some lines of the extract carry its comments.
            names = [each.partition(" #")[0].strip() for each in (name, *aliases.split("|"))]
            proven = frozenset(each.removesuffix(_PROVEN) for each in names if each.endswith(_PROVEN))
            yield _Club(country, tuple(filter(None, (each.removesuffix(_PROVEN) for each in names))), proven)
