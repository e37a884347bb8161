"""The adapter of API-Football against the simulator and recorded bodies, over real HTTP on loopback."""

import copy
import json
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx
import pytest
from pydantic import SecretStr

from pressbox.core.config import HttpSettings
from pressbox.core.errors import (
    ConfigurationError,
    InvalidInputError,
    PermanentError,
    PressboxError,
    RateLimitedError,
    TransientError,
)
from pressbox.core.http.client import GuardedClient, Response
from pressbox.demo.match_day.days import build_day
from pressbox.demo.simulators.behaviour import Kind
from pressbox.demo.simulators.fixtures_api import DEMO_KEY, LIVE, FixturesApi, Mistake
from pressbox.demo.simulators.http_service import Answer, HttpService, Request
from pressbox.footy.adapters import api_football
from pressbox.footy.adapters.api_football import ApiFootball
from pressbox.footy.adapters.api_football_answers import (
    DayUsedUpError,
    IdsRefusedError,
    KeyRefusedError,
    read_account,
    read_body,
    read_list,
)
from pressbox.footy.domain.directory import asked_text
from pressbox.footy.domain.errors import DateRefusedError
from pressbox.footy.domain.fixture_parser import parse_fixture
from pressbox.footy.domain.request_budget import RequestBudget
from pressbox.footy.settings import FootySettings
from tests.fakes.football_answers import NO_PARAMETER, NOT_STARTED, SHOOT_OUTS, WRONG_PARAMETER
from tests.fakes.football_answers import answer as recorded_answer
from tests.fakes.footy import FakeBudget
from tests.shared_data import shared

START = datetime(2026, 6, 11, 18, 0, tzinfo=UTC)
FOLDER = shared("providers/api_football")
RECORDINGS = sorted(FOLDER.glob("*.json")) if FOLDER else []


def recorded(name: str) -> bytes:
    return json.dumps(recorded_answer(name)).encode()


# Errors that the real one sends with status 200.
ERRORS: list[tuple[dict[str, str], type[PressboxError]]] = [
    ({"rateLimit": "Too many requests. Your rate limit is 10 requests per minute."}, RateLimitedError),
    ({"requests": "You have reached the request limit for the day, Go to … to upgrade."}, DayUsedUpError),
    ({"plan": "Free plans do not have access to the Ids parameter."}, IdsRefusedError),
    ({"plan": "Free plans do not have access to this season, try from 2022 to 2024."}, ConfigurationError),
    ({"plan": "Free plans do not have access to this date, try from 2026-08-12 to 2026-08-14."}, DateRefusedError),
    ({"plan": "Free plans do not have access to the Last parameter."}, ConfigurationError),
    ({"token": "Error/Missing application key. Go to … to learn how to get your key."}, KeyRefusedError),
    ({"access": "Your account is suspended, check on https://dashboard.api-football.com."}, KeyRefusedError),
    ({"search": "The Search field must be at least 3 characters in length."}, PermanentError),
    ({"bug": "This is on our side, please report us."}, TransientError),
]


class Recorded(HttpService):
    """Answers every question with one body."""

    def __init__(self, body: bytes, headers: dict[str, str] | None = None) -> None:
        super().__init__()
        self.asked: list[Request] = []
        self._answer = Answer(200, body, headers or {"Content-Type": "application/json"})

    async def answer(self, request: Request) -> Answer:
        self.asked.append(request)
        return self._answer


def adapter(service: HttpService, client: GuardedClient, key: str | None = DEMO_KEY) -> ApiFootball:
    budget = FakeBudget()
    budget.known = RequestBudget(minute_limit=6_000)
    return budgeted(service, client, budget, key)


def budgeted(
    service: HttpService, client: GuardedClient, budget: FakeBudget, key: str | None = DEMO_KEY
) -> ApiFootball:
    settings = FootySettings(api_key=SecretStr(key) if key else None, api_url=service.url + "/")
    return ApiFootball(client, settings, budget, lambda: START + timedelta(minutes=70))


@pytest.fixture
async def client() -> AsyncIterator[GuardedClient]:
    async with GuardedClient(HttpSettings(allow=("127.0.0.0/8",))) as one:
        yield one


@pytest.fixture
async def simulator() -> AsyncIterator[FixturesApi]:
    day = build_day(START, matches=6)
    async with FixturesApi(day=day, now=lambda: START + timedelta(minutes=70)) as service:
        yield service


async def test_names_are_searched_within_the_same_budget(simulator: FixturesApi, client: GuardedClient) -> None:
    api = adapter(simulator, client)
    assert simulator.day is not None
    side = simulator.day.matches[0].record.sides[0]
    [team] = await api.search_teams(asked_text(side.name))
    assert (team.id, team.name) == (side.id, side.name)
    assert [league.id for league in await api.search_leagues("world")] == [1]
    assert simulator.calls == 2
    with pytest.raises(PermanentError):
        await api.search_teams("ab")
    simulator.err(Mistake.DAY_LIMIT)
    with pytest.raises(DayUsedUpError):
        await api.search_leagues("premier")
    with pytest.raises(RateLimitedError):
        await api.search_teams("manchester")
    assert simulator.calls == 4, "after the day's limit nothing is asked"


async def test_a_day_is_listed_and_says_nothing_of_goals(simulator: FixturesApi, client: GuardedClient) -> None:
    answer = await adapter(simulator, client).fetch_day(START.date())
    assert len(answer.fixtures) == 6
    assert all(fixture.events is None for fixture in answer.fixtures)
    assert answer.problems == []


async def test_a_postponed_match_is_listed_on_its_new_day(simulator: FixturesApi, client: GuardedClient) -> None:
    answer = await adapter(simulator, client).fetch_day(START.date() + timedelta(days=1))
    assert [fixture.status for fixture in answer.fixtures] == ["PST"]


async def test_a_long_day_comes_in_pages(client: GuardedClient) -> None:
    day = build_day(START, matches=30)
    async with FixturesApi(day=day, now=lambda: START, page_size=7) as service:
        answer = await adapter(service, client).fetch_day(START.date())
        assert len({fixture.fixture_id for fixture in answer.fixtures}) == 31
        assert service.calls == 5


async def test_live_fixtures_come_raw_and_the_missing_ones_are_named(
    simulator: FixturesApi, client: GuardedClient
) -> None:
    assert simulator.day is not None
    ids = [match.fixture_id for match in simulator.day.matches]
    answer = await adapter(simulator, client).fetch_by_ids([*ids, 4711])
    assert list(answer.fixtures) == ids
    assert list(answer.missing) == [4711]
    assert answer.calls == 1
    assert any(parse_fixture(raw).events for raw in answer.fixtures.values())


async def test_nothing_asked_is_nothing_called(simulator: FixturesApi, client: GuardedClient) -> None:
    assert (await adapter(simulator, client).fetch_by_ids([])).calls == 0
    assert simulator.calls == 0


async def test_more_than_twenty_ids_are_refused_before_anybody_is_asked(
    simulator: FixturesApi, client: GuardedClient
) -> None:
    with pytest.raises(InvalidInputError):
        await adapter(simulator, client).fetch_by_ids(range(1, 22))
    assert simulator.calls == 0


async def test_what_the_last_answer_left_is_kept(simulator: FixturesApi, client: GuardedClient) -> None:
    budget = FakeBudget()
    await budgeted(simulator, client, budget).fetch_day(START.date())
    known = budget.known
    assert (known.day, known.day_limit, known.day_left, known.minute_limit) == (START.date(), 75_000, 74_999, 450)


async def test_the_status_of_the_account_costs_nothing(simulator: FixturesApi, client: GuardedClient) -> None:
    budget = FakeBudget()
    status = await budgeted(simulator, client, budget).fetch_status()
    assert (status.plan, budget.known.plan, budget.known.day_left, simulator.calls) == ("Demo", "Demo", 75_000, 0)


@pytest.mark.parametrize("mistake", [Mistake.DAY_LIMIT, Mistake.MINUTE_LIMIT, Mistake.TOKEN, Mistake.SUSPENDED])
async def test_after_a_refusal_nobody_asks_again(
    simulator: FixturesApi, client: GuardedClient, mistake: Mistake
) -> None:
    """Two adapters with one budget, as in two processes."""
    budget = FakeBudget()
    one, other = budgeted(simulator, client, budget), budgeted(simulator, client, budget)
    simulator.err(mistake)
    with pytest.raises(PressboxError, match="API-Football says"):
        await one.fetch_day(START.date())
    for api in (one, other) * 5:
        with pytest.raises(PressboxError, match="API-Football says"):
            await api.fetch_by_ids([9_000_001])
    assert simulator.calls == 1


async def test_the_day_begins_anew_at_midnight(simulator: FixturesApi, client: GuardedClient) -> None:
    budget = FakeBudget()
    simulator.err(Mistake.DAY_LIMIT)
    with pytest.raises(RateLimitedError):
        await budgeted(simulator, client, budget).fetch_day(START.date())
    assert budget.known.paused_until == datetime(2026, 6, 12, tzinfo=UTC)
    assert not budget.known.is_paused(datetime(2026, 6, 12, tzinfo=UTC))


async def test_a_plan_that_refuses_ids_is_asked_for_all_live_matches(client: GuardedClient) -> None:
    day, budget = build_day(START, matches=6), FakeBudget()
    budget.known = RequestBudget(minute_limit=6_000)
    ids = [match.fixture_id for match in day.matches]
    now = START + timedelta(minutes=70)
    async with FixturesApi(day=day, now=lambda: now, free=True, minute_limit=6_000) as service:
        api = budgeted(service, client, budget)
        first = await api.fetch_by_ids(ids)
        live = [number for number, raw in first.fixtures.items() if raw["fixture"]["status"]["short"] in LIVE]
        assert live
        assert all("events" in first.fixtures[number] for number in live)
        assert set(first.fixtures) | set(first.missing) == set(ids)
        asked = service.calls
        # The lists serve the other batches of the same poll, and `ids=` is not tried again.
        await api.fetch_by_ids(live)
        assert service.calls == asked
    assert budget.known.refuses_ids(now)
    assert not budget.known.refuses_ids(now + timedelta(days=2))


async def test_what_is_live_counts_although_the_requests_end(client: GuardedClient) -> None:
    day, budget = build_day(START, matches=6), FakeBudget()
    budget.known = RequestBudget(minute_limit=6_000)
    ids = [match.fixture_id for match in day.matches]
    now = START + timedelta(minutes=70)
    async with FixturesApi(day=day, now=lambda: now, free=True, day_limit=2, minute_limit=6_000) as service:
        answer = await budgeted(service, client, budget).fetch_by_ids([*ids, 4711])
    assert answer.fixtures
    assert "request limit for the day" in answer.missing[4711]


async def test_without_a_key_it_says_what_to_set_and_names_the_demo(
    simulator: FixturesApi, client: GuardedClient
) -> None:
    with pytest.raises(ConfigurationError, match=r"PRESSBOX_FOOTY_API_KEY.*pressbox demo"):
        await adapter(simulator, client, key=None).fetch_day(START.date())
    assert simulator.calls == 0


async def test_a_wrong_key_is_a_matter_of_configuration_and_is_not_repeated_in_the_error(
    simulator: FixturesApi, client: GuardedClient
) -> None:
    with pytest.raises(ConfigurationError, match="PRESSBOX_FOOTY_API_KEY") as caught:
        await adapter(simulator, client, key="wrong-secret").fetch_day(START.date())
    assert "wrong-secret" not in str(caught.value)


@pytest.mark.parametrize(
    ("mistake", "error"),
    [
        (Mistake.PLAN, DateRefusedError),
        (Mistake.BUG, TransientError),
        (Mistake.HTML, TransientError),
        (Mistake.TRUNCATED, TransientError),
        (Mistake.UNAVAILABLE, TransientError),
        (Mistake.CLIENT_CLOSED, TransientError),
    ],
)
async def test_a_bad_answer_is_an_error_of_its_kind_and_the_next_one_is_good(
    simulator: FixturesApi, client: GuardedClient, mistake: Mistake, error: type[PressboxError]
) -> None:
    api = adapter(simulator, client)
    simulator.err(mistake)
    with pytest.raises(error) as caught:
        await api.fetch_day(START.date())
    assert type(caught.value) is error
    assert (await api.fetch_day(START.date())).fixtures


async def test_an_empty_answer_leaves_every_fixture_missing(simulator: FixturesApi, client: GuardedClient) -> None:
    simulator.err(Mistake.EMPTY)
    answer = await adapter(simulator, client).fetch_by_ids([9_000_001, 9_000_002])
    assert (answer.fixtures, list(answer.missing)) == ({}, [9_000_001, 9_000_002])


async def test_an_answer_without_events_is_kept_as_it_came(simulator: FixturesApi, client: GuardedClient) -> None:
    simulator.err(Mistake.NO_EVENTS)
    answer = await adapter(simulator, client).fetch_by_ids([9_000_001])
    assert answer.fixtures[9_000_001]["events"] == []


async def test_429_says_when_to_come_back(simulator: FixturesApi, client: GuardedClient) -> None:
    simulator.tell("fixtures", Kind.BUSY, seconds=7, times=1)
    with pytest.raises(RateLimitedError) as caught:
        await adapter(simulator, client).fetch_day(START.date())
    assert caught.value.retry_after == timedelta(seconds=7)


@pytest.mark.parametrize("kind", [Kind.FAILING, Kind.RESET])
async def test_trouble_on_the_way_is_transient(simulator: FixturesApi, client: GuardedClient, kind: Kind) -> None:
    simulator.tell("fixtures", kind, times=1)
    with pytest.raises(TransientError):
        await adapter(simulator, client).fetch_day(START.date())


async def test_silence_ends_with_a_transient_error(
    simulator: FixturesApi, client: GuardedClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(api_football, "TIMEOUT", timedelta(seconds=0.2))
    simulator.tell("fixtures", Kind.HANGING, times=1)
    with pytest.raises(TransientError, match="did not answer"):
        await adapter(simulator, client).fetch_day(START.date())


@pytest.mark.parametrize("name", [NO_PARAMETER, WRONG_PARAMETER])
async def test_recorded_refusals_are_never_no_fixtures(client: GuardedClient, name: str) -> None:
    async with Recorded(recorded(name)) as service:
        with pytest.raises(PressboxError, match="API-Football says: "):
            await adapter(service, client).fetch_day(START.date())


async def test_recorded_fixtures_are_read_and_a_bad_one_does_not_stop_the_rest(client: GuardedClient) -> None:
    body = recorded_answer(NOT_STARTED)
    body["response"][2]["teams"] = None
    body["response"][3] = "nonsense"
    async with Recorded(json.dumps(body).encode()) as service:
        answer = await adapter(service, client).fetch_day(START.date())
    assert (len(answer.fixtures), len(answer.problems)) == (len(body["response"]) - 2, 2)


async def test_recorded_live_fixtures_are_found_by_id(client: GuardedClient) -> None:
    async with Recorded(recorded(SHOOT_OUTS)) as service:
        answer = await adapter(service, client).fetch_by_ids([1149523, 1149519])
        assert service.asked[0].first("ids") == "1149523-1149519"
        assert service.asked[0].headers["x-apisports-key"] == DEMO_KEY
    assert list(answer.fixtures) == [1149523, 1149519]


@pytest.mark.parametrize("body", [b"[]", b"null", b'{"errors": []}', b'{"errors": [], "response": {}}', b""])
async def test_json_of_another_shape_is_never_no_fixtures(client: GuardedClient, body: bytes) -> None:
    async with Recorded(body) as service:
        with pytest.raises(TransientError):
            await adapter(service, client).fetch_day(START.date())


@pytest.mark.parametrize("errors", [["Something odd."], [{"token": "No key."}], "plain words"])
async def test_errors_in_any_shape_are_errors(client: GuardedClient, errors: Any) -> None:
    body = json.dumps({"errors": errors, "response": [], "paging": {"current": 1, "total": 1}}).encode()
    async with Recorded(body) as service:
        with pytest.raises((TransientError, ConfigurationError)):
            await adapter(service, client).fetch_day(START.date())


async def test_a_question_that_the_api_cannot_take_is_permanent(client: GuardedClient) -> None:
    async with Recorded(recorded(NO_PARAMETER)) as service:
        with pytest.raises(PermanentError, match="At least one parameter"):
            await adapter(service, client).fetch_day(START.date())


def answered(content: bytes) -> Response:
    return Response("https://v3.example.org", 200, httpx.Headers({"content-type": "application/json"}), content)


@pytest.mark.parametrize(("errors", "kind"), ERRORS)
def test_every_error_seen_with_status_200_has_its_kind(errors: dict[str, str], kind: type[PressboxError]) -> None:
    body = {"get": "fixtures", "parameters": [], "errors": errors, "results": 0, "response": []}
    with pytest.raises(PressboxError) as caught:
        read_body(answered(json.dumps(body).encode()), START)
    assert type(caught.value) is kind


@pytest.mark.parametrize("path", RECORDINGS, ids=lambda path: path.stem)
def test_every_recorded_answer_is_read_or_refused_in_words(path: Path) -> None:
    """And no half of it is read: an answer that breaks off is never an answer with less in it."""
    content = path.read_bytes()
    if isinstance(json.loads(content), list):
        assert all(parse_fixture(raw).events is not None for raw in json.loads(content))
    elif json.loads(content)["errors"]:
        with pytest.raises(PermanentError, match="API-Football says: "):
            read_body(answered(content), START)
    elif "status" in path.stem:
        account = read_account(read_body(answered(content), START))
        assert account.plan
        assert account.day_limit
    else:
        body = read_body(answered(content), START)
        if body.get("get") in ("fixtures", "fixtures/headtohead"):
            assert all(parse_fixture(raw) for raw in read_list(body))
    for share in (0.1, 0.5, 0.9):
        with pytest.raises(TransientError):
            read_body(answered(content[: int(len(content) * share)]), START)


async def test_the_simulator_answers_in_the_shape_of_the_recorded_answers(
    simulator: FixturesApi, client: GuardedClient
) -> None:
    real = recorded_answer(SHOOT_OUTS)
    answer = await client.get(f"{simulator.url}/fixtures?ids=9000001", headers={"x-apisports-key": DEMO_KEY})
    simulated = json.loads(answer.body)
    assert simulated.keys() == real.keys()
    ours, theirs = copy.deepcopy(simulated["response"][0]), real["response"][0]
    assert ours.keys() == theirs.keys()
    for part in ("fixture", "league", "teams", "goals", "score"):
        assert ours[part].keys() == theirs[part].keys()
    assert ours["teams"]["home"].keys() == theirs["teams"]["home"].keys()
    assert simulated["response"][0]["events"]
    assert ours["events"][0].keys() == theirs["events"][0].keys()
