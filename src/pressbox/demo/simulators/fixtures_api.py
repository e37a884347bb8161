"""A fixtures API like API-Football's: it answers from a scripted match day, in the shape of the real answers.

Besides what every simulator can do wrong it can make the mistakes of the real one: see `Mistake`.
"""

import asyncio
import json
import sys
from collections import defaultdict
from collections.abc import Callable, Mapping
from datetime import UTC, date, datetime
from enum import StrEnum
from typing import Any

from pressbox.demo.match_day.days import ScriptedDay, build_day
from pressbox.demo.match_day.matches import LEAGUE_ID
from pressbox.demo.simulators.http_service import Answer, HttpService, Request

DEMO_KEY = "demo-key"
MAX_IDS = 20
DAY_LIMIT = 75_000
MINUTE_LIMIT = 450
FASTEST = 60_000
SHORTEST_SEARCH = 3
LIVE = frozenset({"1H", "HT", "2H", "ET", "BT", "P", "SUSP", "INT", "LIVE"})
HTML = b"<!DOCTYPE html><html><head><title>502 Bad Gateway</title></head><body>cloud error</body></html>"


class Mistake(StrEnum):
    """EMPTY: a good answer without any fixture. NO_EVENTS: live fixtures whose list of events is empty.
    TRUNCATED: JSON that breaks off. HTML: a page with status 200. TOKEN, SUSPENDED, PLAN, DAY_LIMIT, MINUTE_LIMIT,
    BUG: status 200 with `errors`. UNAVAILABLE: 503. CLIENT_CLOSED: 499.
    """

    NONE = "none"
    EMPTY = "empty"
    NO_EVENTS = "no events"
    TRUNCATED = "truncated"
    HTML = "html"
    TOKEN = "token"  # noqa: S105 - the name of a refusal
    SUSPENDED = "suspended"
    PLAN = "plan"
    DAY_LIMIT = "day limit"
    MINUTE_LIMIT = "minute limit"
    BUG = "bug"
    UNAVAILABLE = "unavailable"
    CLIENT_CLOSED = "client closed"


REFUSALS: Mapping[Mistake, Mapping[str, str]] = {
    Mistake.TOKEN: {
        "token": "Error/Missing application key. Go to https://www.api-football.com/documentation-v3 to learn how to"
        " get your API application key."
    },
    Mistake.SUSPENDED: {"access": "Your account is suspended, check on https://dashboard.api-football.com."},
    Mistake.PLAN: {"plan": "Free plans do not have access to this date, try from 2026-08-12 to 2026-08-14."},
    Mistake.DAY_LIMIT: {
        "requests": "You have reached the request limit for the day, Go to https://dashboard.api-football.com to"
        " upgrade your plan."
    },
    Mistake.MINUTE_LIMIT: {"rateLimit": "Too many requests. Your rate limit is 10 requests per minute."},
    Mistake.BUG: {"bug": "This is on our side, please report it."},
}

PLAIN: Mapping[Mistake, Answer] = {
    Mistake.HTML: Answer(200, HTML, {"Content-Type": "text/html"}),
    Mistake.UNAVAILABLE: Answer(503),
    Mistake.CLIENT_CLOSED: Answer(499, b"{}"),
}


class FixturesApi(HttpService):
    """`/fixtures?date=`, `?ids=a-b`, `?id=`, `?live=all`, `/teams?search=`, `/leagues?search=` and `/status`.

    Without a day it knows no fixtures.

    `calls` counts what the real one bills; `told` has when each fixture was answered with its events. `free` refuses
    `ids=`, as the free plan does; more than `day_limit` calls are refused too.
    """

    def __init__(
        self,
        port: int = 0,
        *,
        day: ScriptedDay | None = None,
        key: str = DEMO_KEY,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
        page_size: int | None = None,
        day_limit: int = DAY_LIMIT,
        minute_limit: int = MINUTE_LIMIT,
        free: bool = False,
    ) -> None:
        super().__init__(port)
        self.day_limit = day_limit
        self.free = free
        self._minute_limit = minute_limit
        self.day = day
        self.calls = 0
        self.told: dict[int, list[datetime]] = defaultdict(list)
        self._key = key
        self._now = now
        self._page_size = page_size
        self._mistakes: list[Mistake] = []

    def err(self, mistake: Mistake, times: int = 1) -> None:
        """Answer the next requests with this mistake."""
        self._mistakes += [mistake] * times

    def forget(self) -> None:
        self.calls = 0
        self.told.clear()
        self._mistakes.clear()

    async def inspect(self, request: Request) -> Answer:
        return Answer.of({"calls": self.calls})

    async def answer(self, request: Request) -> Answer:
        billed = request.path != "/status"
        self.calls += billed
        mistake = self._mistakes.pop(0) if self._mistakes else Mistake.NONE
        if request.headers.get("x-apisports-key") != self._key:
            mistake = Mistake.TOKEN
        elif billed and self.calls > self.day_limit:
            mistake = Mistake.DAY_LIMIT
        if mistake in PLAIN:
            return PLAIN[mistake]
        if mistake in REFUSALS:
            return self._wrap(request, [], errors=REFUSALS[mistake])
        if request.path == "/status":
            return self._wrap(request, self._status())
        answer = self._answer_billed(request, mistake)
        if mistake is Mistake.TRUNCATED:
            return Answer(answer.status, answer.body[: len(answer.body) * 2 // 3], answer.headers)
        return answer

    def _answer_billed(self, request: Request, mistake: Mistake) -> Answer:
        if request.path in ("/teams", "/leagues"):
            return self._answer_names(request)
        if request.path != "/fixtures":
            return self._wrap(request, [], errors={"endpoint": "This endpoint do not exist."})
        return self._answer_fixtures(request, mistake)

    def _answer_fixtures(self, request: Request, mistake: Mistake) -> Answer:
        ids, day = request.first("ids"), request.first("date")
        if mistake is Mistake.EMPTY:
            return self._wrap(request, [])
        if request.first("live") == "all":
            matches = [match.fixture_id for match in self.day.matches] if self.day else []
            return self._wrap(request, self._find(matches, mistake, live=True))
        if (single := request.first("id")) is not None:
            return self._wrap(request, self._find([int(single)] if single.isdigit() else [], mistake))
        if ids is not None:
            return self._answer_ids(request, ids, mistake)
        if day is None:
            return self._wrap(request, [], errors={"required": "At least one parameter is required."})
        return self._answer_day(request, day)

    def _answer_names(self, request: Request) -> Answer:
        """The search by name, in the shape of the recorded answers: what is inside a name counts."""
        text = (request.first("search") or "").lower()
        if len(text) < SHORTEST_SEARCH:
            length = {"search": "The Search field must be at least 3 characters in length."}
            return self._wrap(request, [], errors=length)
        if not all(char.isalnum() or char == " " for char in text):
            plain = {"search": "The Search field may only contain alpha-numeric characters and spaces."}
            return self._wrap(request, [], errors=plain)
        named = self._leagues() if request.path == "/leagues" else self._teams()
        return self._wrap(request, [answer for name, answer in named if text in name.lower()])

    def _teams(self) -> list[tuple[str, Any]]:
        sides = {side.id: side for match in self.day.matches for side in match.record.sides} if self.day else {}
        return [
            (
                side.name,
                {"team": {"id": side.id, "name": side.name, "country": side.name, "national": True}, "venue": {}},
            )
            for side in sides.values()
        ]

    def _leagues(self) -> list[tuple[str, Any]]:
        league = {"id": LEAGUE_ID, "name": "World Cup", "type": "Cup"}
        return [("World Cup", {"league": league, "country": {"name": "World", "code": None}, "seasons": []})]

    def _answer_ids(self, request: Request, ids: str, mistake: Mistake) -> Answer:
        if self.free:
            return self._wrap(request, [], errors={"plan": "Free plans do not have access to the Ids parameter."})
        numbers = [int(part) for part in ids.split("-") if part.isdigit()]
        if len(numbers) > MAX_IDS:
            return self._wrap(request, [], errors={"ids": "The Ids field may contain a maximum of 20 ids."})
        return self._wrap(request, self._find(numbers, mistake))

    def _answer_day(self, request: Request, day: str) -> Answer:
        try:
            wanted = date.fromisoformat(day)
        except ValueError:
            return self._wrap(request, [], errors={"date": "The Date field must contain a valid date."})
        return self._wrap(request, self.day.on(wanted, self._now()) if self.day else [])

    def _find(self, numbers: list[int], mistake: Mistake, *, live: bool = False) -> list[Any]:
        now = self._now()
        found = list(self.day.by_ids(numbers, now)) if self.day else []
        if mistake is Mistake.NONE:
            for raw in found:
                self.told[raw["fixture"]["id"]].append(now)
        if live:
            found = [raw for raw in found if raw["fixture"]["status"]["short"] in LIVE]
        return [{**raw, "events": []} for raw in found] if mistake is Mistake.NO_EVENTS else found

    def _wrap(self, request: Request, response: Any, errors: Mapping[str, str] | None = None) -> Answer:
        page, total = int(request.first("page") or 1), 1
        if self._page_size and isinstance(response, list):
            total = max(-(-len(response) // self._page_size), 1)
            response = response[(page - 1) * self._page_size : page * self._page_size]
        body = {
            "get": request.path.lstrip("/"),
            "parameters": {name: values[0] for name, values in request.query.items()},
            # Like the real one: an empty list without errors, an object with errors.
            "errors": dict(errors) if errors else [],
            "results": len(response),
            "paging": {"current": page, "total": total},
            "response": response,
        }
        headers = {
            "Content-Type": "application/json",
            "x-ratelimit-requests-limit": str(self.day_limit),
            "x-ratelimit-requests-remaining": str(max(self.day_limit - self.calls, 0)),
            "X-RateLimit-Limit": str(self._minute_limit),
            "X-RateLimit-Remaining": str(self._minute_limit - 1),
        }
        return Answer(200, json.dumps(body, ensure_ascii=False).encode(), headers)

    def _status(self) -> dict[str, Any]:
        return {
            "account": {"firstname": "Demo", "lastname": "World", "email": "demo@example.org"},
            "subscription": {
                "plan": "Free" if self.free else "Demo",
                "end": "2099-12-31T00:00:00+00:00",
                "active": True,
            },
            "requests": {"current": self.calls, "limit_day": self.day_limit},
        }


async def serve(matches: int, start: datetime) -> None:
    """Serve a day of matches until the process is ended; the port is printed on standard output."""
    # The limit of no real plan: measured is our own work, not the pace that the plan sets.
    day = build_day(start, matches=matches, postponed=0)
    async with FixturesApi(day=day, minute_limit=FASTEST) as service:
        sys.stdout.write(f"{service.port}\n")
        sys.stdout.flush()
        await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(serve(int(sys.argv[1]), datetime.fromisoformat(sys.argv[2])))
