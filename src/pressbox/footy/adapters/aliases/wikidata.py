"""Team names from Wikidata: search for the team, load its labels and aliases, filter and rank.

Uses the MediaWiki action API (`list=search` with `haswbstatement`) and the SPARQL 1.1 results in JSON of the query
service. An outage raises; only an answer without a team means that there is none.
"""

import re
from collections.abc import Sequence
from urllib.parse import urlencode

from pydantic import Field

from pressbox.core.http.client import GuardedClient
from pressbox.footy.adapters.sources.client import Clock, SourceClient, SourceModel, utc_now
from pressbox.footy.domain.errors import SourceError
from pressbox.footy.domain.names import KnownName, fold, rank_aliases, strip_legal_form
from pressbox.footy.ports.storage import Aliases, TeamName

NAME = "wikidata"
MOST_CANDIDATES = 5
LANGUAGES = ("en", "mul", "de", "es", "fr", "it", "pt", "nl")
# Association football club; national association football team; men's association football team.
_KINDS = ("Q476028", "Q6979593", "Q103229495")
_ENTITY = re.compile(r"Q[1-9][0-9]*")
# Reserves, youth and women have names like those of the first team, and goals of their own.
_OTHER_TEAM = re.compile(
    r"\b(ii|iii|b|u-?\d\d|under-?\d\d|women|women's|ladies|femenin[oi]|frauen|reserves?|youth|academy)\b"
)


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
    team: Value
    name: Value
    main: Value


class Bindings(SourceModel):
    bindings: tuple[object, ...]


class QueryPage(SourceModel):
    results: Bindings


class Wikidata:
    def __init__(self, http: GuardedClient, search_url: str, query_url: str, clock: Clock = utc_now) -> None:
        self._client = SourceClient(NAME, http, clock)
        self._search_url = f"{search_url.rstrip('/')}/w/api.php"
        self._query_url = query_url

    async def find_aliases(self, team: TeamName) -> Aliases:
        found = await self._search_teams(team.name)
        if not found:
            return Aliases((), NAME)
        names = await self._load_names(found)
        chosen = next((entity for entity in found if _is_same_team(team.name, names.get(entity, ()))), None)
        return Aliases(rank_aliases(team.name, names[chosen]) if chosen else (), NAME)

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
        page = await self._client.get(f"{self._search_url}?{urlencode(parameters)}", SearchPage)
        if page.query is None:
            code = page.error.code if page.error else "no answer"
            raise SourceError(f"{NAME}: the search failed ({code}).")
        return [hit.title for hit in page.query.search if _ENTITY.fullmatch(hit.title)]

    async def _load_names(self, entities: Sequence[str]) -> dict[str, tuple[KnownName, ...]]:
        address = f"{self._query_url}?{urlencode({'query': names_query(entities), 'format': 'json'})}"
        page = await self._client.get(address, QueryPage, headers={"Accept": "application/sparql-results+json"})
        names: dict[str, tuple[KnownName, ...]] = {}
        for binding in self._client.parse_each(page.results.bindings, Binding):
            entity = binding.team.value.rpartition("/")[2]
            known = KnownName(binding.name.value, binding.name.language or "mul", binding.main.value == "true")
            names[entity] = (*names.get(entity, ()), known)
        return names


def names_query(entities: Sequence[str]) -> str:
    """Ask for labels, aliases, short names and nicknames. `main` marks a label."""
    teams = " ".join(f"wd:{entity}" for entity in entities)
    languages = ", ".join(f'"{language}"' for language in LANGUAGES)
    return (
        "SELECT DISTINCT ?team ?name ?main WHERE { "
        f"VALUES ?team {{ {teams} }} "
        "{ ?team rdfs:label ?name . BIND(true AS ?main) } UNION "
        "{ ?team skos:altLabel ?name . BIND(false AS ?main) } UNION "
        "{ ?team wdt:P1813|wdt:P1449 ?name . BIND(false AS ?main) } "
        f"FILTER(LANG(?name) IN ({languages})) }}"
    )


def _is_same_team(team: str, names: Sequence[KnownName]) -> bool:
    """The search also finds teams that only share a word: one of the names must be the one we know."""
    own = _plain(team)
    labels = " ".join(fold(name.text).casefold() for name in names if name.main)
    if _OTHER_TEAM.search(labels) and not _OTHER_TEAM.search(fold(team).casefold()):
        return False
    return bool(own) and any(f" {own} " in f" {_plain(name.text)} " for name in names)


def _plain(text: str) -> str:
    return " ".join(re.sub(r"[^\w]+", " ", fold(strip_legal_form(text)).casefold()).split())
