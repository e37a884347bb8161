"""The part of GitHub's REST API that software cards need: search for repositories, one repository, its README.

Answers follow GitHub's documentation. Besides what every simulator can do wrong its rate limit can be used up (403 with
`x-ratelimit-reset`), it can ask for a pause (403 with `retry-after`), and refuse a token.
"""

import json
import time
from dataclasses import dataclass
from urllib.parse import unquote

from pressbox.demo.simulators.http_service import Answer, HttpService, Request

HTML = "application/vnd.github.html"
_HEADERS = {"Content-Type": "application/json; charset=utf-8", "X-GitHub-Media-Type": "github.v3; format=json"}


@dataclass(frozen=True)
class SimulatedRepository:
    full_name: str
    description: str
    stars: int
    language: str = "Python"
    licence: str = "MIT"
    topics: tuple[str, ...] = ()
    readme: str = ""
    fork: bool = False

    def answer(self) -> dict[str, object]:
        owner, _, name = self.full_name.partition("/")
        return {
            "id": sum(self.full_name.encode()),
            "name": name,
            "full_name": self.full_name,
            "private": False,
            "owner": {"login": owner, "type": "Organization"},
            "html_url": f"https://github.com/{self.full_name}",
            "description": self.description,
            "fork": self.fork,
            "stargazers_count": self.stars,
            "watchers_count": self.stars,
            "language": self.language,
            "license": {"key": self.licence.lower(), "name": self.licence, "spdx_id": self.licence},
            "topics": list(self.topics),
            "pushed_at": "2026-11-10T08:15:00Z",
            "archived": False,
            "default_branch": "main",
        }


_README = (
    '<div id="readme" class="md"><article class="markdown-body entry-content" itemprop="text">'
    '<h1>Lanternfish</h1><p><img src="docs/logo.svg" alt="Logo"> A small database for <b>time series</b>, written in '
    'Rust. Read the <a href="docs/guide.md">guide</a>.</p><pre><code>cargo add lanternfish</code></pre>'
    "<script>alert(1)</script></article></div>"
)
REPOSITORIES = (
    SimulatedRepository(
        "lanternfish-db/lanternfish",
        "A small embedded database for time series, with a query language of its own",
        4812,
        "Rust",
        "Apache-2.0",
        ("database", "time-series", "embedded", "rust"),
        _README,
    ),
    SimulatedRepository("someone/lanternfish", "My lantern fish screensaver", 3, "JavaScript"),
    SimulatedRepository(
        "papermill-press/quillwork",
        "Static site generator for long texts, footnotes and books",
        918,
        "Go",
        topics=("static-site-generator", "publishing"),
        readme="<h1>Quillwork</h1><p>Makes books out of Markdown.</p>",
    ),
)


class GitHubService(HttpService):
    """`GET /search/repositories`, `/repos/{owner}/{name}` and its `/readme`. With a `key`, other tokens are refused."""

    def __init__(
        self, port: int = 0, *, repositories: tuple[SimulatedRepository, ...] = REPOSITORIES, key: str | None = None
    ) -> None:
        super().__init__(port)
        self.repositories = list(repositories)
        self.asked: list[str] = []
        self._key = key
        self._refusals: list[dict[str, str]] = []

    def use_up(self, seconds: float, times: int = 1) -> None:
        """Refuse the next requests because the rate limit is used up for this many seconds."""
        reset = {"x-ratelimit-remaining": "0", "x-ratelimit-reset": str(int(time.time() + seconds) + 1)}
        self._refusals.extend([reset] * times)

    def ask_for_pause(self, seconds: int, times: int = 1) -> None:
        """Refuse the next requests with what GitHub calls the secondary rate limit."""
        self._refusals.extend([{"retry-after": str(seconds)}] * times)

    async def answer(self, request: Request) -> Answer:
        self.asked.append(request.path)
        sent = request.headers.get("authorization")
        if sent is not None and self._key is not None and sent != f"Bearer {self._key}":
            return _to_answer({"message": "Bad credentials"}, 401)
        if self._refusals:
            return _to_answer({"message": "API rate limit exceeded"}, 403, self._refusals.pop(0))
        parts = [unquote(part) for part in request.path.split("/") if part]
        match parts:
            case ["search", "repositories"]:
                return self._search(request)
            case ["repos", owner, name]:
                return self._get_repository(f"{owner}/{name}")
            case ["repos", owner, name, "readme"]:
                return self._get_readme(f"{owner}/{name}", request.headers.get("accept", ""))
        return _to_answer({"message": "Not Found"}, 404)

    async def inspect(self, request: Request) -> Answer:
        return Answer.of(self.asked)

    def forget(self) -> None:
        self.asked.clear()

    def _search(self, request: Request) -> Answer:
        query = request.first("q") or ""
        words = [word.strip('"').lower() for word in query.split() if not word.startswith("in:")]
        if not words:
            return _to_answer({"message": "Validation Failed", "errors": [{"code": "missing", "field": "q"}]}, 422)
        found = [one for one in self.repositories if all(word in one.full_name.lower() for word in words)]
        found.sort(key=lambda one: -one.stars)
        most = int(request.first("per_page") or "30")
        items = [one.answer() for one in found[:most]]
        return _to_answer({"total_count": len(found), "incomplete_results": False, "items": items})

    def _get_repository(self, full_name: str) -> Answer:
        found = self._find(full_name)
        return _to_answer({"message": "Not Found"}, 404) if found is None else _to_answer(found.answer())

    def _get_readme(self, full_name: str, accept: str) -> Answer:
        found = self._find(full_name)
        if found is None or not found.readme:
            return _to_answer({"message": "Not Found"}, 404)
        if not accept.startswith(HTML):
            return _to_answer({"name": "README.md", "path": "README.md", "encoding": "base64", "content": ""})
        return Answer(200, found.readme.encode(), {"Content-Type": f"{HTML}; charset=utf-8"})

    def _find(self, full_name: str) -> SimulatedRepository | None:
        return next((one for one in self.repositories if one.full_name.lower() == full_name.lower()), None)


def _to_answer(value: object, status: int = 200, headers: dict[str, str] | None = None) -> Answer:
    return Answer(status, json.dumps(value).encode(), {**_HEADERS, **(headers or {})})
