"""Asking: what is retrieved, who answers, and where answers are kept."""

from pressbox.core.app import Resources
from pressbox.curator.adapters.retrieval.articles import RetrievalArticles
from pressbox.curator.adapters.retrieval.hybrid import HybridRetriever
from pressbox.curator.wiring.parts import embedder, search_reader


def retriever(resources: Resources) -> HybridRetriever:
    """For workers only: it holds the embedding model in memory while questions come."""
    return HybridRetriever(
        RetrievalArticles(resources.database), search_reader(resources), embedder(resources.settings.curator)
    )
