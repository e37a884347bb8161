"""The reader as an application."""

from collections.abc import Sequence
from datetime import timedelta

import typer
from fastapi import APIRouter

from pressbox.core.app import AppManifest, NavigationEntry, ScheduleDeclaration, TaskQueue
from pressbox.core.config import Settings
from pressbox.curator.apps.reader_api.bases import COOKIELESS
from pressbox.curator.ask.workflow import AnswerWorkflow
from pressbox.curator.cards.workflows.delete_enrichment import DeleteEnrichmentWorkflow
from pressbox.curator.cards.workflows.entry_links import FetchEntryLinksWorkflow
from pressbox.curator.cleanup.contracts import EntriesCleanupInput
from pressbox.curator.cleanup.workflow import EntriesCleanupWorkflow
from pressbox.curator.context.workflows.collection import ContextCollectionWorkflow
from pressbox.curator.context.workflows.context import ExtractEntryContextWorkflow
from pressbox.curator.distil.workflow import ContentDistillationWorkflow
from pressbox.curator.evaluate.workflows import EvaluationWorkflow, SummarizationEvaluationWorkflow
from pressbox.curator.graph.contracts import GRAPH_SCHEDULE, GRAPH_WORKFLOW, GlobalGraphUpdateInput
from pressbox.curator.graph.workflows.rebuild import GraphRebuildWorkflow
from pressbox.curator.graph.workflows.update import GlobalGraphUpdateWorkflow
from pressbox.curator.ingest.contracts import INGEST_SCHEDULE, INGEST_WORKFLOW, AllFeedsIngestionInput
from pressbox.curator.ingest.workflows.all_feeds import AllFeedsIngestionWorkflow
from pressbox.curator.ingest.workflows.domain_fetch import DomainFetchWorkflow
from pressbox.curator.ingest.workflows.preview import PreviewFetchWorkflow
from pressbox.curator.ingest.workflows.reprocess import ReprocessEntriesWorkflow
from pressbox.curator.ingest.workflows.schedule_fetch import ScheduleFetchWorkflow
from pressbox.curator.ingest.workflows.single_feed import SingleFeedIngestionWorkflow
from pressbox.curator.library.contracts import CLEANUP_SCHEDULE, CLEANUP_WORKFLOW, HEAVY_QUEUE, INDEX_QUEUE, QUEUE
from pressbox.curator.reading.access import PATH
from pressbox.curator.reading.health import build_health
from pressbox.curator.reading.topics import TOPICS
from pressbox.curator.research.workflow import DeepResearchWorkflow
from pressbox.curator.search.wiring import search_reader
from pressbox.curator.search.workflows.embedding import EmbeddingBackfillWorkflow
from pressbox.curator.search.workflows.prune import SearchPruneWorkflow
from pressbox.curator.search.workflows.reindex import SearchReindexWorkflow
from pressbox.curator.settings import CuratorSettings, policy
from pressbox.curator.translate.workflow import TranslationWorkflow
from pressbox.curator.wiring import activities, service

# Most of these wait for a page, a host's turn or a model; what computes is bounded by the adapters.
HEAVY_AT_ONCE = 32
SHORTEST_INGEST = timedelta(seconds=5)


def schedules(settings: Settings) -> Sequence[ScheduleDeclaration]:
    rules, curator = policy(settings), settings.group(CuratorSettings)
    return (
        ScheduleDeclaration(
            id=INGEST_SCHEDULE,
            workflow=AllFeedsIngestionWorkflow.__name__,
            workflow_id=INGEST_WORKFLOW,
            task_queue=QUEUE,
            input=AllFeedsIngestionInput(
                enable_content_fetch=curator.full_text, auto_distill=curator.auto_distill, routine=True, policy=rules
            ),
            summary="Reads the feeds that are due, and finishes what was left half done",
            every=max(timedelta(minutes=curator.ingest_minutes / curator.speed), SHORTEST_INGEST),
            # Runs do not overlap: one that hangs must not stop them for ever.
            run_timeout=timedelta(hours=2),
        ),
        ScheduleDeclaration(
            id=CLEANUP_SCHEDULE,
            workflow=EntriesCleanupWorkflow.__name__,
            workflow_id=CLEANUP_WORKFLOW,
            task_queue=QUEUE,
            input=EntriesCleanupInput(older_than_days=rules.keep_days, routine=True),
            summary="Deletes old entries that everybody has read and nobody kept",
            cron="20 3 * * *",
            # A machine that was off at night still cleans up.
            catchup_window=timedelta(hours=20),
        ),
        ScheduleDeclaration(
            id=GRAPH_SCHEDULE,
            workflow=GlobalGraphUpdateWorkflow.__name__,
            workflow_id=GRAPH_WORKFLOW,
            task_queue=QUEUE,
            input=GlobalGraphUpdateInput(routine=True, policy=rules),
            summary="Adds what new articles say to the graph of entities",
            every=max(timedelta(minutes=curator.graph_minutes / curator.speed), SHORTEST_INGEST),
        ),
    )


def router() -> APIRouter:
    from pressbox.curator.routes import build_router

    return build_router(service)


def commands() -> typer.Typer:
    from pressbox.curator.commands import build_commands

    return build_commands(service, schedules)


APP = AppManifest(
    name="curator",
    settings=CuratorSettings,
    title="Reader",
    summary="Feeds, the articles behind them, their gist, and an answer to what you know about a subject.",
    queues=(TaskQueue(QUEUE), TaskQueue(HEAVY_QUEUE, HEAVY_AT_ONCE), TaskQueue(INDEX_QUEUE, 1)),
    workflows={
        QUEUE: (
            AllFeedsIngestionWorkflow,
            SingleFeedIngestionWorkflow,
            ScheduleFetchWorkflow,
            DomainFetchWorkflow,
            ReprocessEntriesWorkflow,
            ContentDistillationWorkflow,
            PreviewFetchWorkflow,
            SearchReindexWorkflow,
            SearchPruneWorkflow,
            EntriesCleanupWorkflow,
            EmbeddingBackfillWorkflow,
            TranslationWorkflow,
            ExtractEntryContextWorkflow,
            ContextCollectionWorkflow,
            FetchEntryLinksWorkflow,
            DeleteEnrichmentWorkflow,
            AnswerWorkflow,
            GlobalGraphUpdateWorkflow,
            GraphRebuildWorkflow,
            DeepResearchWorkflow,
            EvaluationWorkflow,
            SummarizationEvaluationWorkflow,
        )
    },
    activities=activities,
    schedules=schedules,
    topics=TOPICS,
    router=router,
    commands=commands,
    navigation=NavigationEntry(title="Reader", path=PATH, key="r", icon="page", search=PATH),
    health=build_health(service, search_reader),
    cookieless=COOKIELESS,
)
