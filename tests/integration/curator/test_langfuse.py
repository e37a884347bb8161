"""Scores for Langfuse, against a server that answers as its documentation says."""

from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta

import pytest
from pydantic import SecretStr

from pressbox.core.errors import ConfigurationError, PressboxError, RateLimitedError, TransientError
from pressbox.curator.evaluate.activities import Evaluation
from pressbox.curator.evaluate.domain import Measure, Metric
from pressbox.curator.evaluate.langfuse import Langfuse
from pressbox.curator.evaluate.wiring import board
from pressbox.curator.settings import CuratorSettings
from pressbox.demo.simulators.behaviour import Kind
from pressbox.demo.simulators.langfuse import INGESTION, PUBLIC_KEY, SECRET_KEY, LangfuseService
from tests.fakes.evaluating import judged
from tests.patience import patience

TRACE = "0123456789abcdef" * 2
KEY = INGESTION.lstrip("/")
LONG, SHORT = timedelta(seconds=patience(20)), timedelta(seconds=patience(0.5))
EVALUATED = Evaluation(
    judged(subject_id=5),
    "ragas",
    TRACE,
    (Measure(Metric.FAITHFULNESS, 0.92), Measure(Metric.ANSWER_RELEVANCY, 0.5)),
    datetime(2026, 5, 4, tzinfo=UTC),
)


@pytest.fixture
async def service() -> AsyncIterator[LangfuseService]:
    async with LangfuseService() as service:
        yield service


@pytest.fixture
def longest_call() -> timedelta:
    return LONG


@pytest.fixture
async def langfuse(service: LangfuseService, longest_call: timedelta) -> AsyncIterator[Langfuse]:
    langfuse = Langfuse(service.url, PUBLIC_KEY, SecretStr(SECRET_KEY), longest_call=longest_call)
    yield langfuse
    await langfuse.close()


async def test_scores_belong_to_a_trace_of_the_same_id(langfuse: Langfuse, service: LangfuseService) -> None:
    await langfuse.send(EVALUATED)
    assert list(service.traces) == [TRACE]
    scores = [(score["traceId"], score["name"], score["value"], score["dataType"]) for score in service.scores.values()]
    assert scores == [(TRACE, "faithfulness", 0.92, "NUMERIC"), (TRACE, "answer_relevancy", 0.5, "NUMERIC")]


async def test_told_twice_a_score_is_there_once(langfuse: Langfuse, service: LangfuseService) -> None:
    service.tell(KEY, Kind.RESET, times=1)
    with pytest.raises(TransientError, match="cannot be reached"):
        await langfuse.send(EVALUATED)
    await langfuse.send(EVALUATED)
    assert (len(service.traces), len(service.scores), len(service.bodies)) == (1, 2, 2)


async def test_no_question_no_answer_and_no_passage_is_sent(langfuse: Langfuse, service: LangfuseService) -> None:
    await langfuse.send(EVALUATED)
    sent = service.bodies[0].decode()
    assert "writer" in sent
    for private in (EVALUATED.judged.question, EVALUATED.judged.text, *EVALUATED.judged.contexts, "bridge"):
        assert private not in sent


@pytest.mark.parametrize(
    ("kind", "seconds", "longest_call", "expected"),
    [
        (Kind.FAILING, 0, LONG, TransientError),
        (Kind.HANGING, 0, SHORT, TransientError),
        (Kind.BUSY, 30, LONG, RateLimitedError),
    ],
)
async def test_trouble_of_the_server_is_worth_another_try(
    langfuse: Langfuse, service: LangfuseService, kind: Kind, seconds: float, expected: type[PressboxError]
) -> None:
    service.tell(KEY, kind, seconds=seconds, times=1)
    with pytest.raises(expected) as raised:
        await langfuse.send(EVALUATED)
    if isinstance(raised.value, RateLimitedError):
        assert raised.value.retry_after == timedelta(seconds=30)


async def test_a_score_that_is_refused_inside_a_good_answer_is_a_failure(
    langfuse: Langfuse, service: LangfuseService
) -> None:
    service.refuse = {"faithfulness"}
    with pytest.raises(TransientError, match="1 of the scores"):
        await langfuse.send(EVALUATED)


async def test_wrong_keys_name_the_settings_and_not_the_key(service: LangfuseService) -> None:
    langfuse = Langfuse(service.url, PUBLIC_KEY, SecretStr("sk-lf-wrong"))
    with pytest.raises(ConfigurationError, match="LANGFUSE_SECRET_KEY") as raised:
        await langfuse.send(EVALUATED)
    assert "sk-lf-wrong" not in str(raised.value)
    await langfuse.close()


async def test_an_address_that_is_none_is_told() -> None:
    langfuse = Langfuse("langfuse.example.org", PUBLIC_KEY, SecretStr(SECRET_KEY))
    with pytest.raises(ConfigurationError, match="LANGFUSE_HOST"):
        await langfuse.send(EVALUATED)
    await langfuse.close()


def test_half_a_configuration_is_a_mistake_and_none_is_fine() -> None:
    assert board(CuratorSettings()) is None
    with pytest.raises(ConfigurationError, match="all of them, or none"):
        board(CuratorSettings(langfuse_url="https://langfuse.example.org"))
