"""Distilling entries, and doing them again."""

from datetime import datetime

from pydantic import Field

from pressbox.core.contracts import Contract
from pressbox.curator.library.contracts import CamelContract, CuratorProgress, EntryProgressState
from pressbox.curator.library.domain.policy import CuratorPolicy

DISTIL_LEFTOVERS_WORKFLOW = "curator-distil-leftovers"
CONTENT_DISTILLATION = "ContentDistillationWorkflow"
SUMMARIZATION_EVALUATION = "SummarizationEvaluationWorkflow"


def feed_distil_workflow_id(feed_id: int) -> str:
    """For what needs no fetch: what the feed itself holds, and what an earlier run left."""
    return f"distil-feed-{feed_id}"


def distil_workflow_id(parent_id: str, number: int) -> str:
    return f"distil-{parent_id}-{number}"


def distil_claim(entry_id: int) -> str:
    """Under which one run at a time distils an entry."""
    return f"distil-{entry_id}"


def summarization_evaluation_workflow_id(trace_id: str) -> str:
    return f"evaluate-summaries-{trace_id}"


class ContentDistillationInput(CamelContract):
    """Without ids: everything that is not distilled yet, page by page."""

    entry_ids: tuple[int, ...] = ()
    feed_name: str = ""
    state: "DistillationState" = Field(default_factory=lambda: DistillationState())
    parent_workflow_id: str = ""
    policy: CuratorPolicy = CuratorPolicy()


class DistillationState(CamelContract):
    """Carried over continue-as-new: one run per page of entries."""

    after_entry_id: int = 0
    total: int = 0
    distilled: int = 0
    failed: int = 0


class ContentDistillationProgress(CuratorProgress):
    total_entries: int = 0
    entries_distilled: int = 0
    entry_progress: dict[str, EntryProgressState] = Field(default_factory=dict)


class ContentDistillationOutput(CamelContract):
    distilled: int
    failed: int
    waiting: int = 0


class DistilSelection(Contract):
    entries: tuple[EntryProgressState, ...] = ()
    more: bool = False


class SelectForDistillationInput(Contract):
    entry_ids: tuple[int, ...] = ()
    feed_id: int | None = None
    after_entry_id: int = 0
    limit: int = 50


class DistilledAnswer(Contract):
    """A summary of a few sentences, bounded: small enough for a history, where bodies never are."""

    entry_id: int
    content_hash: str
    summary: str
    main_content_start_line: int
    main_content_end_line: int
    language: str
    model: str
    prompt_version: str


class DistilledBatch(Contract):
    """`waiting` tells that the budget of the day is used up or no model answers: come back at `retry_at`."""

    distilled: tuple[int, ...] = ()
    answers: tuple[DistilledAnswer, ...] = ()
    failed: tuple[EntryProgressState, ...] = ()
    waiting: tuple[int, ...] = ()
    retry_at: datetime | None = None
    reason: str = ""


class SaveDistilledInput(Contract):
    answers: tuple[DistilledAnswer, ...] = ()
    failed: tuple[EntryProgressState, ...] = ()
    policy: CuratorPolicy = CuratorPolicy()


class SavedEntries(Contract):
    """Not among them: those whose text changed meanwhile."""

    entry_ids: tuple[int, ...] = ()


class AppSettings(Contract):
    target_language: str
    distiller: str
    embedding_model: str
    # Whether summaries that a model wrote are judged. Histories from before have no such answer.
    evaluation: bool = False


class SummarizationEvaluationItem(CamelContract):
    entry_id: int
    trace_id: str


class SummarizationEvaluationInput(CamelContract):
    """At most `max_samples` of the items are judged."""

    trace_id: str
    items: tuple[SummarizationEvaluationItem, ...]
    max_samples: int = 5
