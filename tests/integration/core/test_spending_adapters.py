"""Every request to a paid service is one line of the ledger, whatever came back, and none is sent without budget."""

from collections.abc import AsyncIterator, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import select

from pressbox.core.app import Resources
from pressbox.core.config import HttpSettings
from pressbox.core.errors import AnswerLostError, PressboxError, RateLimitedError
from pressbox.core.http.client import GuardedClient
from pressbox.core.models.chat import ChatModel
from pressbox.core.models.client import ModelClient, Question
from pressbox.core.models.endpoints import Endpoint
from pressbox.core.spending.domain import Outcome, PaidAnswer, PaidCall
from pressbox.core.spending.pay_once import MOST_TRIES
from pressbox.core.spending.rows import PaidRequestRow
from pressbox.curator.translate import translators
from pressbox.demo.simulators.behaviour import Kind
from pressbox.demo.simulators.http_service import Answer
from pressbox.entry.manifests import APPLICATIONS
from pressbox.footy.adapters.judges import vision_llm
from pressbox.footy.adapters.sources import client as source_client
from tests.fakes.paid_services import (
    EXERCISES,
    Counter,
    ask_model,
    ask_model_for_a_stream,
    completion,
    recorded_completions,
    with_services,
)
from tests.fakes.spending import FakeLedger, pay_once_of, spend
from tests.patience import patience

LONG, SHORT = timedelta(seconds=patience(20)), timedelta(seconds=patience(0.5))
SERVICES = tuple(service.name for manifest in APPLICATIONS for service in manifest.paid)
CHATS = tuple(name for name in SERVICES if name in EXERCISES and EXERCISES[name].speaks_chat)
HTML = Answer(200, b"<!DOCTYPE html><h1>Welcome</h1>", {"Content-Type": "text/html"})


@pytest.fixture
async def counter() -> AsyncIterator[Counter]:
    async with Counter() as counter:
        yield counter


@pytest.fixture
def longest() -> timedelta:
    """How long a service may take."""
    return LONG


@pytest.fixture
async def services(
    resources: Resources, counter: Counter, monkeypatch: pytest.MonkeyPatch, longest: timedelta
) -> AsyncIterator[Resources]:
    """All services at the counter."""
    monkeypatch.setattr(translators, "LONGEST_CALL", longest)
    monkeypatch.setattr(source_client, "TIMEOUT", longest)
    monkeypatch.setattr(vision_llm, "LONGEST_CALL", longest)
    async with GuardedClient(HttpSettings(allow=(f"127.0.0.1:{counter.port}",))) as http:
        yield replace(with_services(resources, counter.url, timeout=longest.total_seconds()), http=http)


async def lines(resources: Resources) -> Sequence[PaidRequestRow]:
    async with resources.database.unit_of_work() as work:
        return (await work.session.scalars(select(PaidRequestRow).order_by(PaidRequestRow.id))).all()


async def outcomes(resources: Resources) -> list[str]:
    """What became of each request, after a look at the amounts."""
    found = await lines(resources)
    for line in found:
        assert (line.weight > 0) == (line.outcome != Outcome.REFUSED), line.outcome
        assert line.until is None
        assert line.reason or line.outcome == Outcome.ANSWERED
    return [line.outcome for line in found]


def test_every_paid_service_of_the_applications_is_exercised_here() -> None:
    assert set(EXERCISES) == set(SERVICES)


@pytest.mark.parametrize("name", SERVICES)
async def test_no_service_is_asked_when_the_budget_is_used_up(services: Resources, counter: Counter, name: str) -> None:
    """Spending of one application stops all of them."""
    counter.given = EXERCISES[name].good
    poor = replace(with_services(services, counter.url, tokens_per_day=100), http=services.http)
    await spend(poor.database, PaidCall("h", "1", "m", "answer"), PaidAnswer("said", 90, 20), _now())
    with pytest.raises(RateLimitedError, match="budget of the day is used up") as stopped:
        await EXERCISES[name].use(poor)
    assert stopped.value.retry_after is not None
    assert (counter.received, len(await lines(poor))) == (0, 1)


@pytest.mark.parametrize("name", SERVICES)
async def test_an_answer_is_one_line_with_what_it_took(services: Resources, counter: Counter, name: str) -> None:
    counter.given = EXERCISES[name].good
    await EXERCISES[name].use(services)
    assert await outcomes(services) == [Outcome.ANSWERED] * counter.received
    (line,) = await lines(services)
    told = {"deepl": (0, 0, 6, 0), "microsoft": (0, 0, 6, 0), "x-api": (0, 0, 0, 8)}.get(name, (9, 3, 0, 0))
    assert (line.tokens_in, line.tokens_out, line.characters, line.posts) == told


@pytest.mark.parametrize("name", SERVICES)
@pytest.mark.parametrize("status", [500, 502, 504, 408])
async def test_a_request_that_failed_inside_the_service_may_be_billed(
    services: Resources, counter: Counter, name: str, status: int
) -> None:
    counter.given = Answer(status)
    with pytest.raises(PressboxError):
        await EXERCISES[name].use(services)
    assert await outcomes(services) == [Outcome.LOST] * counter.received


@pytest.mark.parametrize("name", SERVICES)
@pytest.mark.parametrize("status", [400, 401, 402, 403, 404, 429, 503, 529])
async def test_a_request_that_is_not_taken_takes_nothing(
    services: Resources, counter: Counter, name: str, status: int
) -> None:
    counter.given = Answer(status)
    with pytest.raises(PressboxError):
        await EXERCISES[name].use(services)
    assert counter.received == 1
    assert (await lines(services))[0].weight == 0
    assert await outcomes(services) == [Outcome.REFUSED]


@pytest.mark.parametrize("name", SERVICES)
@pytest.mark.parametrize(("kind", "longest"), [(Kind.HANGING, SHORT), (Kind.RESET, LONG)])
async def test_an_answer_that_never_comes_is_counted_as_billed(
    services: Resources, counter: Counter, name: str, kind: Kind
) -> None:
    counter.tell("", kind)
    with pytest.raises(PressboxError):
        await EXERCISES[name].use(services)
    assert await outcomes(services) == [Outcome.LOST] * counter.received
    assert counter.received == 1


@pytest.mark.parametrize("name", SERVICES)
async def test_nonsense_and_half_an_answer_are_counted_as_billed(
    services: Resources, counter: Counter, name: str
) -> None:
    good = EXERCISES[name].good
    for given in (HTML, Answer(200, good.body[: len(good.body) // 2], {"Content-Length": str(len(good.body))})):
        counter.given = given
        with pytest.raises(PressboxError):
            await EXERCISES[name].use(services)
    assert await outcomes(services) == [Outcome.LOST] * counter.received


@pytest.mark.parametrize("name", SERVICES)
async def test_a_request_that_never_left_is_not_written_down(services: Resources, name: str) -> None:
    nowhere = replace(with_services(services, "http://127.0.0.1:9"), http=services.http)
    with pytest.raises(PressboxError):
        await EXERCISES[name].use(nowhere)
    assert await lines(services) == []


@pytest.mark.parametrize("name", CHATS)
@pytest.mark.parametrize(
    ("given", "reason"),
    [
        (completion(None, refusal="I can't help with that."), "The model refuses: I can't help with that."),
        (completion(None), "The answer is empty."),
        (completion("  "), "The answer is empty."),
        (completion("", "length"), "used up its tokens"),
        (completion(None, "content_filter"), "content filter withheld"),
        (completion("Half of", "content_filter"), "content filter withheld"),
        (
            Answer.of(
                {
                    "error": {
                        "message": "The response was filtered",
                        "type": None,
                        "param": "prompt",
                        "code": "content_filter",
                        "status": 400,
                        "innererror": {"code": "ResponsibleAIPolicyViolation", "content_filter_result": {}},
                    }
                },
                400,
            ),
            "content filter refuses this text",
        ),
        (
            Answer.of({"object": "error", "message": "This model's maximum context length is 8192", "code": 400}, 400),
            "longer than the model accepts",
        ),
    ],
    ids=["refusal", "null", "blank", "length", "filter", "filtered half", "prompt filter", "too long"],
)
async def test_a_refused_text_is_paid_for_a_bounded_number_of_times_and_says_why(
    services: Resources, counter: Counter, name: str, given: Answer, reason: str
) -> None:
    counter.given = given
    with pytest.raises(PressboxError):
        await EXERCISES[name].use(services)
    assert await outcomes(services) == [Outcome.UNUSABLE] * counter.received
    assert counter.received <= MOST_TRIES
    assert all(reason in line.reason for line in await lines(services))


async def test_no_money_at_the_endpoint_is_not_asked_again_soon(services: Resources, counter: Counter) -> None:
    error = {"message": "You exceeded your current quota.", "type": "insufficient_quota", "code": "insufficient_quota"}
    counter.given = Answer.of({"error": error}, 429)
    with pytest.raises(RateLimitedError, match="no credit left") as stopped:
        await ask_model(services)
    assert stopped.value.retry_after == timedelta(hours=1)
    # Whoever asks next is told the same, and nothing is sent.
    with pytest.raises(RateLimitedError, match="no credit left"):
        await ask_model(services)
    assert counter.received == 1
    assert await outcomes(services) == [Outcome.REFUSED]


@pytest.mark.parametrize(
    "body",
    [
        b'data: {"choices": [{"delta": {"content": "In sh"}}]}\n\n',
        b': OPENROUTER PROCESSING\n\ndata: {"choices": [], "error": {"code": 502, "message": "Upstream"}}\n\n',
        b"data: nonsense\n\n",
        b"",
    ],
    ids=["half", "error inside", "nonsense", "nothing"],
)
async def test_half_a_stream_is_counted_as_billed(services: Resources, counter: Counter, body: bytes) -> None:
    counter.given = Answer(200, body, {"Content-Type": "text/event-stream"})
    with pytest.raises(AnswerLostError):
        await ask_model_for_a_stream(services)
    assert await outcomes(services) == [Outcome.LOST]


async def test_a_refusal_in_a_stream_is_counted_with_its_reason(services: Resources, counter: Counter) -> None:
    chunks = (
        b'data: {"choices": [{"delta": {"refusal": "I cannot "}}]}\n\n',
        b'data: {"choices": [{"delta": {"refusal": "say that."}, "finish_reason": "stop"}]}\n\n',
        b'data: {"choices": [], "usage": {"prompt_tokens": 7, "completion_tokens": 2}}\n\ndata: [DONE]\n\n',
    )
    counter.given = Answer(200, b"".join(chunks), {"Content-Type": "text/event-stream"})
    with pytest.raises(PressboxError, match="The model refuses: I cannot say that"):
        await ask_model_for_a_stream(services)
    (line,) = await lines(services)
    assert (line.outcome, line.tokens_in, line.tokens_out) == (Outcome.UNUSABLE, 7, 2)


async def test_every_recorded_answer_of_an_endpoint_is_lines_that_have_ended(counter: Counter) -> None:
    async def hear(text: str) -> None: ...

    for recorded in recorded_completions():
        endpoint = Endpoint(f"{counter.url}/v1", recorded.name, None, "URL", "KEY", "NAME")
        chat = ChatModel("model", endpoint, longest_call=LONG, at_once=1)
        ledger, counter.given, counter.received = FakeLedger(), recorded.answer, 0
        question = Question("answer", "1", recorded.name, "Say it in short.", "A text.", 50)
        with suppress(PressboxError):
            model = ModelClient(chat, pay_once_of(ledger))
            await model.ask(question, on_text=hear if recorded.streamed else None)
        await chat.close()
        outcomes = [line.outcome for line in ledger.lines.values()]
        assert len(outcomes) == counter.received, recorded.name
        if recorded.answer.status in (401, 402, 403, 404, 429):
            assert outcomes == [Outcome.REFUSED], recorded.name
        if recorded.answer.status == 200:
            assert outcomes == [outcomes[0]], recorded.name
            assert outcomes[0] in (Outcome.ANSWERED, Outcome.UNUSABLE, Outcome.LOST), recorded.name
        assert Outcome.RUNNING not in outcomes, recorded.name


def _now() -> datetime:
    return datetime.now(UTC)
