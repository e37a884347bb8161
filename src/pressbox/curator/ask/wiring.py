"""Asking: what is retrieved, who answers, and where answers are kept."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from pressbox.core.app import ActivitiesByQueue, Resources
from pressbox.core.audiences.members import AudienceKind
from pressbox.core.live.admission import audiences_by_id
from pressbox.core.temporal.pinning import upgrading
from pressbox.curator.ask.activities import AnswerActivities
from pressbox.curator.ask.service import AnswerStarter, AskService
from pressbox.curator.ask.store import SqlAnswers, SqlConversations, owns_answer
from pressbox.curator.ask.workflow import AnswerWorkflow
from pressbox.curator.graph.wiring import graph_reader
from pressbox.curator.library.audiences import ASKER
from pressbox.curator.library.contracts import HEAVY_QUEUE, QUEUE
from pressbox.curator.library.domain import ANSWER_CHANGED
from pressbox.curator.library.slice import Slice, change_topic
from pressbox.curator.models.wiring import has_model, paid_model
from pressbox.curator.search.retriever import HybridRetriever, SqlArticles
from pressbox.curator.search.wiring import article_search, embedder
from pressbox.curator.settings import CuratorSettings, policy

if TYPE_CHECKING:
    from fastapi import APIRouter


def retriever(resources: Resources) -> HybridRetriever:
    """For workers only: it holds the embedding model in memory while questions come."""
    vectors = embedder(resources.settings.group(CuratorSettings))
    articles = SqlArticles(resources.database)
    return HybridRetriever(articles, article_search(resources), vectors, graph_reader(resources))


def activities(resources: Resources) -> ActivitiesByQueue:
    ask = AnswerActivities(SqlAnswers(resources.database), retriever(resources), paid_model(resources))
    return {
        QUEUE: (ask.end_answer,),
        HEAVY_QUEUE: (ask.retrieve_passages, ask.write_answer),
    }


def ask_service(resources: Resources) -> AskService:
    curator = resources.settings.group(CuratorSettings)
    starter = AnswerStarter(resources.temporal, QUEUE, policy(resources.settings), evaluate=curator.evaluation)
    database = resources.database
    return AskService(
        SqlConversations(database),
        SqlAnswers(database),
        starter,
        has_model=has_model(resources.settings.group(CuratorSettings)),
    )


def routers() -> "Sequence[APIRouter]":
    from pressbox.curator.ask import api, pages

    return api.router, pages.router


SLICE = Slice(
    workflows=(upgrading(AnswerWorkflow),),
    activities=activities,
    topics=(change_topic(ANSWER_CHANGED, audiences_by_id(ASKER), by_name=True),),
    audiences=(AudienceKind(ASKER, owns_answer),),
    routers=routers,
)
