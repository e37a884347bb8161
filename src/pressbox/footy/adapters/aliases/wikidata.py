"""Team names from Wikidata: search for the team, load its labels and aliases, filter and rank.

Uses the MediaWiki action API (`list=search` with `haswbstatement`) and the SPARQL 1.1 results in JSON of the query
service. An outage raises; only an answer without a team means that there is none.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from urllib.parse import urlencode

from pydantic import Field

from pressbox.core.http.client import GuardedClient
from pressbox.footy.adapters.aliases.club_list import club_list
from pressbox.footy.adapters.aliases.countries import country_code, country_names, may_share_a_league
from pressbox.footy.adapters.sources.client import Clock, ModelT, SourceClient, SourceModel, utc_now
from pressbox.footy.domain.errors import SourceBusyError, SourceError, SourceLoginError, SourceRefusedError
from pressbox.footy.domain.names import fold
from pressbox.footy.domain.team_names import KnownName, Section, rank_aliases, split_section, strip_legal_form
from pressbox.footy.ports.storage import Aliases, TeamName

NAME = "wikidata"
MOST_CANDIDATES = 10
LANGUAGES = ("en", "mul", "de", "es", "fr", "it", "pt", "nl")
# Association football club, men's team, women's team; national team, that of men, that of women.
_KINDS = ("Q476028", "Q103229495", "Q51481377", "Q6979593", "Q135408445", "Q23905105")
_ENTITY = re.compile(r"Q[1-9][0-9]*")
_BUSY = frozenset({"maxlag", "ratelimited", "readonly"})
BUSY_PAUSE = timedelta(seconds=10)
NO_CONTACT = "refuses our requests (403). Enter a contact in the settings, so that its operators know whom to write to."
# Reserves, youth and women have names like those of the first team, and goals of their own.
_WOMEN = re.compile(r"\b(women|women's|ladies|femenin[oai]|feminin[oae]s?|frauen|femminile)\b")
_OTHER_TEAM = re.compile(r"\b(ii|iii|b|u-?\d\d|under-?\d\d|reserves?|youth|academy)\b")


class Hit(SourceModel):
    title: str


class Hits(SourceModel):
    search: tuple[Hit, ...] = ()


class ApiError(SourceModel):
    code: str
    info: str = ""


class SearchPage(SourceModel):
    """An error comes with status 200 and without `query`."""

    query: Hits | None = None
    error: ApiError | None = None


class Value(SourceModel):
    value: str
    language: str = Field("", alias="xml:lang")


class Binding(SourceModel):
    """`country` and `kind` are labels in English, where the team has them."""

    team: Value
    name: Value
    main: Value
    country: Value | None = None
    kind: Value | None = None


class Bindings(SourceModel):
    bindings: tuple[object, ...]


class QueryPage(SourceModel):
    results: Bindings


@dataclass(frozen=True)
class Entry:
    """What Wikidata says about one team."""

    names: tuple[KnownName, ...] = ()
    countries: frozenset[str] = frozenset()
    kinds: frozenset[str] = frozenset()

    def add(self, binding: Binding) -> "Entry":
        name = KnownName(binding.name.value, binding.name.language or "mul", binding.main.value == "true")
        return Entry(
            names=self.names if name in self.names else (*self.names, name),
            countries=self.countries | ({binding.country.value} if binding.country else set()),
            kinds=self.kinds | ({binding.kind.value} if binding.kind else set()),
        )

    @property
    def is_of_women(self) -> bool:
        return bool(_WOMEN.search(fold(" ".join(self.kinds)).casefold()) or _WOMEN.search(self._labels))

    @property
    def is_second_team(self) -> bool:
        return bool(_OTHER_TEAM.search(self._labels))

    @property
    def _labels(self) -> str:
        return " ".join(fold(name.text).casefold() for name in self.names if name.main)


class Wikidata:
    """`introduction` says who asks, as its rules demand; empty: as every request does."""

    def __init__(
        self, http: GuardedClient, search_url: str, query_url: str, clock: Clock = utc_now, introduction: str = ""
    ) -> None:
        self._client = SourceClient(NAME, http, clock)
        self._search_url = f"{search_url.rstrip('/')}/w/api.php"
        self._query_url = query_url
        self._introduction = {"User-Agent": introduction} if introduction else {}

    async def find_aliases(self, team: TeamName) -> Aliases:
        section = split_section(team.name)
        found = await self._search_teams(section.club)
        entries = await self._load_entries(found) if found else {}
        chosen = choose_entry(section, team.country, [entries[entity] for entity in found if entity in entries])
        known = [*(chosen.names if chosen else ()), *_national_names(section, team.country)]
        if known:
            known += _own_names(section, team)
        return Aliases(rank_aliases(section.club, known) if known else (), NAME)

    async def _search_teams(self, name: str) -> list[str]:
        """Find entities that are football teams, best match first."""
        kinds = "|".join(f"P31={kind}" for kind in _KINDS)
        words = " ".join(re.sub(r"[^\w\s'-]", " ", strip_legal_form(name)).split())
        parameters = {
            "action": "query",
            "list": "search",
            "srsearch": f"{words} haswbstatement:{kinds}",
            "srlimit": str(MOST_CANDIDATES),
            "srprop": "",
            "format": "json",
            "formatversion": "2",
        }
        page = await self._get(f"{self._search_url}?{urlencode(parameters)}", SearchPage)
        if page.query is None:
            code = page.error.code if page.error else "no answer"
            if code in _BUSY:
                raise SourceBusyError(f"{NAME}: too busy at the moment ({code}).", retry_after=BUSY_PAUSE)
            raise SourceError(f"{NAME}: the search failed ({code}).")
        return [hit.title for hit in page.query.search if _ENTITY.fullmatch(hit.title)]

    async def _load_entries(self, entities: Sequence[str]) -> dict[str, Entry]:
        address = f"{self._query_url}?{urlencode({'query': names_query(entities), 'format': 'json'})}"
        page = await self._get(address, QueryPage, {"Accept": "application/sparql-results+json"})
        entries: dict[str, Entry] = {}
        for binding in self._client.parse_each(page.results.bindings, Binding):
            entity = binding.team.value.rpartition("/")[2]
            entries[entity] = entries.get(entity, Entry()).add(binding)
        return entries

    async def _get(self, url: str, shape: type[ModelT], headers: Mapping[str, str] | None = None) -> ModelT:
        try:
            return await self._client.get(url, shape, headers={**self._introduction, **(headers or {})})
        except SourceLoginError as error:
            # There is no login here: it refuses programs that do not say whom to write to.
            raise SourceRefusedError(f"{NAME}: {NO_CONTACT}") from error


def choose_entry(section: Section, country: str, entries: Sequence[Entry]) -> Entry | None:
    """The entry of the team itself: of its country, of its gender, and under its very name rather than a longer one.

    The women of many clubs have no entry of their own, so that of the club stands in.
    """
    of_country = [entry for entry in entries if _fits_country(entry, country)]
    firsts = [entry for entry in of_country if not entry.is_second_team or section.other]
    women = [entry for entry in firsts if entry.is_of_women]
    others = [entry for entry in firsts if not entry.is_of_women]
    for pool in (women, others) if section.women else (others,):
        exact = [entry for entry in pool if _has_name(entry, section.club)]
        # A longer name may be another club's (Inter Miami), unless the country says that it is not.
        longer = [entry for entry in pool if country_code(country) and _has_longer_name(entry, section.club)]
        if exact or longer:
            return (exact or longer)[0]
    return None


def names_query(entities: Sequence[str]) -> str:
    """Ask for labels, aliases, short names and nicknames, the country and the kind of team. `main` marks a label."""
    teams = " ".join(f"wd:{entity}" for entity in entities)
    languages = ", ".join(f'"{language}"' for language in LANGUAGES)
    return (
        "SELECT DISTINCT ?team ?name ?main ?country ?kind WHERE { "
        f"VALUES ?team {{ {teams} }} "
        "{ ?team rdfs:label ?name . BIND(true AS ?main) } UNION "
        "{ ?team skos:altLabel ?name . BIND(false AS ?main) } UNION "
        "{ ?team wdt:P1813|wdt:P1449 ?name . BIND(false AS ?main) } "
        'OPTIONAL { ?team wdt:P17/rdfs:label ?country . FILTER(LANG(?country) = "en") } '
        'OPTIONAL { ?team (wdt:P31|wdt:P2094|wdt:P21)/rdfs:label ?kind . FILTER(LANG(?kind) = "en") } '
        f"FILTER(LANG(?name) IN ({languages})) }}"
    )


def _own_names(section: Section, team: TeamName) -> list[KnownName]:
    """What Wikidata does not have, or not as a name that is kept: OM, VfB, Chelsea Women."""
    if section.is_first_team:
        return club_list().find_proven(team)
    return [KnownName(section.name, main=True, proven=True)]


def _national_names(section: Section, country: str) -> tuple[KnownName, ...]:
    return () if country_code(country) else country_names(section.club)


def _fits_country(entry: Entry, country: str) -> bool:
    return not entry.countries or any(may_share_a_league(each, country) for each in entry.countries)


def _has_name(entry: Entry, club: str) -> bool:
    own = _plain(club)
    same = re.compile(rf"{re.escape(own)}( (women|ladies|national|(wo)?men s national)\b.*)?")
    return bool(own) and any(same.fullmatch(_plain(name.text)) for name in entry.names)


def _has_longer_name(entry: Entry, club: str) -> bool:
    own = _plain(club)
    return bool(own) and any(f" {own} " in f" {_plain(name.text)} " for name in entry.names)


def _plain(text: str) -> str:
    return " ".join(re.sub(r"[^\w]+", " ", fold(strip_legal_form(text)).casefold()).split())
