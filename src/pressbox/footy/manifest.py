"""Matches as an application."""

from collections.abc import Sequence
from datetime import timedelta

import typer
from fastapi import APIRouter

from pressbox.core.app import AppManifest, NavigationEntry, ScheduleDeclaration, TaskQueue
from pressbox.core.config import Settings
from pressbox.footy.contracts.ingest import IngestWorkflowInput
from pressbox.footy.contracts.monitor import MonitorWorkflowInput
from pressbox.footy.contracts.upkeep import UpkeepWorkflowInput
from pressbox.footy.ids import (
    INGEST_SCHEDULE,
    INGEST_WORKFLOW,
    MEDIA_QUEUE,
    MONITOR_SCHEDULE,
    MONITOR_WORKFLOW,
    PATH,
    QUEUE,
    UPKEEP_SCHEDULE,
    UPKEEP_WORKFLOW,
)
from pressbox.footy.settings import FootySettings
from pressbox.footy.web.health import check_health
from pressbox.footy.web.topics import TOPICS
from pressbox.footy.wiring import activities
from pressbox.footy.workflows.download import DownloadWorkflow
from pressbox.footy.workflows.ingest import IngestWorkflow
from pressbox.footy.workflows.monitor import MonitorWorkflow
from pressbox.footy.workflows.rag import RAGWorkflow
from pressbox.footy.workflows.twitter import TwitterWorkflow
from pressbox.footy.workflows.upkeep import UpkeepWorkflow
from pressbox.footy.workflows.upload import UploadWorkflow

# More would only wait for a decoder or for the judge, and the time of an activity runs while it waits.
MEDIA_AT_ONCE = 4
SHORTEST_POLL = timedelta(seconds=1)


def schedules(settings: Settings) -> Sequence[ScheduleDeclaration]:
    footy = settings.group(FootySettings)
    rules = footy.policy
    poll = timedelta(seconds=footy.monitor_seconds / footy.speed)
    return (
        ScheduleDeclaration(
            id=INGEST_SCHEDULE,
            workflow=IngestWorkflow.__name__,
            workflow_id=INGEST_WORKFLOW,
            task_queue=QUEUE,
            input=IngestWorkflowInput(policy=rules),
            summary="Fetches the fixtures of the coming days and deletes old ones",
            cron="5 0 * * *",
            # A machine that was off at midnight still learns what is played today.
            catchup_window=timedelta(hours=20),
        ),
        ScheduleDeclaration(
            id=MONITOR_SCHEDULE,
            workflow=MonitorWorkflow.__name__,
            workflow_id=MONITOR_WORKFLOW,
            task_queue=QUEUE,
            input=MonitorWorkflowInput(policy=rules),
            summary="Polls the matches of the day",
            every=max(poll, SHORTEST_POLL),
            catchup_window=timedelta(seconds=30),
            # Polls do not overlap: one that hangs must not stop them for ever.
            run_timeout=timedelta(minutes=10),
        ),
        ScheduleDeclaration(
            id=UPKEEP_SCHEDULE,
            workflow=UpkeepWorkflow.__name__,
            workflow_id=UPKEEP_WORKFLOW,
            task_queue=QUEUE,
            input=UpkeepWorkflowInput(policy=rules),
            summary="Tries every clip source, and has waiting clips judged",
            every=timedelta(hours=1),
        ),
    )


def router() -> APIRouter:
    from pressbox.footy.web.routes import build_router

    return build_router()


def commands() -> typer.Typer:
    from pressbox.footy.cli import commands

    return commands


APP = AppManifest(
    name="footy",
    package="pressbox.footy",
    settings=FootySettings,
    title="Matches",
    summary="Live fixtures, confirmed goals and the best clip of each, while the match is on.",
    queues=(TaskQueue(QUEUE), TaskQueue(MEDIA_QUEUE, MEDIA_AT_ONCE)),
    workflows={
        QUEUE: (
            IngestWorkflow,
            MonitorWorkflow,
            RAGWorkflow,
            TwitterWorkflow,
            DownloadWorkflow,
            UploadWorkflow,
            UpkeepWorkflow,
        )
    },
    activities=activities,
    schedules=schedules,
    topics=TOPICS,
    router=router,
    commands=commands,
    navigation=NavigationEntry(title="Matches", path=PATH, key="m", icon="ball", search=f"{PATH}/search"),
    health=check_health,
)
