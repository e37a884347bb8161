"""Repositories of software from the REST API of GitHub: search, one repository, its README as GitHub renders it.

The address is an administrator's setting; it is asked through the guard like every other. Without a token GitHub
answers ten searches a minute and sixty requests an hour, so its limits are obeyed to the second.
"""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import TypeVar
from urllib.parse import quote, urlencode

import httpx
from pydantic import BaseModel, ConfigDict, Field, SecretStr, ValidationError

from pressbox.core.errors import ConfigurationError, PermanentError, PressboxError, RateLimitedError, TransientError
from pressbox.core.http.client import GuardedClient, Response
from pressbox.core.http.pauses import number, pause
from pressbox.curator.cards.domain import Repository
from pressbox.curator.cards.readme import readme_of
from pressbox.curator.context.domain import FULL_NAME
from pressbox.curator.library.parser_pool import ParserPool
from pressbox.curator.text.plain_text import shorten

VERSION = "2022-11-28"
JSON = "application/vnd.github+json"
HTML = "application/vnd.github.html+json"
TIMEOUT = timedelta(seconds=20)
LARGEST_ANSWER = 2_000_000
LONGEST_PAUSE = timedelta(hours=2)
BYTES_OF_DESCRIPTION = 300
MOST_TOPICS = 8
_NOTHING = (httpx.codes.NOT_FOUND, httpx.codes.GONE, 451)


class _Shape(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True)


class _Licence(_Shape):
    spdx_id: str | None = None
    name: str = ""


class _Repository(_Shape):
    full_name: str
    html_url: str
    description: str | None = None
    stargazers_count: int = Field(0, ge=0)
    language: str | None = None
    license: _Licence | None = None
    topics: tuple[str, ...] = ()
    pushed_at: datetime | None = None
    archived: bool = False
    fork: bool = False


class _Found(_Shape):
    items: tuple[object, ...]


ShapeT = TypeVar("ShapeT", bound=_Shape)


class GitHub:
    def __init__(self, http: GuardedClient, url: str, key: SecretStr | None, parsers: ParserPool) -> None:
        self._http = http
        self._url = url.rstrip("/")
        self._key = key
        self._parsers = parsers

    async def search(self, words: str, limit: int) -> Sequence[Repository]:
        query = urlencode(
            {"q": f"{_strip_qualifiers(words)} in:name", "per_page": limit, "sort": "stars", "order": "desc"}
        )
        answer = await self._get(f"/search/repositories?{query}", JSON)
        if answer.status == httpx.codes.UNPROCESSABLE_ENTITY:
            # Words that it cannot search for find nothing.
            return ()
        self._check(answer)
        return [one for item in _read(_Found, answer).items[:limit] if (one := _repository(item)) is not None]

    async def get(self, full_name: str) -> Repository | None:
        if not FULL_NAME.fullmatch(full_name):
            return None
        answer = await self._get(f"/repos/{quote(full_name)}", JSON)
        if answer.status in _NOTHING:
            return None
        self._check(answer)
        found = _repository(_read(_Repository, answer).model_dump())
        if found is None:
            raise TransientError("GitHub answers something else than a repository.")
        return found

    async def readme(self, repository: Repository) -> str:
        answer = await self._get(f"/repos/{quote(repository.full_name)}/readme", HTML)
        if answer.status in _NOTHING:
            return ""
        self._check(answer)
        html = answer.body.decode(errors="replace")
        return await self._parsers.run(
            readme_of, html, page_url=f"{repository.url}/blob/HEAD/", file_url=f"{repository.url}/raw/HEAD/"
        )

    async def _get(self, path: str, accept: str) -> Response:
        headers = {"Accept": accept, "X-GitHub-Api-Version": VERSION}
        if self._key is not None:
            headers["Authorization"] = f"Bearer {self._key.get_secret_value()}"
        return await self._http.get(f"{self._url}{path}", headers=headers, max_bytes=LARGEST_ANSWER, timeout=TIMEOUT)

    def _check(self, answer: Response) -> None:
        if answer.status != httpx.codes.OK:
            raise _error_for(answer.status, answer.headers)


def _error_for(status: int, headers: httpx.Headers) -> PressboxError:
    wait = pause(headers, datetime.now(UTC))
    limited = status in (httpx.codes.FORBIDDEN, httpx.codes.TOO_MANY_REQUESTS)
    if limited and (status == httpx.codes.TOO_MANY_REQUESTS or "retry-after" in headers or _is_rate_limited(headers)):
        bounded = None if wait is None else min(wait, LONGEST_PAUSE)
        return RateLimitedError(
            "GitHub wants fewer requests; a token raises its limit (PRESSBOX_CURATOR_GITHUB_KEY).", retry_after=bounded
        )
    if status == httpx.codes.UNAUTHORIZED:
        return ConfigurationError("GitHub refuses the token (401). Set PRESSBOX_CURATOR_GITHUB_KEY to a valid one.")
    if status >= httpx.codes.INTERNAL_SERVER_ERROR:
        return TransientError(f"GitHub answers {status}.")
    return PermanentError(f"GitHub answers {status}.")


def _is_rate_limited(headers: httpx.Headers) -> bool:
    return number(headers.get("x-ratelimit-remaining", "")) == 0


def _strip_qualifiers(words: str) -> str:
    """Without what GitHub takes for a qualifier or an operator: names come from articles."""
    kept = "".join(one if one.isalnum() or one in "-_.+#" else " " for one in words)
    return " ".join(f'"{word}"' if word.upper() in ("AND", "OR", "NOT") else word for word in kept.split())[:200]


def _read(shape: type[ShapeT], answer: Response) -> ShapeT:
    try:
        return shape.model_validate_json(answer.body)
    except ValidationError as error:
        raise TransientError("GitHub answers something else than it documents.") from error


def _repository(item: object) -> Repository | None:
    """None when it is not one that can be shown: each is looked at alone."""
    try:
        found = _Repository.model_validate(item)
    except ValidationError:
        return None
    if not FULL_NAME.fullmatch(found.full_name) or not found.html_url.startswith(("https://", "http://")):
        return None
    licence = found.license
    return Repository(
        full_name=found.full_name,
        url=found.html_url,
        description=shorten(_line(found.description or ""), BYTES_OF_DESCRIPTION),
        stars=found.stargazers_count,
        language=shorten(_line(found.language or "")),
        licence=_licence_name(licence),
        topics=tuple(shorten(_line(topic)) for topic in found.topics[:MOST_TOPICS]),
        pushed_at=_aware(found.pushed_at),
        archived=found.archived,
        fork=found.fork,
    )


def _licence_name(licence: _Licence | None) -> str:
    if licence is None:
        return ""
    named = licence.spdx_id if licence.spdx_id and licence.spdx_id != "NOASSERTION" else licence.name
    return shorten(_line(named))


def _aware(moment: datetime | None) -> datetime | None:
    return moment if moment is None or moment.tzinfo else moment.replace(tzinfo=UTC)


def _line(text: str) -> str:
    return " ".join("".join(one if one.isprintable() else " " for one in text).split())
