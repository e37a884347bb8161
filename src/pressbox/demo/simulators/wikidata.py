"""Wikidata with a few teams: the search of its site and its query service.

A test or the demo gives it its teams; its answers follow the documentation of the MediaWiki API and of SPARQL 1.1
results in JSON.
"""

import re
from collections.abc import Mapping, Sequence
from enum import StrEnum
from http import HTTPStatus

from pressbox.core.contracts import Contract
from pressbox.demo.simulators.http_service import Answer, HttpService, Request

_ENTITY = re.compile(r"wd:(Q\d+)")


class WikidataTeam(Contract):
    """Names by language; the first of each is the label, the others are aliases. Country and kind are labels."""

    id: str
    names: Mapping[str, Sequence[str]]
    country: str = ""
    kind: str = "association football club"


class WikidataMood(StrEnum):
    """GOOD: as documented. BROKEN and LAGGED: status 200 with an error inside. HTML: a page instead of data. LIMITED:
    too many requests, as a page. HALF: a query that takes too long ends in the middle of its answer. NAMELESS: who
    does not say whom to write to is refused.
    """

    GOOD = "good"
    BROKEN = "broken"
    LAGGED = "lagged"
    HTML = "html"
    LIMITED = "limited"
    HALF = "half"
    NAMELESS = "nameless"


_LATE = b"SPARQL-QUERY: queryStr=SELECT java.util.concurrent.TimeoutException\n\tat java.util.concurrent.FutureTask"
_MOODS = {
    WikidataMood.HTML: Answer(200, b"<html>Our servers are under maintenance</html>", {"Content-Type": "text/html"}),
    WikidataMood.LIMITED: Answer(
        HTTPStatus.TOO_MANY_REQUESTS,
        b"<html><title>Too Many Requests</title>Too Many Requests - Please retry in 9 seconds.</html>",
        {"Content-Type": "text/html", "Retry-After": "9"},
    ),
    WikidataMood.NAMELESS: Answer(
        HTTPStatus.FORBIDDEN, b"Please set a user-agent and respect our robot policy https://w.wiki/4wJS. See T400119."
    ),
    WikidataMood.BROKEN: Answer.of(
        {"error": {"code": "cirrussearch-backend-error", "info": "We could not complete your search"}}
    ),
    WikidataMood.LAGGED: Answer.of({"error": {"code": "maxlag", "info": "Waiting for a database server: 7 s lagged"}}),
}


class WikidataSite(HttpService):
    """The keys of behaviours are `search` and `query`."""

    def __init__(self, teams: Sequence[WikidataTeam], port: int = 0) -> None:
        super().__init__(port)
        self._teams = {team.id: team for team in teams}
        self.mood = WikidataMood.GOOD

    @property
    def query_url(self) -> str:
        return f"{self.url}/sparql"

    def key_of(self, request: Request) -> str:
        return "query" if request.path == "/sparql" else "search"

    async def answer(self, request: Request) -> Answer:
        named = any(sign in request.headers.get("user-agent", "") for sign in ("@", "://"))
        if self.mood in _MOODS and not (self.mood is WikidataMood.NAMELESS and named):
            return _MOODS[self.mood]
        match request.path:
            case "/w/api.php":
                return self._search(request.first("srsearch") or "")
            case "/sparql":
                whole = self._query(request.first("query") or "")
                late = Answer(whole.status, whole.body[: len(whole.body) // 2] + _LATE, whole.headers)
                return late if self.mood is WikidataMood.HALF else whole
        return Answer(HTTPStatus.NOT_FOUND)

    def _search(self, question: str) -> Answer:
        words = question.partition(" haswbstatement:")[0].casefold().split()
        hits = [
            {"ns": 0, "title": team.id, "pageid": int(team.id[1:])}
            for team in self._teams.values()
            if all(any(word in name.casefold() for names in team.names.values() for name in names) for word in words)
        ]
        return Answer.of({"batchcomplete": True, "query": {"searchinfo": {"totalhits": len(hits)}, "search": hits}})

    def _query(self, query: str) -> Answer:
        teams = [self._teams[entity] for entity in _ENTITY.findall(query) if entity in self._teams]
        bindings = [
            {
                "team": {"type": "uri", "value": f"http://www.wikidata.org/entity/{team.id}"},
                "name": {"type": "literal", "xml:lang": language, "value": name},
                "main": {"type": "literal", "value": str(number == 0).lower()},
                "kind": {"type": "literal", "xml:lang": "en", "value": team.kind},
            }
            # What a team does not have is left out of a row, as the query service does for optional parts.
            | ({"country": {"type": "literal", "xml:lang": "en", "value": team.country}} if team.country else {})
            for team in teams
            for language, names in team.names.items()
            for number, name in enumerate(names)
        ]
        return Answer.of(
            {"head": {"vars": ["team", "name", "main", "country", "kind"]}, "results": {"bindings": bindings}}
        )
