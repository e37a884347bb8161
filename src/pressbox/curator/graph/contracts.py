"""Updating and rebuilding the graph. Texts and contexts stay in the database: messages carry ids and hashes."""

from pydantic import Field

from pressbox.core.contracts import CamelContract, Contract
from pressbox.curator.library.contracts import CuratorProgress, DeferrableResult, EntryProgressState
from pressbox.curator.library.domain import CuratorPolicy

GRAPH_WORKFLOW = "curator-graph"
GRAPH_REBUILD_WORKFLOW = "curator-graph-rebuild"
GLOBAL_GRAPH_UPDATE = "GlobalGraphUpdateWorkflow"
GRAPH_REBUILD = "GraphRebuildWorkflow"


class GlobalGraphUpdateInput(CamelContract):
    """These entries, or all that wait for it, `batch_size` at a time. `retry_failed`: those too that failed before."""

    entry_ids: tuple[int, ...] = ()
    batch_size: int = 50
    retry_failed: bool = False
    routine: bool = False
    policy: CuratorPolicy = CuratorPolicy()
    state: "GraphCounts" = Field(default_factory=lambda: GraphCounts())


class GraphCounts(CamelContract):
    """How far a run is, across continue-as-new. `generation` is the one that a rebuild builds aside."""

    after_entry_id: int = 0
    added: int = 0
    failed: int = 0
    generation: int = 0


class GlobalGraphUpdateOutput(CamelContract):
    added: int
    failed: int


class GlobalGraphUpdateProgress(CuratorProgress):
    entry_progress: dict[str, EntryProgressState] = Field(default_factory=dict)
    total_entries: int = 0
    entries_added: int = 0
    entries_failed: int = 0


class GraphRebuildInput(CamelContract):
    """`clean`: built anew beside the graph that is read, and swapped in when it is whole."""

    batch_size: int = 20
    clean: bool = False
    policy: CuratorPolicy = CuratorPolicy()
    state: GraphCounts = Field(default_factory=GraphCounts)


class GraphRebuildOutput(CamelContract):
    added: int
    failed: int


class GraphRebuildProgress(CuratorProgress):
    entries_added: int = 0
    entries_failed: int = 0
    clean: bool = False


class SelectForGraphInput(Contract):
    entry_ids: tuple[int, ...] = ()
    after_entry_id: int = 0
    limit: int = 50
    failed: bool = False


class GraphSelection(Contract):
    entries: tuple[EntryProgressState, ...] = ()


class GraphBatchInput(Contract):
    """`generation` 0: the graph that is read."""

    entry_ids: tuple[int, ...]
    generation: int = 0
    policy: CuratorPolicy = CuratorPolicy()


class GraphAddition(Contract):
    entry_id: int
    content_hash: str
    reason: str = ""


class GraphBatchResult(DeferrableResult):
    """`added` and `failed` are dealt with, `gone` have no text; with `retry_at` the others wait."""

    added: tuple[GraphAddition, ...] = ()
    failed: tuple[GraphAddition, ...] = ()
    gone: tuple[int, ...] = ()

    @property
    def dealt_with(self) -> frozenset[int]:
        return frozenset([*(one.entry_id for one in (*self.added, *self.failed)), *self.gone])


class GraphMarkInput(Contract):
    added: tuple[GraphAddition, ...] = ()
    failed: tuple[GraphAddition, ...] = ()


class GraphMarked(Contract):
    marked: int = 0


class GraphGeneration(Contract):
    """0: none was begun yet."""

    number: int = 0


class GraphPruned(Contract):
    removed: int = 0


class GraphPruneInput(Contract):
    """Everything that no entry says any more."""
