"""Evaluation: who judges, which texts, where scores are stored, and Langfuse when it is set."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from pressbox.core.app import ActivitiesByQueue, Resources
from pressbox.core.db.database import Database
from pressbox.core.errors import ConfigurationError
from pressbox.core.temporal.pinning import upgrading
from pressbox.curator.ask.store import AnswerSubjects
from pressbox.curator.evaluate.activities import EvaluationActivities, Evaluator, ScoreBoard
from pressbox.curator.evaluate.evaluators import OfflineEvaluator, RagasEvaluator
from pressbox.curator.evaluate.langfuse import Langfuse
from pressbox.curator.evaluate.service import EvaluationService
from pressbox.curator.evaluate.store import SqlEvaluations, SqlScores, SubjectTable, SummarySubjects
from pressbox.curator.evaluate.workflows import EvaluationWorkflow, SummarizationEvaluationWorkflow
from pressbox.curator.library.contracts import HEAVY_QUEUE
from pressbox.curator.library.slice import Slice
from pressbox.curator.models.wiring import paid_model
from pressbox.curator.research.store import ReportSubjects
from pressbox.curator.search.wiring import evaluation_embedder
from pressbox.curator.settings import CuratorSettings, EvaluatorKind, policy

if TYPE_CHECKING:
    from fastapi import APIRouter


def activities(resources: Resources) -> ActivitiesByQueue:
    database, settings = resources.database, resources.settings
    evaluation = EvaluationActivities(
        {table.kind: table for table in subjects(database)},
        evaluator(resources),
        SqlEvaluations(database),
        board(settings.group(CuratorSettings)),
        policy(settings),
    )
    return {HEAVY_QUEUE: (evaluation.evaluate_ragas, evaluation.evaluate_summarization)}


def evaluation_service(resources: Resources) -> EvaluationService:
    settings = resources.settings.group(CuratorSettings)
    scores = SqlScores(resources.database, subjects(resources.database))
    return EvaluationService(scores, enabled=settings.evaluation, evaluator=settings.evaluator)


def subjects(database: Database) -> Sequence[SubjectTable]:
    """Every kind of text that is judged, from the features that write them."""
    return (AnswerSubjects(database), ReportSubjects(database), SummarySubjects(database))


def evaluator(resources: Resources) -> Evaluator:
    settings = resources.settings.group(CuratorSettings)
    if settings.evaluator is EvaluatorKind.OFFLINE:
        return OfflineEvaluator(evaluation_embedder(settings))
    return RagasEvaluator(paid_model(resources), evaluation_embedder(settings))


def board(settings: CuratorSettings) -> ScoreBoard | None:
    """None without any of its settings; some of them are a mistake that is told at once."""
    url, public, secret = settings.langfuse_url, settings.langfuse_public_key, settings.langfuse_secret_key
    if not url and not public and not secret:
        return None
    if not url or not public or not secret:
        raise ConfigurationError(
            "Langfuse needs LANGFUSE_HOST, LANGFUSE_PUBLIC_KEY and LANGFUSE_SECRET_KEY. Set all of them, or none."
        )
    return Langfuse(url, public, secret)


def routers() -> "Sequence[APIRouter]":
    from pressbox.curator.evaluate import pages

    return (pages.router,)


SLICE = Slice(
    workflows=(upgrading(EvaluationWorkflow), upgrading(SummarizationEvaluationWorkflow)),
    activities=activities,
    routers=routers,
)
