"""The embedder, the index, the retriever, and the activities that keep index and vectors up to date."""

from functools import cache
from pathlib import Path

from pressbox.core.app import ActivitiesByQueue, Resources
from pressbox.core.config import Settings
from pressbox.core.db.database import Database
from pressbox.core.errors import PressboxError
from pressbox.core.logs import get_logger
from pressbox.core.temporal.schedules import run_now
from pressbox.curator.library.contracts import HEAVY_QUEUE, INDEX_QUEUE, QUEUE
from pressbox.curator.library.slice import Slice
from pressbox.curator.library.starter import Starter, workflow_starter
from pressbox.curator.names import INGEST_SCHEDULE
from pressbox.curator.search.activities import EmbeddingActivities, IndexActivities, IndexSelection
from pressbox.curator.search.contracts import REINDEX_WORKFLOW, SEARCH_REINDEX, SearchReindexInput
from pressbox.curator.search.embedders import BundledEmbedder, FastEmbedEmbedder
from pressbox.curator.search.health import check_search
from pressbox.curator.search.index.reader import TantivyReader
from pressbox.curator.search.index.writer import TantivyIndex
from pressbox.curator.search.ports import Embedder, GraphReader, SearchIndex, SearchReader
from pressbox.curator.search.retriever import HybridRetriever, SqlArticles
from pressbox.curator.search.service import ArticleSearch
from pressbox.curator.search.store import SqlEmbeddingStore, SqlIndexStore
from pressbox.curator.search.workflows import EmbeddingBackfillWorkflow, SearchPruneWorkflow, SearchReindexWorkflow
from pressbox.curator.settings import CuratorSettings, EmbedderKind

log = get_logger(__name__)


def activities(resources: Resources) -> ActivitiesByQueue:
    entries = SqlIndexStore(resources.database)
    rebuild = ReindexStarter(workflow_starter(resources))
    index = IndexActivities(entries, TantivyIndex(index_path(resources.settings)), rebuild)
    vectors = embedder(resources.settings.group(CuratorSettings))
    embedding = EmbeddingActivities(SqlEmbeddingStore(resources.database), vectors)
    return {
        QUEUE: (IndexSelection(entries).get_entry_ids_for_indexing, embedding.get_entries_for_embedding),
        HEAVY_QUEUE: (embedding.compute_embeddings,),
        INDEX_QUEUE: (
            index.init_search_index,
            index.clear_search_index,
            index.swap_search_index,
            index.index_entries_batch,
            index.get_orphaned_document_ids,
            index.remove_documents_from_index,
        ),
    }


def embedder(settings: CuratorSettings) -> Embedder:
    """The one embedder of the process: ingestion, questions and research share the memory that its model takes."""
    return _embedder(settings.embedder, settings.embedding_model, settings.embedding_path)


@cache
def _embedder(kind: EmbedderKind, model: str, path: Path | None) -> Embedder:
    return BundledEmbedder() if kind is EmbedderKind.BUNDLED else FastEmbedEmbedder(model, path)


def retriever(database: Database, index: Path, vectors: Embedder, graph: GraphReader | None = None) -> HybridRetriever:
    search = ArticleSearch(TantivyReader(index), SqlIndexStore(database))
    return HybridRetriever(SqlArticles(database), search, vectors, graph)


def article_search(resources: Resources) -> ArticleSearch:
    async def check_soon() -> None:
        try:
            await run_now(resources.temporal, INGEST_SCHEDULE)
        except PressboxError as error:
            log.warning("index_check_not_started", msg=f"The search index is checked in the next round: {error}")

    reader = TantivyReader(index_path(resources.settings))
    return ArticleSearch(reader, SqlIndexStore(resources.database), check_soon)


def search_index(path: Path) -> tuple[SearchIndex, SearchReader]:
    """The writer and the reader of an index in this folder, for benchmarks."""
    return TantivyIndex(path), TantivyReader(path)


def index_path(settings: Settings) -> Path:
    """The folder that the web and the one worker of the queue `curator-index` share."""
    return settings.group(CuratorSettings).index_path or settings.home / "index"


class ReindexStarter:
    """Starts the workflow that rebuilds the index beside the one in use; one that runs already is left alone."""

    def __init__(self, starter: Starter) -> None:
        self._starter = starter

    async def start(self) -> None:
        await self._starter.start(SEARCH_REINDEX, SearchReindexInput(clean=True), REINDEX_WORKFLOW)


SLICE = Slice(
    workflows=(SearchReindexWorkflow, SearchPruneWorkflow, EmbeddingBackfillWorkflow),
    activities=activities,
    health=check_search,
)
