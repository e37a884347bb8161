"""Messages of distilling, and the names under which it runs."""

from datetime import datetime

from pydantic import Field

from pressbox.core.contracts import CamelContract, Contract
from pressbox.curator.library.contracts import CuratorProgress, DeferrableResult, EntryProgressState
from pressbox.curator.library.domain import CuratorPolicy

DISTIL_LEFTOVERS_WORKFLOW = "curator-distil-leftovers"
CONTENT_DISTILLATION = "ContentDistillationWorkflow"
DISTILLED_SIGNAL = "entries_distilled"
# A page of entries with their titles is one message, which stays below 10 kB.
DISTIL_PAGE = 50
SUMMARIZATION_EVALUATION = "SummarizationEvaluationWorkflow"


def feed_distil_workflow_id(feed_id: int) -> str:
    """Return the id of the run for entries that need no fetch: the feed has their text, or an earlier run left them."""
    return f"distil-feed-{feed_id}"


def distil_shard_id(shard: int) -> str:
    """Return the id of a run over everything that waits; the first has the name that such a run always had."""
    return DISTIL_LEFTOVERS_WORKFLOW if shard == 0 else f"{DISTIL_LEFTOVERS_WORKFLOW}-{shard}"


def distil_workflow_id(parent_id: str, number: int) -> str:
    return f"distil-{parent_id}-{number}"


def distil_claim(entry_id: int) -> str:
    """Return the key under which one run at a time distils an entry."""
    return f"distil-{entry_id}"


def summarization_evaluation_workflow_id(trace_id: str) -> str:
    return f"evaluate-summaries-{trace_id}"


class ContentDistillationInput(CamelContract):
    """Without ids: everything that is not distilled yet, page by page. `feed_id` is set when all are of one feed.

    With `signal_parent` the parent is told of every batch: it waits for the result, and shows how far it is.
    """

    entry_ids: tuple[int, ...] = ()
    feed_id: int | None = None
    feed_name: str = ""
    signal_parent: bool = False
    # Goes on while texts are being fetched. With `feed_id` and without ids: everything of this feed.
    lingers: bool = False
    state: "DistillationState" = Field(default_factory=lambda: DistillationState())
    parent_workflow_id: str = ""
    policy: CuratorPolicy = CuratorPolicy()


class DistilledEntries(CamelContract):
    """A signal to the parent: these have their summary, or have failed for good."""

    distilled: tuple[int, ...] = ()
    failed: tuple[EntryProgressState, ...] = ()


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


class DistilPageInput(Contract):
    """A page of texts that wait: of these entries, of one feed, or of all.

    One that `lingers` waits for texts that are still being fetched.
    """

    entry_ids: tuple[int, ...] = ()
    feed_id: int | None = None
    limit: int = 50
    lingers: bool = False
    policy: CuratorPolicy = CuratorPolicy()


class WrittenSummary(Contract):
    """What tells a summary by a model from any other: for its evaluation."""

    entry_id: int
    mark: str


class DistilledPage(DeferrableResult):
    """How far the page is. While the model is unavailable the rest waits until `retry_at`."""

    distilled: tuple[int, ...] = ()
    failed: tuple[EntryProgressState, ...] = ()
    written: tuple[WrittenSummary, ...] = ()
    waiting: int = 0
    more: bool = False


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
