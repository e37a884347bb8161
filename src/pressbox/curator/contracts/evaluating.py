"""Judging answers and summaries. Texts stay in the database: messages carry ids."""

from enum import StrEnum

from pressbox.core.contracts import Contract
from pressbox.curator.contracts.base import CamelContract


class EvaluationMode(StrEnum):
    DIALOGUE = "dialogue"
    RESEARCH = "research"


class EvaluationInput(CamelContract):
    """`subject_id` is the answer, or in research mode the run."""

    trace_id: str
    mode: EvaluationMode
    subject_id: int


class SummarizationEvaluationItem(CamelContract):
    entry_id: int
    trace_id: str


class SummarizationEvaluationInput(CamelContract):
    """At most `max_samples` of the items are judged."""

    trace_id: str
    items: tuple[SummarizationEvaluationItem, ...]
    max_samples: int = 5


class Score(Contract):
    metric: str
    score: float
