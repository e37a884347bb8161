"""The embedder, the index and the activities that keep both up to date."""

from functools import cache
from pathlib import Path

from pressbox.core.app import ActivitiesByQueue, Resources
from pressbox.core.config import Settings
from pressbox.curator.library.contracts import HEAVY_QUEUE, INDEX_QUEUE, QUEUE
from pressbox.curator.library.slice import Slice
from pressbox.curator.search.activities.embedding import EmbeddingActivities
from pressbox.curator.search.activities.index import IndexActivities, IndexSelection
from pressbox.curator.search.embedders.bundled import BundledEmbedder
from pressbox.curator.search.embedders.fastembed import FastEmbedEmbedder
from pressbox.curator.search.embedding_store import SqlEmbeddingStore
from pressbox.curator.search.index.reader import TantivyReader
from pressbox.curator.search.index.writer import TantivyIndex
from pressbox.curator.search.index_store import SqlIndexStore
from pressbox.curator.search.ports import Embedder, SearchIndex, SearchReader
from pressbox.curator.search.workflows.embedding import EmbeddingBackfillWorkflow
from pressbox.curator.search.workflows.prune import SearchPruneWorkflow
from pressbox.curator.search.workflows.reindex import SearchReindexWorkflow
from pressbox.curator.settings import CuratorSettings, EmbedderKind


def activities(resources: Resources) -> ActivitiesByQueue:
    entries = SqlIndexStore(resources.database)
    index = IndexActivities(entries, TantivyIndex(index_path(resources.settings)))
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


def search_reader(resources: Resources) -> TantivyReader:
    return TantivyReader(index_path(resources.settings))


def search_index(path: Path) -> tuple[SearchIndex, SearchReader]:
    """To write and to search in this folder: benchmarks measure both."""
    return TantivyIndex(path), TantivyReader(path)


def index_path(settings: Settings) -> Path:
    """Shared by the web and by the one worker of the queue `curator-index`."""
    return settings.group(CuratorSettings).index_path or settings.home / "index"


SLICE = Slice(workflows=(SearchReindexWorkflow, SearchPruneWorkflow, EmbeddingBackfillWorkflow), activities=activities)
