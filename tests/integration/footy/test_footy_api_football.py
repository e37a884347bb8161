"""The adapter of API-Football against the simulator and recorded bodies, over real HTTP on loopback."""

import copy
import json
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from typing import Any

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
from pressbox.core.http.client import GuardedClient
from pressbox.demo.match_day.days import build_day
from pressbox.demo.simulators.behaviour import Kind
from pressbox.demo.simulators.fixtures_api import DEMO_KEY, FixturesApi, Mistake
from pressbox.demo.simulators.http_service import Answer, HttpService, Request
from pressbox.footy.adapters import api_football
from pressbox.footy.adapters.api_football import ApiFootball
from pressbox.footy.domain.fixture_parser import parse_fixture
from pressbox.footy.settings import FootySettings
from tests.fakes.football_answers import NO_PARAMETER, NOT_STARTED, SHOOT_OUTS, WRONG_PARAMETER
from tests.fakes.football_answers import answer as recorded_answer

START = datetime(2026, 6, 11, 18, 0, tzinfo=UTC)


def recorded(name: str) -> bytes:
    return json.dumps(recorded_answer(name)).encode()


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
    return ApiFootball(client, FootySettings(api_key=SecretStr(key) if key else None, api_url=service.url + "/"))


@pytest.fixture
async def client() -> AsyncIterator[GuardedClient]:
    async with GuardedClient(HttpSettings(allow=("127.0.0.0/8",))) as one:
        yield one


@pytest.fixture
async def simulator() -> AsyncIterator[FixturesApi]:
    day = build_day(START, matches=6)
    async with FixturesApi(day=day, now=lambda: START + timedelta(minutes=70)) as service:
        yield service


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


async def test_the_quota_of_the_last_answer_is_kept(simulator: FixturesApi, client: GuardedClient) -> None:
    api = adapter(simulator, client)
    before = api.quota
    await api.fetch_day(START.date())
    assert before.day_left is None
    assert (api.quota.day_limit, api.quota.day_left, api.quota.minute_left) == (75_000, 74_999, 449)


async def test_without_a_key_it_says_what_to_set_and_names_the_demo(
    simulator: FixturesApi, client: GuardedClient
) -> None:
    with pytest.raises(ConfigurationError, match=r"API_FOOTBALL_KEY.*pressbox demo"):
        await adapter(simulator, client, key=None).fetch_day(START.date())
    assert simulator.calls == 0


async def test_a_wrong_key_is_a_matter_of_configuration_and_is_not_repeated_in_the_error(
    simulator: FixturesApi, client: GuardedClient
) -> None:
    with pytest.raises(ConfigurationError, match="API_FOOTBALL_KEY") as caught:
        await adapter(simulator, client, key="wrong-secret").fetch_day(START.date())
    assert "wrong-secret" not in str(caught.value)


@pytest.mark.parametrize(
    ("mistake", "error"),
    [
        (Mistake.PLAN, ConfigurationError),
        (Mistake.TOKEN, ConfigurationError),
        (Mistake.DAY_LIMIT, RateLimitedError),
        (Mistake.MINUTE_LIMIT, RateLimitedError),
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
