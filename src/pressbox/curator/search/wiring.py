"""The embedder, the index, the retriever, and the activities that keep index and vectors up to date."""

from collections.abc import Collection
from functools import cache
from pathlib import Path

from pressbox.core.app import ActivitiesByQueue, Resources
from pressbox.core.config import Settings
from pressbox.core.db.database import Database
from pressbox.core.errors import PressboxError
from pressbox.core.logs import get_logger
from pressbox.core.temporal.pinning import upgrading
from pressbox.core.temporal.schedules import run_now
from pressbox.curator.library.contracts import HEAVY_QUEUE, INDEX_QUEUE, QUEUE
from pressbox.curator.library.slice import Slice
from pressbox.curator.library.starter import Starter, workflow_starter
from pressbox.curator.names import INGEST_SCHEDULE
from pressbox.curator.search.activities import EmbeddingActivities, IndexActivities, IndexSelection
from pressbox.curator.search.contracts import REINDEX_WORKFLOW, SEARCH_REINDEX, SearchReindexInput
from pressbox.curator.search.embedders import BundledEmbedder, FastEmbedEmbedder
from pressbox.curator.search.index.reader import TantivyReader
from pressbox.curator.search.index.writer import TantivyIndex
from pressbox.curator.search.ports import Embedder, IndexReader, SearchIndex
from pressbox.curator.search.postgres.reader import LoadDocuments, PostgresReader
from pressbox.curator.search.postgres.writer import PostgresIndex
from pressbox.curator.search.service import ADVICE, MESSAGES, ArticleSearch
from pressbox.curator.search.store import SqlEmbeddingStore, SqlIndexStore
from pressbox.curator.search.workflows import EmbeddingBackfillWorkflow, SearchPruneWorkflow, SearchReindexWorkflow
from pressbox.curator.settings import CuratorSettings, EmbedderKind, IndexKind

log = get_logger(__name__)


def activities(resources: Resources) -> ActivitiesByQueue:
    entries = SqlIndexStore(resources.database)
    rebuild = ReindexStarter(workflow_starter(resources))
    index = IndexActivities(entries, index_writer(resources), rebuild)
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
    threads = settings.embedding_threads or None
    if settings.embedder is EmbedderKind.BUNDLED:
        return _bundled(threads)
    return _fastembed(settings.embedding_model, settings.embedding_path, threads, settings.embedding_dimensions)


def evaluation_embedder(settings: CuratorSettings) -> Embedder:
    """The embedder that judges: the one of articles, unless a model is named for it."""
    model, path = settings.evaluation_embedding_model, settings.evaluation_embedding_path
    if not model:
        return embedder(settings)
    if model == settings.embedding_model:
        path = path or settings.embedding_path
    return _fastembed(model, path, settings.embedding_threads or None, None)


@cache
def _bundled(threads: int | None) -> Embedder:
    return BundledEmbedder(threads=threads)


@cache
def _fastembed(model: str, path: Path | None, threads: int | None, dimensions: int | None) -> Embedder:
    return FastEmbedEmbedder(model, path, threads=threads, dimensions=dimensions)


async def index_problem(resources: Resources, queues: Collection[str]) -> str | None:
    """Say why a worker that answers questions cannot: it does not see the index that another process writes."""
    # Whoever writes the index mends it, and must run for that.
    if HEAVY_QUEUE not in queues or INDEX_QUEUE in queues:
        return None
    try:
        condition = await article_search(resources).find_condition()
    except PressboxError as error:
        return error.message
    return None if condition.usable else f"{MESSAGES[condition]} {ADVICE}"


def article_search(resources: Resources) -> ArticleSearch:
    async def check_soon() -> None:
        try:
            await run_now(resources.temporal, INGEST_SCHEDULE)
        except PressboxError as error:
            log.warning("index_check_not_started", msg=f"The search index is checked in the next round: {error}")

    return ArticleSearch(index_reader(resources), SqlIndexStore(resources.database), check_soon)


def index_reader(resources: Resources) -> IndexReader:
    if resources.settings.group(CuratorSettings).index is IndexKind.POSTGRES:
        return PostgresReader(resources.database, SqlIndexStore(resources.database).load_documents)
    return TantivyReader(index_path(resources.settings))


def index_writer(resources: Resources) -> SearchIndex:
    if resources.settings.group(CuratorSettings).index is IndexKind.POSTGRES:
        return PostgresIndex(resources.database)
    return TantivyIndex(index_path(resources.settings))


def folder_index(path: Path) -> tuple[SearchIndex, IndexReader]:
    """The writer and the reader of an index in this folder, for benchmarks."""
    return TantivyIndex(path), TantivyReader(path)


def table_index(database: Database, load_documents: LoadDocuments) -> tuple[SearchIndex, IndexReader]:
    """The writer and the reader of an index in tables, for benchmarks."""
    return PostgresIndex(database), PostgresReader(database, load_documents)


def index_path(settings: Settings) -> Path:
    """The folder that the web and the workers of `curator-index` and `curator-heavy` share."""
    return settings.group(CuratorSettings).index_path or settings.home / "index"


class ReindexStarter:
    """Starts the workflow that rebuilds the index beside the one in use; one that runs already is left alone."""

    def __init__(self, starter: Starter) -> None:
        self._starter = starter

    async def start(self) -> None:
        await self._starter.start(SEARCH_REINDEX, SearchReindexInput(clean=True), REINDEX_WORKFLOW)


SLICE = Slice(
    workflows=(upgrading(SearchReindexWorkflow), upgrading(SearchPruneWorkflow), upgrading(EmbeddingBackfillWorkflow)),
    activities=activities,
)
