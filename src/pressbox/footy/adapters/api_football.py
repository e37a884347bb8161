"""Fetches fixtures and names from API-Football, within the budget of requests that all processes share."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import Any
from urllib.parse import urlencode, urlsplit

from pressbox.core.clock import Clock, utc_now
from pressbox.core.errors import ConfigurationError, InvalidInputError, PressboxError, RateLimitedError, TransientError
from pressbox.core.http.client import GuardedClient
from pressbox.footy.adapters.api_football_answers import (
    NAME,
    AccountStatus,
    DayUsedUpError,
    IdsRefusedError,
    KeyRefusedError,
    read_account,
    read_body,
    read_limits,
    read_list,
    read_page_count,
)
from pressbox.footy.adapters.directory_answers import read_leagues, read_teams
from pressbox.footy.domain.directory import Entry
from pressbox.footy.domain.errors import DateRefusedError
from pressbox.footy.domain.fixture_parser import MalformedAnswerError, fixture_id_of, parse_fixture
from pressbox.footy.domain.fixtures import Stage
from pressbox.footy.domain.request_budget import (
    RequestBudget,
    note_answer,
    note_clock,
    note_day_used_up,
    note_pause,
    note_refused_ids,
    note_status,
    reserve_slot,
)
from pressbox.footy.ports.outside import DayAnswer, LiveAnswer
from pressbox.footy.ports.storage import BudgetStore, RawAnswer, RawFixture
from pressbox.footy.settings import FootySettings

TIMEOUT = timedelta(seconds=10)
# Somebody waits for the answer, and activities have a time limit.
LONGEST_WAIT = timedelta(seconds=15)
# A wrong key is tried again after this time, in case it was mended on the other side.
KEY_PAUSE = timedelta(minutes=15)
# A Saturday has over a thousand fixtures; live ones come with line-ups and statistics of all players.
LARGEST_ANSWER = 64_000_000
FIXTURES = "/fixtures"
MOST_IDS = 20
MOST_PAGES = 50
RAPID_API = ".rapidapi.com"
# Without `ids=`: how long the lists serve the batches of a poll, and the fixtures that are not live.
LIVE_LIST_LIFE = timedelta(seconds=5)
DAY_LIST_LIFE = timedelta(minutes=10)
SINGLE_LIFE = timedelta(minutes=5)
MOST_SINGLE = 3
# One that the API does not know is deleted or moved; the plan refuses the other days until it is changed.
UNKNOWN_LIFE = timedelta(hours=6)
REFUSED_DAY_LIFE = timedelta(hours=6)
# As long as a match may be on.
WHOLE_LIFE = timedelta(hours=4)
NOT_LIVE = f"{NAME} does not list this match as live; on this plan it is asked for by itself every five minutes."
NOT_LISTED = f"{NAME} does not list this match on its day; on this plan it is asked for by itself, but rarely."


@dataclass(frozen=True)
class _List:
    at: datetime
    fixtures: Mapping[int, RawFixture]


class ApiFootball:
    """The fixtures API over the guarded client."""

    def __init__(
        self, client: GuardedClient, settings: FootySettings, budget: BudgetStore, now: Clock = utc_now
    ) -> None:
        self._client = client
        self._url = settings.api_url.rstrip("/")
        self._key = settings.api_key
        self._budget = budget
        self._now = now
        self._listing = asyncio.Lock()
        self._live: _List | None = None
        self._days: dict[date, _List] = {}
        self._refused_days: dict[date, tuple[datetime, str]] = {}
        # Until when a fixture is not asked for by itself again.
        self._singles: dict[int, datetime] = {}
        self._whole: dict[int, tuple[datetime, RawFixture]] = {}

    async def fetch_status(self) -> AccountStatus:
        """Ask for plan and used requests. It costs no request, and a pause does not forbid it."""
        body = await self._send("/status", {})
        status = read_account(body)
        await self._budget.change(
            lambda known: (note_status(known, status.plan, status.used, status.day_limit, self._now()), None)
        )
        return status

    async def fetch_day(self, day: date) -> DayAnswer:
        fixtures, problems = [], []
        pages, _ = await self._all_pages(FIXTURES, date=day.isoformat())
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
        if (await self._budget.load()).refuses_ids(self._now()):
            return await self._fetch_without_ids(fixture_ids)
        try:
            found, calls = await self._all_pages(FIXTURES, ids="-".join(map(str, fixture_ids)))
        except IdsRefusedError:
            await self._budget.change(lambda known: (note_refused_ids(known, self._now()), None))
            return await self._fetch_without_ids(fixture_ids)
        answered = {number: raw for raw in found if (number := fixture_id_of(raw)) in fixture_ids}
        fixtures = {number: answered[number] for number in fixture_ids if number in answered}
        missing = {
            number: f"{NAME} left this fixture out of its answer; the next poll asks again."
            for number in fixture_ids
            if number not in fixtures
        }
        return LiveAnswer(fixtures, missing, calls)

    async def search_teams(self, text: str) -> Sequence[Entry]:
        """Teams with this text in their name or country: three or more plain letters."""
        return read_teams((await self._all_pages("/teams", search=text))[0])

    async def search_leagues(self, text: str) -> Sequence[Entry]:
        return read_leagues((await self._all_pages("/leagues", search=text))[0])

    async def fetch_waiting(self, kickoffs: Mapping[int, datetime]) -> LiveAnswer:
        """Without `ids=` the lists of their days answer, which have no events; a match that left its day is sought."""
        if not kickoffs or not (await self._budget.load()).refuses_ids(self._now()):
            return await self.fetch_by_ids(list(kickoffs))
        fixtures: dict[int, RawFixture] = {}
        missing: dict[int, str] = {}
        calls = 0
        async with self._listing:
            for day in sorted({kickoff.astimezone(UTC).date() for kickoff in kickoffs.values()}):
                wanted = [number for number, kickoff in kickoffs.items() if kickoff.astimezone(UTC).date() == day]
                try:
                    calls += await self._add_listed(fixtures, wanted, day)
                    absent = [number for number in wanted if number not in fixtures]
                    calls += await self._add_singles(fixtures, absent, most=1)
                except PressboxError as error:
                    missing |= {number: error.message for number in wanted if number not in fixtures}
        missing |= {number: NOT_LISTED for number in kickoffs if number not in fixtures and number not in missing}
        return LiveAnswer(fixtures, missing, calls)

    async def _fetch_without_ids(self, fixture_ids: Sequence[int]) -> LiveAnswer:
        """One list of all live matches; the list of the day for the others, and few of them one by one.

        The lists are shared by the batches of a poll, so they count as calls where they are fetched.
        """
        async with self._listing:
            self._live, calls = await self._load_list(self._live, LIVE_LIST_LIFE, live="all")
            live = self._live.fixtures
            fixtures = {number: live[number] for number in fixture_ids if number in live}
            self._keep_whole(fixtures)
            absent = [number for number in fixture_ids if number not in fixtures]
            reason = NOT_LIVE
            try:
                calls += await self._add_absent(fixtures, absent)
            except PressboxError as error:
                # The live matches count, whatever becomes of the others.
                reason = error.message
        return LiveAnswer(fixtures, {number: reason for number in fixture_ids if number not in fixtures}, calls)

    async def _add_absent(self, fixtures: dict[int, RawFixture], absent: Sequence[int]) -> int:
        """Add fixtures that are not live; returns the number of calls."""
        if not absent:
            return 0
        day, listed = self._now().date(), dict[int, RawFixture]()
        calls = await self._add_listed(listed, absent, day)
        if any(_stage(raw) is Stage.ACTIVE for raw in listed.values()):
            # It ended since the list was made.
            calls += await self._add_listed(listed, absent, day, LIVE_LIST_LIFE)
        for number, raw in listed.items():
            stage, whole = _stage(raw), self._whole.get(number)
            if stage is Stage.STAGING:
                fixtures[number] = raw
            elif stage is Stage.COMPLETED and whole is not None and tells_all(raw, whole[1]):
                fixtures[number] = {**whole[1], **raw}
        return calls + await self._add_singles(fixtures, [number for number in absent if number not in fixtures])

    async def _add_listed(
        self, fixtures: dict[int, RawFixture], wanted: Sequence[int], day: date, life: timedelta = DAY_LIST_LIFE
    ) -> int:
        """Add what the list of a day has of these fixtures; returns the number of calls."""
        now = self._now()
        if (refused := self._refused_days.get(day)) is not None and now - refused[0] < REFUSED_DAY_LIFE:
            raise DateRefusedError(refused[1], error="plan")
        try:
            found, calls = await self._load_list(self._days.get(day), life, date=day.isoformat())
        except DateRefusedError as error:
            self._refused_days[day] = (now, error.message)
            raise
        self._days = {known: one for known, one in self._days.items() if now - one.at < DAY_LIST_LIFE} | {day: found}
        fixtures.update({number: found.fixtures[number] for number in wanted if number in found.fixtures})
        return calls

    async def _add_singles(
        self, fixtures: dict[int, RawFixture], fixture_ids: Sequence[int], most: int = MOST_SINGLE
    ) -> int:
        calls = 0
        for number in self._choose_singles(fixture_ids)[:most]:
            self._singles[number] = self._now() + UNKNOWN_LIFE
            found, more = await self._all_pages(FIXTURES, id=str(number))
            calls += more
            if found and fixture_id_of(found[0]) == number:
                self._singles[number] = self._now() + SINGLE_LIFE
                fixtures[number] = found[0]
                self._keep_whole({number: found[0]})
        return calls

    def _keep_whole(self, fixtures: Mapping[int, RawFixture]) -> None:
        """Keep answers with events, so that a list without them tells whether anything came to it."""
        now = self._now()
        kept = {number: one for number, one in self._whole.items() if now - one[0] < WHOLE_LIFE}
        self._whole = kept | {number: (now, raw) for number, raw in fixtures.items()}

    async def _load_list(self, known: _List | None, life: timedelta, **parameters: str) -> tuple[_List, int]:
        now = self._now()
        if known is not None and now - known.at < life and now.date() == known.at.date():
            return known, 0
        found, calls = await self._all_pages(FIXTURES, **parameters)
        return _List(now, {number: raw for raw in found if (number := fixture_id_of(raw)) is not None}), calls

    def _choose_singles(self, fixture_ids: Sequence[int]) -> Sequence[int]:
        """Choose those that were not asked for recently."""
        now = self._now()
        self._singles = {number: until for number, until in self._singles.items() if now < until}
        return [number for number in fixture_ids if number not in self._singles]

    async def _all_pages(self, path: str, **parameters: str) -> tuple[list[RawAnswer], int]:
        found: list[RawAnswer] = []
        page = total = 1
        while page <= total:
            body = await self._get(path, {**parameters, "page": str(page)} if page > 1 else parameters)
            found += read_list(body)
            total = read_page_count(body)
            if total > MOST_PAGES:
                raise TransientError(f"{NAME} reports {total} pages for one request, which cannot be right.")
            page += 1
        return found, total

    async def _get(self, path: str, parameters: Mapping[str, str]) -> Mapping[str, Any]:
        wait = await self._budget.change(self._reserve)
        if wait:
            await asyncio.sleep(wait.total_seconds())
        return await self._send(path, parameters)

    def _reserve(self, budget: RequestBudget) -> tuple[RequestBudget, timedelta]:
        now = self._now()
        if budget.is_paused(now) and budget.paused_until is not None:
            if budget.pause_needs_change:
                raise KeyRefusedError(budget.pause_reason)
            raise RateLimitedError(budget.pause_reason, retry_after=budget.paused_until - now)
        reserved, wait = reserve_slot(budget, now, LONGEST_WAIT)
        if wait is None:
            raise RateLimitedError(
                f"{NAME} allows {budget.minute_limit or 'few'} requests a minute, and others wait already.",
                retry_after=LONGEST_WAIT,
            )
        return reserved, wait

    async def _send(self, path: str, parameters: Mapping[str, str]) -> Mapping[str, Any]:
        headers = self._headers()
        query = f"?{urlencode(parameters)}" if parameters else ""
        answer = await self._client.get(
            f"{self._url}{path}{query}", headers=headers, max_bytes=LARGEST_ANSWER, timeout=TIMEOUT
        )
        now, seen = self._now(), read_limits(answer.headers)
        try:
            body = read_body(answer, now)
        except PressboxError as error:
            failure = error
            await self._budget.change(lambda known: (_note_error(note_answer(known, seen, now), failure, now), None))
            raise
        told = answer.headers.get("date", "")
        await self._budget.change(lambda known: (note_clock(note_answer(known, seen, now), told, now), None))
        return body

    def _headers(self) -> dict[str, str]:
        if self._key is None or not (key := self._key.get_secret_value()):
            raise ConfigurationError(
                f"There is no key for {NAME}: set PRESSBOX_FOOTY_API_KEY, or enter it on the page Settings."
                " To look around, `pressbox demo` needs none."
            )
        host = urlsplit(self._url).hostname or ""
        if host.endswith(RAPID_API):
            return {"x-rapidapi-key": key, "x-rapidapi-host": host}
        return {"x-apisports-key": key}


def _note_error(known: RequestBudget, error: PressboxError, now: datetime) -> RequestBudget:
    """Note what a refusal means for all processes."""
    if isinstance(error, DayUsedUpError):
        return note_day_used_up(known, error.message, now)
    if isinstance(error, KeyRefusedError):
        return note_pause(known, now + KEY_PAUSE, error.message, needs_change=True)
    if isinstance(error, RateLimitedError):
        return note_pause(known, now + (error.retry_after or LONGEST_WAIT), error.message)
    return known


def _stage(raw: RawFixture) -> Stage | None:
    try:
        return parse_fixture(raw).status.stage
    except MalformedAnswerError:
        return None


def tells_all(listed: RawFixture, whole: RawFixture) -> bool:
    """Whether the events of an earlier answer still are all goals, by the score of a later list, and have their names.

    What a list does not tell is a last change of a scorer's name; asking for each match would cost a call for it.
    """
    try:
        now, before = parse_fixture(listed), parse_fixture(whole)
    except MalformedAnswerError:
        return False
    same = (now.home_goals, now.away_goals) == (before.home_goals, before.away_goals)
    return same and before.events is not None and all(goal.player_name for goal in before.events)
