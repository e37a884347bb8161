"""Reads an answer of API-Football, and tells its many kinds of errors apart: most of them have status 200."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx

from pressbox.core.errors import ConfigurationError, PermanentError, RateLimitedError, TransientError
from pressbox.core.http.client import Response
from pressbox.core.http.pauses import number, pause
from pressbox.footy.domain.errors import DateRefusedError
from pressbox.footy.domain.request_budget import Seen
from pressbox.footy.ports.storage import RawAnswer

NAME = "API-Football"
MINUTE_LIMIT = timedelta(seconds=60)
_CLIENT_CLOSED = 499
# Keys of `errors` in an answer with status 200.
_KEY_ERRORS = frozenset({"token", "access", "key", "subscription", "ip"})
_MINUTE_ERRORS = frozenset({"ratelimit", "rate_limit"})
_DAY_ERRORS = frozenset({"requests"})
_PLAN_ERRORS = frozenset({"plan"})
_REQUEST_ERRORS = frozenset(
    {"required", "ids", "id", "date", "page", "timezone", "endpoint", "league", "country", "search", "season", "team"}
)
_IDS_REFUSED = "ids parameter"
_DATE_REFUSED = "access to this date"


class DayUsedUpError(RateLimitedError):
    """The requests of the day are used up; they are given anew at midnight of UTC."""


class KeyRefusedError(ConfigurationError):
    """The key is wrong or its account is suspended: another request makes it worse."""


class IdsRefusedError(ConfigurationError):
    """The plan does not take several ids in one request."""


@dataclass(frozen=True)
class AccountStatus:
    """What `/status` says, which costs no request."""

    plan: str
    used: int | None
    day_limit: int | None


def read_body(answer: Response, now: datetime) -> Mapping[str, Any]:
    """The object that a good answer holds. Everything else raises and never means "no fixtures"."""
    _check_status(answer, now)
    body = _decode(answer)
    _check_errors(body.get("errors"), now)
    return body


def read_limits(headers: httpx.Headers) -> Seen:
    """The headers count per day with `requests` in their name, and per minute without."""
    return Seen(
        day_limit=_count(headers.get("x-ratelimit-requests-limit")),
        day_left=_count(headers.get("x-ratelimit-requests-remaining")),
        minute_limit=_count(headers.get("x-ratelimit-limit")),
        minute_left=_count(headers.get("x-ratelimit-remaining")),
    )


def read_list(body: Mapping[str, Any]) -> list[RawAnswer]:
    """The fixtures, teams or leagues of an answer."""
    response = body.get("response")
    if not isinstance(response, list):
        raise TransientError(f"{NAME} sent no list.")
    return [raw if isinstance(raw, Mapping) else {} for raw in response]


def read_page_count(body: Mapping[str, Any]) -> int:
    paging = body.get("paging")
    total = paging.get("total") if isinstance(paging, Mapping) else None
    return total if isinstance(total, int) else 1


def read_account(body: Mapping[str, Any]) -> AccountStatus:
    """`response` is an object here, and an empty list when the account is suspended."""
    response = body.get("response")
    if not isinstance(response, Mapping):
        raise TransientError(f"{NAME} says nothing of the account.")
    subscription, requests = (_part(response, name) for name in ("subscription", "requests"))
    plan, used, limit = subscription.get("plan"), requests.get("current"), requests.get("limit_day")
    return AccountStatus(
        plan[:60] if isinstance(plan, str) else "",
        used if isinstance(used, int) else None,
        limit if isinstance(limit, int) else None,
    )


def _part(response: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    part = response.get(name)
    return part if isinstance(part, Mapping) else {}


def _check_status(answer: Response, now: datetime) -> None:
    status = answer.status
    if status == 200:
        return
    if status == 429:
        wait = pause(answer.headers, now)
        raise RateLimitedError(f"{NAME} asks for fewer requests.", retry_after=MINUTE_LIMIT if wait is None else wait)
    if status in (401, 403):
        if not _is_json(answer):
            raise TransientError(f"{NAME} or something before it blocks us with a web page (status {status}).")
        raise KeyRefusedError(f"{NAME} does not accept the key (status {status}): check PRESSBOX_FOOTY_API_KEY.")
    if status == 404:
        raise ConfigurationError(f"{NAME} is not at this address (status 404): check PRESSBOX_FOOTY_API_URL.")
    if status >= 500 or status in (204, 408, _CLIENT_CLOSED):
        raise TransientError(f"{NAME} failed (status {status}).", status=status)
    raise PermanentError(f"{NAME} rejects the request (status {status}).", status=status)


def _is_json(answer: Response) -> bool:
    """An empty body counts: a page of a proxy or a firewall has words."""
    return not answer.body.strip() or answer.body.lstrip()[:1] in (b"{", b"[")


def _decode(answer: Response) -> Mapping[str, Any]:
    try:
        body = json.loads(answer.body)
    except (ValueError, RecursionError) as error:
        kind = answer.headers.get("content-type", "no type")[:60]
        raise TransientError(f"{NAME} sent incomplete or invalid JSON ({kind}).") from error
    if not isinstance(body, Mapping):
        raise TransientError(f"{NAME} sent JSON of an unexpected shape.")
    return body


def _check_errors(errors: object, now: datetime) -> None:
    """An answer with status 200 can still hold errors: a list or an object of sentences."""
    for kind, sentence in _list_errors(errors):
        said = f"{NAME} says: {sentence}"
        if kind in _KEY_ERRORS:
            raise KeyRefusedError(f"{said} Check PRESSBOX_FOOTY_API_KEY and the account behind it.", error=kind)
        if kind in _PLAN_ERRORS:
            raise _plan_error(said, sentence.lower())
        if kind in _MINUTE_ERRORS:
            raise RateLimitedError(said, retry_after=MINUTE_LIMIT, error=kind)
        if kind in _DAY_ERRORS:
            raise DayUsedUpError(said, retry_after=_until_midnight(now), error=kind)
        if kind in _REQUEST_ERRORS:
            raise PermanentError(said, error=kind)
        raise TransientError(said, error=kind)


def _plan_error(said: str, sentence: str) -> ConfigurationError:
    if _IDS_REFUSED in sentence:
        return IdsRefusedError(said, error="plan")
    if _DATE_REFUSED in sentence:
        return DateRefusedError(said, error="plan")
    return ConfigurationError(f"{said} Another plan of {NAME} is needed for this.", error="plan")


def _until_midnight(now: datetime) -> timedelta:
    utc = now.astimezone(UTC)
    return utc.replace(hour=0, minute=0, second=0, microsecond=0) + timedelta(days=1) - utc


def _list_errors(errors: object) -> Iterator[tuple[str, str]]:
    if isinstance(errors, Mapping):
        yield from ((str(kind).lower(), str(sentence)[:300]) for kind, sentence in errors.items())
    elif isinstance(errors, list):
        for one in errors:
            yield from _list_errors(one) if isinstance(one, Mapping) else [("", str(one)[:300])]
    elif errors:
        yield "", str(errors)[:300]


def _count(text: str | None) -> int | None:
    found = number(text) if text else None
    return int(found) if found is not None and 0 <= found < 1e15 else None
