"""Answering on a real server: written, waiting, stopped, failed, judged, and gone on with after a broken stream."""

import secrets

import pytest
from temporalio.client import Client, WorkflowExecutionStatus, WorkflowFailureError

from pressbox.core.errors import PermanentError, TransientError
from pressbox.curator.ask.contracts import answer_workflow_id
from pressbox.curator.ask.domain import AnswerMethod, AnswerState
from pressbox.curator.ask.service import AnswerStarter
from pressbox.curator.ask.workflow import AnswerWorkflow
from pressbox.curator.evaluate.contracts import evaluation_workflow_id
from pressbox.curator.models.domain import trace_id
from tests.fakes.asking import FakeModel
from tests.replay.answer_cases import POLICY, Asking
from tests.waiting import progress_when_waiting, until
from tests.workflows.curator.conftest import children_started


@pytest.fixture
def asking(temporal: Client) -> Asking:
    return Asking(temporal)


def model_of(asking: Asking) -> FakeModel:
    assert asking.model is not None
    return asking.model


async def test_a_question_is_answered_and_the_answer_is_judged_by_a_child_that_nobody_waits_for(asking: Asking) -> None:
    async with asking.working():
        handle = await asking.ended(evaluate=True)
        result = await handle.result()
        assert children_started(await handle.fetch_history()) == ["EvaluationWorkflow"]
        judging = asking.client.get_workflow_handle(evaluation_workflow_id(trace_id("answer", 5)))
        await judging.result()
    assert (result["state"], result["passages"]) == ("done", 2)
    assert asking.desk.ending is not None
    assert asking.desk.ending.text == "It is closed [1]. Repairs take a year [2]."


async def test_without_a_model_nothing_is_written_and_nothing_is_judged(asking: Asking) -> None:
    asking.model = None
    async with asking.working():
        handle = await asking.ended(evaluate=True)
        assert children_started(await handle.fetch_history()) == []
    assert asking.desk.ending is not None
    assert asking.desk.ending.method is AnswerMethod.PASSAGES


async def test_while_the_model_is_down_the_question_waits_visibly_and_goes_on_by_itself(asking: Asking) -> None:
    model_of(asking).down = TransientError("The model is loading.")
    async with asking.working():
        handle = await asking.start()
        await until(lambda: asking.desk.state is AnswerState.WAITING)
        progress = await progress_when_waiting(handle, AnswerWorkflow.get_progress)
        assert progress.message == "The model is loading."
        model_of(asking).down = None
        assert (await handle.result())["state"] == "done"
    assert len(asking.retriever.asked) == 1


async def test_a_question_can_be_stopped_while_it_waits(asking: Asking) -> None:
    model_of(asking).down = TransientError("The model is loading.")
    starter = AnswerStarter(asking.client, asking.queue, POLICY, evaluate=False)
    number = secrets.randbelow(10**9) + 10**9
    async with asking.working():
        await starter.start_answer(number)
        await until(lambda: asking.desk.state is AnswerState.WAITING)
        await starter.stop_answer(number)
        handle = asking.client.get_workflow_handle(answer_workflow_id(number))
        with pytest.raises(WorkflowFailureError):
            await handle.result()
        assert (await handle.describe()).status is WorkflowExecutionStatus.CANCELED
    # Stopping what is over is no trouble.
    await starter.stop_answer(number)


async def test_what_fails_for_good_is_said_on_the_page_and_fails_the_run(asking: Asking) -> None:
    model_of(asking).down = PermanentError("Nobody can answer this.")
    async with asking.working():
        with pytest.raises(WorkflowFailureError):
            await asking.ended()
    assert asking.desk.ending is not None
    assert asking.desk.ending.state is AnswerState.FAILED
    assert "Nobody can answer this." in asking.desk.ending.reason
