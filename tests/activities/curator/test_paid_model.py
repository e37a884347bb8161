"""A model is paid once for one piece of work, within the budget of the day; what was paid for is not lost."""

import asyncio
from datetime import UTC, datetime, timedelta

import pytest

from pressbox.core.errors import (
    AnswerLostError,
    ConfigurationError,
    RateLimitedError,
    TransientError,
    UnusableAnswerError,
)
from pressbox.core.models.client import ModelClient, OnText, Question
from pressbox.core.models.completions import Said
from pressbox.core.spending import holding, pay_once, till
from pressbox.core.spending.domain import Budget, Outcome, Prices, Tries
from pressbox.core.spending.till import UnbilledError
from pressbox.curator.models.domain import Feature
from tests.fakes.spending import FakeClaims, FakeLedger, pay_once_of
from tests.waiting import until

DAY = datetime(2026, 5, 4, 22, 0, tzinfo=UTC)
QUESTION = Question(Feature.ANSWER, "1", "hash", "Say it in short.", "A text of strangers.", 50)


class Model:
    """Says `text` in pieces, when `hold` lets it."""

    model = "fake-model"

    def __init__(self) -> None:
        self.text = "In short: a text."
        self.asked = 0
        self.tokens = (100, 10)
        self.error: Exception | None = None
        self.hold: asyncio.Event | None = None

    async def converse(self, question: Question, on_text: OnText | None = None) -> Said:
        self.asked += 1
        if on_text is not None:
            await on_text(self.text[:5])
        if self.hold is not None:
            await self.hold.wait()
        if self.error is not None:
            raise self.error
        if on_text is not None:
            await on_text(self.text)
        return Said(self.text, *self.tokens)


class Desk:
    """One ledger and its claims, with as many workers as a test wants."""

    def __init__(self, tokens_per_day: int = 1000) -> None:
        self.model, self.ledger, self.claims = Model(), FakeLedger(), FakeClaims()
        self.now = DAY
        self.tokens_per_day = tokens_per_day

    def worker(self) -> ModelClient:
        budget = Budget(self.tokens_per_day)
        return ModelClient(
            self.model, pay_once_of(self.ledger, self.claims, budget, lambda: self.now), Prices(1.0, 2.0)
        )


@pytest.fixture
def desk(monkeypatch: pytest.MonkeyPatch) -> Desk:
    monkeypatch.setattr(pay_once, "POLL_SECONDS", 0.01)
    monkeypatch.setattr(till, "RECORD_PAUSES_SECONDS", (0.01, 0.01))
    return Desk()


def other(**changes: str) -> Question:
    values = {"feature": Feature.ANSWER, "prompt_version": "1", "content_hash": "hash"} | changes
    return Question(
        Feature(values["feature"]), values["prompt_version"], values["content_hash"], "Say it.", "A text.", 50
    )


async def test_the_same_question_is_paid_once(desk: Desk) -> None:
    first, second = await desk.worker().ask(QUESTION), await desk.worker().ask(QUESTION)
    assert (first.text, first.bought, first.tokens_in, first.tokens_out) == (desk.model.text, True, 100, 10)
    assert (second.text, second.bought, second.tokens_in) == (desk.model.text, False, 0)
    assert (desk.model.asked, desk.ledger.tokens, desk.claims.held, desk.ledger.reserved) == (1, 110, {}, {})


@pytest.mark.parametrize("changes", [{"feature": "context"}, {"prompt_version": "2"}, {"content_hash": "else"}])
async def test_another_feature_prompt_or_text_is_another_piece_of_work(desk: Desk, changes: dict[str, str]) -> None:
    await desk.worker().ask(QUESTION)
    assert (await desk.worker().ask(other(**changes))).bought
    assert desk.model.asked == 2


@pytest.mark.parametrize("processes", [1, 2])
async def test_two_that_ask_the_same_at_a_time_pay_once(desk: Desk, processes: int) -> None:
    desk.model.hold = asyncio.Event()
    workers = [desk.worker()] * 2 if processes == 1 else [desk.worker(), desk.worker()]
    asking = [asyncio.create_task(worker.ask(QUESTION)) for worker in workers]
    await until(lambda: desk.model.asked == 1)
    await asyncio.sleep(0.05)
    desk.model.hold.set()
    replies = await asyncio.gather(*asking)
    assert sorted(reply.bought for reply in replies) == [False, True]
    assert desk.model.asked == 1


async def test_features_that_ask_about_the_same_text_do_not_wait_for_each_other(desk: Desk) -> None:
    desk.model.hold = asyncio.Event()
    asking = [asyncio.create_task(desk.worker().ask(one)) for one in (QUESTION, other(feature="context"))]
    await until(lambda: desk.model.asked == 2)
    desk.model.hold.set()
    await asyncio.gather(*asking)


async def test_who_waits_too_long_for_the_answer_of_another_comes_back_later(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pay_once, "PATIENCE", timedelta(0) - timedelta(seconds=1))
    desk.model.hold = asyncio.Event()
    first = asyncio.create_task(desk.worker().ask(QUESTION))
    await until(lambda: desk.model.asked == 1)
    with pytest.raises(TransientError, match="Another run"):
        await desk.worker().ask(QUESTION)
    desk.model.hold.set()
    await first


async def test_an_answer_that_is_on_its_way_when_its_asker_is_cancelled_is_kept(desk: Desk) -> None:
    desk.model.hold, heard = asyncio.Event(), []

    async def hear(text: str) -> None:
        heard.append(text)

    asker = asyncio.create_task(desk.worker().ask(QUESTION, on_text=hear))
    await until(lambda: bool(heard))
    asker.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asker
    desk.model.hold.set()
    await until(lambda: bool(desk.ledger.answers))
    assert heard == [desk.model.text[:5]], "nobody is told any more"
    assert not (await desk.worker().ask(QUESTION)).bought
    assert desk.model.asked == 1


async def test_a_try_that_comes_while_the_call_of_the_last_one_runs_waits_for_it(desk: Desk) -> None:
    desk.model.hold = asyncio.Event()
    worker = desk.worker()
    first = asyncio.create_task(worker.ask(QUESTION))
    await until(lambda: desk.model.asked == 1)
    first.cancel()
    again = [asyncio.create_task(one.ask(QUESTION)) for one in (worker, desk.worker())]
    await asyncio.sleep(0.05)
    desk.model.hold.set()
    assert [reply.text for reply in await asyncio.gather(*again)] == [desk.model.text] * 2
    assert desk.model.asked == 1


async def test_a_call_that_takes_long_keeps_its_claim_and_that_of_a_dead_worker_lapses(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(holding, "CLAIM_RENEWAL_SECONDS", 0.01)
    desk.model.hold = asyncio.Event()
    running = asyncio.create_task(desk.worker().ask(QUESTION))
    await until(lambda: desk.model.asked == 1)
    desk.now += holding.CLAIM_LIFETIME * 3
    (key,) = desk.claims.held
    await until(lambda: desk.claims.held[key][1] > desk.now)
    desk.model.hold.set()
    await running
    desk.claims.held[f"{key}-2"] = ("a worker that died", desk.now + holding.CLAIM_LIFETIME)
    desk.now += holding.CLAIM_LIFETIME
    assert await desk.claims.take([f"{key}-2"], "another", desk.now, desk.now)


async def test_a_database_that_is_away_for_a_moment_costs_no_answer(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    record, tries = desk.ledger.record, []

    async def stumbling(*arguments: object, **named: object) -> None:
        tries.append(1)
        if len(tries) < 3:
            raise TransientError("The database does not answer.")
        await record(*arguments, **named)  # type: ignore[arg-type]

    monkeypatch.setattr(desk.ledger, "record", stumbling)
    await desk.worker().ask(QUESTION)
    assert (desk.model.asked, len(desk.ledger.answers)) == (1, 1)


async def test_a_reader_that_stumbles_costs_no_answer(desk: Desk) -> None:
    async def stumbling(text: str) -> None:
        raise TransientError("The database does not answer.")

    with pytest.raises(TransientError, match="database"):
        await desk.worker().ask(QUESTION, on_text=stumbling)
    assert not (await desk.worker().ask(QUESTION)).bought


async def test_who_reads_along_hears_all_of_it_also_when_it_was_there_already(desk: Desk) -> None:
    heard: list[str] = []

    async def hear(text: str) -> None:
        heard.append(text)

    await desk.worker().ask(QUESTION, on_text=hear)
    assert heard == [desk.model.text[:5], desk.model.text]
    heard.clear()
    await desk.worker().ask(QUESTION, on_text=hear)
    assert heard == [desk.model.text]


async def test_an_answer_that_cannot_be_used_is_counted_and_never_given_out(desk: Desk) -> None:
    with pytest.raises(UnusableAnswerError, match="fake-model"):
        await desk.worker().ask(QUESTION, usable=lambda text: "JSON" in text)
    assert (desk.ledger.tokens, desk.ledger.answers) == (110, {})
    desk.model.text = "JSON"
    assert (await desk.worker().ask(QUESTION, usable=lambda text: "JSON" in text)).bought


async def test_the_same_nonsense_is_not_paid_for_all_day(desk: Desk) -> None:
    for _ in range(pay_once.MOST_TRIES + 2):
        with pytest.raises(UnusableAnswerError):
            await desk.worker().ask(QUESTION, usable=lambda _: False)
    assert desk.model.asked == pay_once.MOST_TRIES
    with pytest.raises(UnusableAnswerError, match="not asked again before tomorrow"):
        await desk.worker().ask(QUESTION)


async def test_an_endpoint_that_does_not_count_is_counted_by_length(desk: Desk) -> None:
    desk.model.tokens = (0, 0)
    reply = await desk.worker().ask(QUESTION)
    assert reply.tokens_in == (len(QUESTION.instructions) + len(QUESTION.material)) // 4
    assert reply.tokens_out == len(desk.model.text) // 4


async def test_a_used_up_budget_says_when_it_goes_on_and_nobody_is_asked(desk: Desk) -> None:
    desk.ledger.tokens = 1000
    with pytest.raises(RateLimitedError, match="PRESSBOX_SPENDING_TOKENS_PER_DAY") as caught:
        await desk.worker().ask(QUESTION)
    # Not only at midnight: who raised the budget does not want to wait for that.
    assert caught.value.retry_after == till.BUDGET_PAUSE
    desk.now = DAY.replace(hour=23, minute=55)
    with pytest.raises(RateLimitedError) as late:
        await desk.worker().ask(QUESTION)
    assert late.value.retry_after == timedelta(minutes=5)
    assert desk.model.asked == 0
    desk.tokens_per_day = 2000
    assert (await desk.worker().ask(QUESTION)).bought


async def test_what_is_in_the_ledger_needs_no_budget(desk: Desk) -> None:
    await desk.worker().ask(QUESTION)
    desk.ledger.tokens = 1000
    assert (await desk.worker().ask(QUESTION)).text == desk.model.text


async def test_many_at_a_time_spend_the_rest_of_the_budget_once(desk: Desk) -> None:
    desk.ledger.tokens = 990
    desk.model.hold = asyncio.Event()
    asking = [asyncio.create_task(desk.worker().ask(other(content_hash=str(number)))) for number in range(8)]
    await until(lambda: sum(task.done() for task in asking) == 7)
    desk.model.hold.set()
    ended = await asyncio.gather(*asking, return_exceptions=True)
    refused = [error for error in ended if isinstance(error, RateLimitedError)]
    assert (desk.model.asked, len(refused)) == (1, 7)
    # They come back soon: the one that runs may need less than was set aside for it.
    assert {error.retry_after for error in refused} == {till.HELD_PAUSE}


@pytest.mark.parametrize(
    ("error", "outcomes"),
    [
        (UnbilledError(TransientError("The endpoint cannot be reached."), sent=False), []),
        (UnbilledError(ConfigurationError("The endpoint refuses the key.")), [Outcome.REFUSED]),
        (AnswerLostError("The answer broke off."), [Outcome.LOST]),
        (RuntimeError("Nobody expected this."), [Outcome.LOST]),
    ],
    ids=["never sent", "refused", "broke off", "unexpected"],
)
async def test_every_request_that_went_out_is_in_the_ledger_and_counts_unless_it_was_refused(
    desk: Desk, error: Exception, outcomes: list[Outcome]
) -> None:
    desk.model.error = error
    raised = error.error if isinstance(error, UnbilledError) else error
    with pytest.raises(type(raised)):
        await desk.worker().ask(QUESTION)
    assert desk.ledger.outcomes == outcomes
    assert (desk.ledger.tokens > 0, desk.claims.held) == (Outcome.LOST in outcomes, {})


async def test_a_lost_answer_is_counted_with_all_that_it_may_have_cost(desk: Desk) -> None:
    desk.model.error = AnswerLostError("No complete answer within 120 seconds.")
    with pytest.raises(AnswerLostError):
        await desk.worker().ask(QUESTION)
    question = (len(QUESTION.instructions) + len(QUESTION.material)) // 4
    assert desk.ledger.tokens == question + QUESTION.most_tokens


async def test_a_question_whose_answers_are_lost_rests_while_others_are_answered(desk: Desk) -> None:
    await desk.worker().ask(other(content_hash="else"))
    desk.model.error = AnswerLostError("No complete answer within 120 seconds.")
    tries = []
    for _ in range(pay_once.MOST_TRIES):
        with pytest.raises(AnswerLostError) as lost:
            await desk.worker().ask(QUESTION)
        tries.append(lost.value.tries)
    with pytest.raises(UnusableAnswerError, match="No complete answer within 120 seconds"):
        await desk.worker().ask(QUESTION)
    assert tries == [1, 2, 3], "each pause is longer than the last"
    assert desk.model.asked == 1 + pay_once.MOST_TRIES


async def test_while_the_model_answers_nobody_the_question_is_not_to_blame(desk: Desk) -> None:
    desk.tokens_per_day = 10**6
    desk.model.error = AnswerLostError("No complete answer within 120 seconds.")
    for _ in range(pay_once.MOST_TRIES + 1):
        with pytest.raises(AnswerLostError):
            await desk.worker().ask(QUESTION)
    desk.model.error = None
    assert (await desk.worker().ask(QUESTION)).bought


@pytest.mark.parametrize(
    ("tries", "exhausted"),
    [
        (Tries(3, answers_others=True), True),
        (Tries(3, answers_others=True, died=1), False),
        (Tries(11, answers_others=True, died=11), False),
        (Tries(12, answers_others=True, died=12), True),
        (Tries(11, answers_others=False), False),
    ],
)
def test_a_process_of_ours_that_died_is_not_the_fault_of_the_text(tries: Tries, exhausted: bool) -> None:
    assert pay_once.is_exhausted(tries) is exhausted
