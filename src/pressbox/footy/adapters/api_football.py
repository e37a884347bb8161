"""Fetches fixtures from API-Football, and tells its many kinds of errors apart."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import Any
from urllib.parse import urlencode, urlsplit

import httpx

from pressbox.core.errors import ConfigurationError, InvalidInputError, PermanentError, RateLimitedError, TransientError
from pressbox.core.http.client import GuardedClient, Response
from pressbox.core.http.pauses import pause
from pressbox.footy.domain.fixture_parser import MalformedAnswerError, fixture_id_of, parse_fixture
from pressbox.footy.ports.outside import DayAnswer, LiveAnswer
from pressbox.footy.ports.storage import RawFixture
from pressbox.footy.settings import FootySettings

NAME = "API-Football"
TIMEOUT = timedelta(seconds=10)
# A Saturday has over a thousand fixtures; live ones come with line-ups and statistics of all players.
LARGEST_ANSWER = 64_000_000
MOST_IDS = 20
MOST_PAGES = 50
MINUTE_LIMIT = timedelta(seconds=60)
RAPID_API = ".rapidapi.com"
_CLIENT_CLOSED = 499
# Keys of `errors` in an answer with status 200.
_KEY_ERRORS = frozenset({"token", "access", "key", "plan", "subscription"})
_MINUTE_ERRORS = frozenset({"ratelimit", "rate_limit"})
_DAY_ERRORS = frozenset({"requests"})
_REQUEST_ERRORS = frozenset({"required", "ids", "id", "date", "page", "timezone", "endpoint"})


@dataclass(frozen=True)
class Quota:
    """Requests left today and in this minute, from the last answer; None where it did not say."""

    day_limit: int | None = None
    day_left: int | None = None
    minute_left: int | None = None
    seen_at: datetime | None = None


class ApiFootball:
    """The fixtures API over the guarded client. `quota` comes from its last answer."""

    def __init__(self, client: GuardedClient, settings: FootySettings) -> None:
        self._client = client
        self._url = settings.api_url.rstrip("/")
        self._key = settings.api_key
        self.quota = Quota()

    async def fetch_day(self, day: date) -> DayAnswer:
        fixtures, problems = [], []
        pages, _ = await self._all_pages(date=day.isoformat())
        for raw in pages:
            try:
                fixtures.append(parse_fixture(raw))
            except MalformedAnswerError as error:
                problems.append(error.message)
        return DayAnswer(fixtures, problems)

    async def fetch_by_ids(self, fixture_ids: Sequence[int]) -> LiveAnswer:
        if not fixture_ids:
            return LiveAnswer({}, {}, calls=0)
        if len(fixture_ids) > MOST_IDS:
            raise InvalidInputError(f"{NAME} takes at most {MOST_IDS} ids at once.", field="fixture_ids")
        found, calls = await self._all_pages(ids="-".join(map(str, fixture_ids)))
        answered = {number: raw for raw in found if (number := fixture_id_of(raw)) in fixture_ids}
        fixtures = {number: answered[number] for number in fixture_ids if number in answered}
        missing = {
            number: f"{NAME} left this fixture out of its answer; the next poll asks again."
            for number in fixture_ids
            if number not in fixtures
        }
        return LiveAnswer(fixtures, missing, calls)

    async def _all_pages(self, **parameters: str) -> tuple[list[RawFixture], int]:
        found: list[RawFixture] = []
        page = total = 1
        while page <= total:
            body = await self._get({**parameters, "page": str(page)} if page > 1 else parameters)
            found += _fixtures_in(body)
            total = _page_count(body)
            if total > MOST_PAGES:
                raise TransientError(f"{NAME} reports {total} pages for one request, which cannot be right.")
            page += 1
        return found, total

    async def _get(self, parameters: Mapping[str, str]) -> Mapping[str, Any]:
        answer = await self._client.get(
            f"{self._url}/fixtures?{urlencode(parameters)}",
            headers=self._headers(),
            max_bytes=LARGEST_ANSWER,
            timeout=TIMEOUT,
        )
        self._note_quota(answer.headers)
        _check_status(answer)
        body = _decode(answer)
        _check_errors(body.get("errors"))
        return body

    def _headers(self) -> dict[str, str]:
        if self._key is None or not (key := self._key.get_secret_value()):
            raise ConfigurationError(
                f"There is no key for {NAME}: set API_FOOTBALL_KEY. To look around, `pressbox demo` needs none."
            )
        host = urlsplit(self._url).hostname or ""
        if host.endswith(RAPID_API):
            return {"x-rapidapi-key": key, "x-rapidapi-host": host}
        return {"x-apisports-key": key}

    def _note_quota(self, headers: httpx.Headers) -> None:
        self.quota = Quota(
            day_limit=_parse_count(headers.get("x-ratelimit-requests-limit")),
            day_left=_parse_count(headers.get("x-ratelimit-requests-remaining")),
            minute_left=_parse_count(headers.get("x-ratelimit-remaining")),
            seen_at=datetime.now(UTC),
        )


def _check_status(answer: Response) -> None:
    status = answer.status
    if status == 200:
        return
    if status == 429:
        wait = pause(answer.headers, datetime.now(UTC))
        raise RateLimitedError(f"{NAME} asks for fewer requests.", retry_after=MINUTE_LIMIT if wait is None else wait)
    if status in (401, 403):
        raise ConfigurationError(f"{NAME} does not accept the key (status {status}): check API_FOOTBALL_KEY.")
    if status == 404:
        raise ConfigurationError(f"{NAME} is not at this address (status 404): check PRESSBOX_FOOTY_API_URL.")
    if status >= 500 or status in (204, 408, _CLIENT_CLOSED):
        raise TransientError(f"{NAME} failed (status {status}).", status=status)
    raise PermanentError(f"{NAME} rejects the request (status {status}).", status=status)


def _decode(answer: Response) -> Mapping[str, Any]:
    try:
        body = json.loads(answer.body)
    except ValueError as error:
        kind = answer.headers.get("content-type", "no type")[:60]
        raise TransientError(f"{NAME} sent incomplete or invalid JSON ({kind}).") from error
    if not isinstance(body, Mapping):
        raise TransientError(f"{NAME} sent JSON of an unexpected shape.")
    return body


def _check_errors(errors: object) -> None:
    """An answer with status 200 can still hold errors: a list or an object of sentences."""
    for kind, sentence in _list_errors(errors):
        said = f"{NAME} says: {sentence}"
        if kind in _KEY_ERRORS:
            raise ConfigurationError(f"{said} Check API_FOOTBALL_KEY and the plan behind it.", error=kind)
        if kind in _MINUTE_ERRORS:
            raise RateLimitedError(said, retry_after=MINUTE_LIMIT, error=kind)
        if kind in _DAY_ERRORS:
            # The daily quota is reset at midnight.
            now = datetime.now(UTC)
            midnight = now.replace(hour=0, minute=0, second=0, microsecond=0) + timedelta(days=1)
            raise RateLimitedError(said, retry_after=midnight - now, error=kind)
        if kind in _REQUEST_ERRORS:
            raise PermanentError(said, error=kind)
        raise TransientError(said, error=kind)


def _list_errors(errors: object) -> Iterator[tuple[str, str]]:
    if isinstance(errors, Mapping):
        yield from ((str(kind).lower(), str(sentence)[:300]) for kind, sentence in errors.items())
    elif isinstance(errors, list):
        for one in errors:
            yield from _list_errors(one) if isinstance(one, Mapping) else [("", str(one)[:300])]
    elif errors:
        yield "", str(errors)[:300]


def _fixtures_in(body: Mapping[str, Any]) -> list[RawFixture]:
    response = body.get("response")
    if not isinstance(response, list):
        raise TransientError(f"{NAME} sent no list of fixtures.")
    return [raw if isinstance(raw, Mapping) else {} for raw in response]


def _page_count(body: Mapping[str, Any]) -> int:
    paging = body.get("paging")
    total = paging.get("total") if isinstance(paging, Mapping) else None
    return total if isinstance(total, int) else 1


def _parse_count(text: str | None) -> int | None:
    return int(text[:18]) if text and text.isascii() and text.isdigit() else None
