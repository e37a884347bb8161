"""The schedules of the reader, declared apart from their slices: listing them loads no workflow and no store."""

from collections.abc import Sequence
from datetime import timedelta

from pressbox.core.app import ScheduleDeclaration
from pressbox.core.config import Settings
from pressbox.curator.cleanup.contracts import CLEANUP_WORKFLOW, ENTRIES_CLEANUP, EntriesCleanupInput
from pressbox.curator.graph.contracts import GLOBAL_GRAPH_UPDATE, GRAPH_WORKFLOW, GlobalGraphUpdateInput
from pressbox.curator.ingest.contracts import ALL_FEEDS_INGESTION, INGEST_WORKFLOW, AllFeedsIngestionInput
from pressbox.curator.names import CLEANUP_SCHEDULE, GRAPH_SCHEDULE, INGEST_SCHEDULE, QUEUE
from pressbox.curator.settings import CuratorSettings, policy

# However fast a demo runs, a schedule needs some time between two starts.
SHORTEST_INTERVAL = timedelta(seconds=5)


def declare_schedules(settings: Settings) -> Sequence[ScheduleDeclaration]:
    curator = settings.group(CuratorSettings)
    return (
        ScheduleDeclaration(
            id=INGEST_SCHEDULE,
            workflow=ALL_FEEDS_INGESTION,
            workflow_id=INGEST_WORKFLOW,
            task_queue=QUEUE,
            input=AllFeedsIngestionInput(
                enable_content_fetch=curator.full_text,
                auto_distill=curator.auto_distill,
                routine=True,
                policy=policy(settings),
            ),
            summary="Reads the feeds that are due, and finishes what was left half done",
            every=max(timedelta(minutes=curator.ingest_minutes / curator.speed), SHORTEST_INTERVAL),
            # Runs do not overlap: one that hangs must not stop them for ever.
            run_timeout=timedelta(hours=2),
        ),
        ScheduleDeclaration(
            id=CLEANUP_SCHEDULE,
            workflow=ENTRIES_CLEANUP,
            workflow_id=CLEANUP_WORKFLOW,
            task_queue=QUEUE,
            input=EntriesCleanupInput(
                older_than_days=curator.keep_days, unread_older_than_days=curator.keep_unread_days, routine=True
            ),
            summary="Deletes old entries that everybody has read and nobody kept",
            cron="20 3 * * *",
            # A machine that was off at night still cleans up.
            catchup_window=timedelta(hours=20),
        ),
        ScheduleDeclaration(
            id=GRAPH_SCHEDULE,
            workflow=GLOBAL_GRAPH_UPDATE,
            workflow_id=GRAPH_WORKFLOW,
            task_queue=QUEUE,
            input=GlobalGraphUpdateInput(routine=True, policy=policy(settings)),
            summary="Adds what new articles say to the graph of entities",
            every=max(timedelta(minutes=curator.graph_minutes / curator.speed), SHORTEST_INTERVAL),
        ),
    )
