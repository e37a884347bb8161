"""Messages about the search index and vectors."""

from pydantic import Field

from pressbox.core.contracts import CamelContract, Contract
from pressbox.curator.library.contracts import CuratorProgress

REINDEX_WORKFLOW = "curator-reindex"
PRUNE_WORKFLOW = "curator-prune"
EMBEDDING_WORKFLOW = "curator-embedding-backfill"
SEARCH_REINDEX = "SearchReindexWorkflow"
SEARCH_PRUNE = "SearchPruneWorkflow"
EMBEDDING_BACKFILL = "EmbeddingBackfillWorkflow"


class SearchReindexInput(CamelContract):
    batch_size: int = 500
    clean: bool = False
    state: "IndexState" = Field(default_factory=lambda: IndexState())


class IndexState(CamelContract):
    """Carried over continue-as-new. A generation is built beside the one in use and swapped in when it is complete."""

    generation: str = ""
    cleared: bool = False
    after_entry_id: int = 0
    indexed: int = 0


class IndexProgress(CuratorProgress):
    indexed: int = 0
    removed: int = 0


class IndexBatchInput(Contract):
    """These entries, or those whose document is out of date; into `generation`, or into the one in use."""

    entry_ids: tuple[int, ...] = ()
    generation: str = ""
    after_entry_id: int = 0
    limit: int = 500


class Generation(Contract):
    """Without a name, none is begun yet."""

    name: str = ""


class IndexPage(Contract):
    entry_ids: tuple[int, ...] = ()
    last_entry_id: int | None = None


class IndexBatchResult(Contract):
    indexed: int = 0
    last_entry_id: int | None = None


class SearchReindexOutput(CamelContract):
    indexed: int


class SearchPruneInput(CamelContract):
    batch_size: int = 1000
    state: "PruneState" = Field(default_factory=lambda: PruneState())


class PruneState(CamelContract):
    after_document_id: int = 0
    removed: int = 0


class PruneInput(Contract):
    after_document_id: int = 0
    limit: int = 1000


class OrphanedDocuments(Contract):
    document_ids: tuple[int, ...] = ()
    last_document_id: int | None = None


class RemoveDocumentsInput(Contract):
    """Without ids: the documents of removed entries."""

    document_ids: tuple[int, ...] = ()
    limit: int = 1000


class RemovedDocuments(Contract):
    removed: int = 0
    more: bool = False


class SearchPruneOutput(CamelContract):
    removed: int


class EmbeddingBackfillInput(CamelContract):
    batch_size: int = 100
    routine: bool = False
    state: "EmbeddingState" = Field(default_factory=lambda: EmbeddingState())


class EmbeddingState(CamelContract):
    after_entry_id: int = 0
    computed: int = 0


class EmbeddingProgress(CuratorProgress):
    total_entries: int = 0
    computed: int = 0


class EmbeddingSelection(Contract):
    entry_ids: tuple[int, ...] = ()
    last_entry_id: int | None = None
    remaining: int = 0


class SelectForEmbeddingInput(Contract):
    after_entry_id: int = 0
    limit: int = 100


class EmbeddedBatch(Contract):
    computed: int = 0
    skipped: int = 0


class EmbeddingBackfillOutput(CamelContract):
    computed: int
