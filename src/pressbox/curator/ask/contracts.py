"""Answering a question. The question, the passages and the answer stay in the database: messages carry its id."""

from pressbox.core.contracts import CamelContract, Contract
from pressbox.curator.ask.domain import AnswerMethod, AnswerState
from pressbox.curator.library.contracts import CuratorProgress, DeferrableResult
from pressbox.curator.library.domain import CuratorPolicy

ANSWER = "AnswerWorkflow"


def answer_workflow_id(answer_id: int) -> str:
    return f"answer-{answer_id}"


class AnswerInput(CamelContract):
    """With `evaluate` what a model wrote is judged afterwards."""

    answer_id: int
    evaluate: bool = False
    policy: CuratorPolicy = CuratorPolicy()


class AnswerOutput(CamelContract):
    state: AnswerState
    passages: int = 0


class AnswerProgress(CuratorProgress):
    """Says nothing of the question: that is its person's alone."""

    passages: int = 0


class RetrievedPassages(Contract):
    """`state` is not open when there is nothing left to write."""

    count: int = 0
    state: AnswerState = AnswerState.SEARCHING


class WrittenAnswer(DeferrableResult):
    state: AnswerState = AnswerState.DONE
    method: AnswerMethod | None = None
    trace_id: str = ""


class EndAnswerInput(Contract):
    answer_id: int
    reason: str
