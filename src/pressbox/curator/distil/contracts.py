"""Messages of distilling, and the names under which it runs."""

from datetime import datetime

from pydantic import Field

from pressbox.core.contracts import Contract
from pressbox.curator.library.contracts import CamelContract, CuratorProgress, EntryProgressState
from pressbox.curator.library.domain.policy import CuratorPolicy

DISTIL_LEFTOVERS_WORKFLOW = "curator-distil-leftovers"
CONTENT_DISTILLATION = "ContentDistillationWorkflow"
SUMMARIZATION_EVALUATION = "SummarizationEvaluationWorkflow"


def feed_distil_workflow_id(feed_id: int) -> str:
    """Return the id of the run for entries that need no fetch: the feed has their text, or an earlier run left them."""
    return f"distil-feed-{feed_id}"


def distil_workflow_id(parent_id: str, number: int) -> str:
    return f"distil-{parent_id}-{number}"


def distil_claim(entry_id: int) -> str:
    """Return the key under which one run at a time distils an entry."""
    return f"distil-{entry_id}"


def summarization_evaluation_workflow_id(trace_id: str) -> str:
    return f"evaluate-summaries-{trace_id}"


class ContentDistillationInput(CamelContract):
    """Without ids: everything that is not distilled yet, page by page. `feed_id` is set when all are of one feed."""

    entry_ids: tuple[int, ...] = ()
    feed_id: int | None = None
    feed_name: str = ""
    state: "DistillationState" = Field(default_factory=lambda: DistillationState())
    parent_workflow_id: str = ""
    policy: CuratorPolicy = CuratorPolicy()


class DistillationState(CamelContract):
    """Carried over continue-as-new: one run for each page of entries."""

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
    """A summary of bounded length, small enough for a history; bodies never are in one."""

    entry_id: int
    content_hash: str
    summary: str
    main_content_start_line: int
    main_content_end_line: int
    language: str
    model: str
    prompt_version: str


class DistilledBatch(Contract):
    """`waiting` are the entries to retry at `retry_at`: the budget is used up, or the model is unavailable."""

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
    """Entries whose text has changed meanwhile are not among them."""

    entry_ids: tuple[int, ...] = ()


class AppSettings(Contract):
    """What workflows need to know of the settings."""

    target_language: str
    distiller: str
    embedding_model: str
    # Whether the summaries of a model are scored. Old histories do not have this field.
    evaluation: bool = False


class SummarizationEvaluationItem(CamelContract):
    entry_id: int
    trace_id: str


class SummarizationEvaluationInput(CamelContract):
    """At most `max_samples` of the items are scored."""

    trace_id: str
    items: tuple[SummarizationEvaluationItem, ...]
    max_samples: int = 5
