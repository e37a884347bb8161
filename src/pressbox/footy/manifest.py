"""The application “Matches”: what it registers with worker, web, command line and schedules."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from typing import TYPE_CHECKING

from pressbox.core.app import (
    ActivitiesByQueue,
    AppManifest,
    CommandWord,
    FoundThing,
    LiveTopic,
    NavigationEntry,
    Resources,
    ScheduleDeclaration,
    TaskQueue,
    WorkflowsByQueue,
    import_later,
)
from pressbox.core.spending.services import PaidService
from pressbox.footy.ids import (
    INGEST,
    INGEST_SCHEDULE,
    INGEST_WORKFLOW,
    MEDIA_QUEUE,
    MONITOR,
    MONITOR_SCHEDULE,
    MONITOR_WORKFLOW,
    PATH,
    QUEUE,
    UPKEEP,
    UPKEEP_SCHEDULE,
    UPKEEP_WORKFLOW,
)

if TYPE_CHECKING:
    from fastapi import APIRouter

    from pressbox.core.audiences.members import Viewer
    from pressbox.core.config import Settings
    from pressbox.core.health import PartHealth
    from pressbox.core.stored_settings.sections import SettingsSection
    from pressbox.footy.settings import FootySettings

# More would only wait for a decoder or the judge, while their timeouts run.
MEDIA_AT_ONCE = 4
SHORTEST_POLL = timedelta(seconds=1)


def settings() -> type[FootySettings]:
    from pressbox.footy.settings import FootySettings

    return FootySettings


async def find(resources: Resources, viewer: Viewer, words: str, limit: int) -> Sequence[FoundThing]:
    from pressbox.footy.web.finding import find_things

    return await find_things(resources, viewer, words, limit)


async def news(resources: Resources, viewer: Viewer, limit: int) -> Sequence[FoundThing]:
    from pressbox.footy.web.finding import list_news

    return await list_news(resources, viewer, limit)


def sections() -> Sequence[SettingsSection]:
    from pressbox.footy.web.key_section import FOOTBALL

    return (FOOTBALL,)


def workflows() -> WorkflowsByQueue:
    from pressbox.footy.workflows.download import DownloadWorkflow
    from pressbox.footy.workflows.ingest import IngestWorkflow
    from pressbox.footy.workflows.monitor import MonitorWorkflow
    from pressbox.footy.workflows.rag import RAGWorkflow
    from pressbox.footy.workflows.twitter import TwitterWorkflow
    from pressbox.footy.workflows.upkeep import UpkeepWorkflow
    from pressbox.footy.workflows.upload import UploadWorkflow

    return {
        QUEUE: (
            IngestWorkflow,
            MonitorWorkflow,
            RAGWorkflow,
            TwitterWorkflow,
            DownloadWorkflow,
            UploadWorkflow,
            UpkeepWorkflow,
        )
    }


def activities(resources: Resources) -> ActivitiesByQueue:
    from pressbox.footy.wiring import activities

    return activities(resources)


def schedules(settings: Settings) -> Sequence[ScheduleDeclaration]:
    from pressbox.footy.contracts.ingest import IngestWorkflowInput
    from pressbox.footy.contracts.monitor import MonitorWorkflowInput
    from pressbox.footy.contracts.upkeep import UpkeepWorkflowInput
    from pressbox.footy.settings import FootySettings

    footy = settings.group(FootySettings)
    rules = footy.policy
    poll = footy.poll_every
    return (
        ScheduleDeclaration(
            id=INGEST_SCHEDULE,
            workflow=INGEST,
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
            workflow=MONITOR,
            workflow_id=MONITOR_WORKFLOW,
            task_queue=QUEUE,
            input=MonitorWorkflowInput(policy=rules),
            summary="Polls the matches of the day",
            every=max(poll, SHORTEST_POLL),
            catchup_window=timedelta(seconds=30),
            # Polls do not overlap: one that hangs must not block the others for ever.
            run_timeout=timedelta(minutes=10),
        ),
        ScheduleDeclaration(
            id=UPKEEP_SCHEDULE,
            workflow=UPKEEP,
            workflow_id=UPKEEP_WORKFLOW,
            task_queue=QUEUE,
            input=UpkeepWorkflowInput(policy=rules),
            summary="Tries every clip source and has unchecked clips judged",
            every=timedelta(hours=1),
        ),
    )


def has_x_api(settings: Settings) -> bool:
    from pressbox.footy.settings import FootySettings

    return settings.group(FootySettings).x_api_token is not None


def has_vision(settings: Settings) -> bool:
    from pressbox.footy.settings import FootySettings, JudgeKind

    return settings.group(FootySettings).judge is JudgeKind.VISION_LLM


def router() -> APIRouter:
    from pressbox.footy.web.routes import build_router

    return build_router()


def topics() -> Sequence[LiveTopic]:
    from pressbox.footy.web.topics import TOPICS

    return TOPICS


async def seal_again(resources: Resources) -> int:
    from pressbox.footy.x.session import open_session

    return open_session(resources.settings).seal_again()


async def health(resources: Resources) -> Sequence[PartHealth]:
    from pressbox.footy.web.health import check_health

    return await check_health(resources)


APP = AppManifest(
    name="footy",
    package="pressbox.footy",
    settings=settings,
    sections=sections,
    find=find,
    news=news,
    title="Matches",
    summary="Live fixtures, confirmed goals and the best clip of each, while the match is on.",
    queues=(TaskQueue(QUEUE), TaskQueue(MEDIA_QUEUE, MEDIA_AT_ONCE)),
    workflows=workflows,
    activities=activities,
    schedules=schedules,
    tables=("pressbox.footy.adapters.rows",),
    topics=topics,
    seal_again=seal_again,
    router=router,
    commands=(
        CommandWord("footy", "Fixtures, goals and their clips.", import_later("pressbox.footy.cli:commands")),
        CommandWord("x", "Search X with a browser that you logged in.", import_later("pressbox.footy.x.cli:commands")),
    ),
    navigation=NavigationEntry(title="Matches", path=PATH, key="m", icon="ball", search=f"{PATH}/search"),
    health=health,
    paid=(
        PaidService("x-api", ("PRESSBOX_FOOTY_X_API_TOKEN",), has_x_api),
        PaidService("vision-llm", ("PRESSBOX_FOOTY_VISION_KEY",), has_vision),
    ),
)
