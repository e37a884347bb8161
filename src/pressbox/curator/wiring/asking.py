"""Asking: what is retrieved, who answers, and where answers are kept."""

from collections.abc import Mapping
from pathlib import Path

from pressbox.core.app import Resources
from pressbox.core.db.database import Database
from pressbox.curator.activities.answering import AnswerActivities
from pressbox.curator.adapters.answer_starter import AnswerStarter
from pressbox.curator.adapters.answer_store import SqlAnswerDesk, SqlConversations
from pressbox.curator.adapters.index.reader import TantivyReader
from pressbox.curator.adapters.retrieval.articles import RetrievalArticles
from pressbox.curator.adapters.retrieval.hybrid import HybridRetriever
from pressbox.curator.ids import HEAVY_QUEUE, QUEUE
from pressbox.curator.ports.graph import GraphReader
from pressbox.curator.ports.outside import Embedder
from pressbox.curator.service.asking import AskService
from pressbox.curator.wiring.graph import graph_reader
from pressbox.curator.wiring.models import has_model, paid_model
from pressbox.curator.wiring.parts import Functions, embedder, index_path, policy


def retriever(resources: Resources) -> HybridRetriever:
    """For workers only: it holds the embedding model in memory while questions come."""
    settings = resources.settings
    return retriever_over(resources.database, index_path(settings), embedder(settings.curator), graph_reader(resources))


def retriever_over(database: Database, index: Path, vectors: Embedder, graph: GraphReader | None) -> HybridRetriever:
    """On these parts: benchmarks measure it."""
    return HybridRetriever(RetrievalArticles(database), TantivyReader(index), vectors, graph)


def activities(resources: Resources) -> Mapping[str, Functions]:
    answering = AnswerActivities(SqlAnswerDesk(resources.database), retriever(resources), paid_model(resources))
    return {
        QUEUE: (answering.end_answer,),
        HEAVY_QUEUE: (answering.retrieve_passages, answering.write_answer),
    }


def service(resources: Resources) -> AskService:
    curator = resources.settings.curator
    starter = AnswerStarter(resources.temporal, QUEUE, policy(resources.settings), evaluate=curator.evaluation)
    database = resources.database
    return AskService(
        SqlConversations(database), SqlAnswerDesk(database), starter, has_model=has_model(resources.settings.curator)
    )
