"""The application “Matches”: what it registers with worker, web, command line and schedules."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from typing import TYPE_CHECKING

from pressbox.core.app import (
    ActivitiesByQueue,
    AppManifest,
    CommandWord,
    LiveTopic,
    NavigationEntry,
    OfflineThing,
    Resources,
    ScheduleDeclaration,
    TaskQueue,
    WorkflowsByQueue,
    import_later,
)
from pressbox.core.spending.services import PaidService
from pressbox.core.today.contracts import Place
from pressbox.footy.ids import (
    CLIPS_QUEUE,
    INGEST,
    INGEST_SCHEDULE,
    INGEST_WORKFLOW,
    MEDIA_QUEUE,
    PATH,
    QUEUE,
    UPKEEP,
    UPKEEP_SCHEDULE,
    UPKEEP_WORKFLOW,
)

if TYPE_CHECKING:
    from fastapi import APIRouter

    from pressbox.core.audiences.members import AudienceKind, Viewer
    from pressbox.core.config import Settings
    from pressbox.core.db.database import UnitOfWork
    from pressbox.core.digests import DigestSection, DigestSpan
    from pressbox.core.health import PartHealth
    from pressbox.core.measures import Measure
    from pressbox.core.notices.kinds import NoticeKind
    from pressbox.core.stored_settings.sections import SettingsSection
    from pressbox.core.today.contracts import Attention, SearchGroup, TodaySection
    from pressbox.footy.settings import FootySettings

# Each searches all sources or fetches up to five files; polls never wait for them.
CLIPS_AT_ONCE = 32
# More would only wait for a decoder or the judge, while their timeouts run.
MEDIA_AT_ONCE = 4


def settings() -> type[FootySettings]:
    from pressbox.footy.settings import FootySettings

    return FootySettings


def search() -> Sequence[SearchGroup]:
    from pressbox.footy.web.finding import GROUPS

    return GROUPS


def today() -> Sequence[TodaySection]:
    from pressbox.footy.web.finding import SECTIONS

    return SECTIONS


async def attention(work: UnitOfWork, resources: Resources, viewer: Viewer) -> Sequence[Attention]:
    from pressbox.footy.web.finding import look_for_trouble

    return await look_for_trouble(work, resources, viewer)


async def offline(resources: Resources, viewer: Viewer) -> Sequence[OfflineThing]:
    from pressbox.footy.web.offline import list_offline

    return await list_offline(resources, viewer)


async def digest(resources: Resources, viewer: Viewer, span: DigestSpan) -> DigestSection | None:
    from pressbox.footy.web.digest import write_section

    return await write_section(resources.database, viewer, span)


def sections() -> Sequence[SettingsSection]:
    from pressbox.footy.web.key_section import FOOTBALL
    from pressbox.footy.web.source_sections import SOURCES

    return (FOOTBALL, *SOURCES)


def workflows() -> WorkflowsByQueue:
    from pressbox.core.temporal.pinning import pinned, upgrading
    from pressbox.footy.workflows.download import DownloadWorkflow
    from pressbox.footy.workflows.ingest import IngestWorkflow
    from pressbox.footy.workflows.monitor import MonitorWorkflow
    from pressbox.footy.workflows.rag import RAGWorkflow
    from pressbox.footy.workflows.twitter import TwitterWorkflow
    from pressbox.footy.workflows.upkeep import UpkeepWorkflow
    from pressbox.footy.workflows.upload import UploadWorkflow

    return {
        QUEUE: (
            upgrading(IngestWorkflow),
            pinned(MonitorWorkflow),
            pinned(RAGWorkflow),
            upgrading(TwitterWorkflow),
            pinned(DownloadWorkflow),
            upgrading(UploadWorkflow),
            pinned(UpkeepWorkflow),
        )
    }


def activities(resources: Resources) -> ActivitiesByQueue:
    from pressbox.footy.wiring import activities

    return activities(resources)


def schedules(settings: Settings) -> Sequence[ScheduleDeclaration]:
    from pressbox.footy.contracts.ingest import IngestWorkflowInput
    from pressbox.footy.contracts.upkeep import UpkeepWorkflowInput
    from pressbox.footy.schedules import monitor_schedule
    from pressbox.footy.settings import FootySettings

    footy = settings.group(FootySettings)
    rules = footy.policy
    return (
        ScheduleDeclaration(
            id=INGEST_SCHEDULE,
            workflow=INGEST,
            workflow_id=INGEST_WORKFLOW,
            task_queue=QUEUE,
            input=IngestWorkflowInput(policy=rules),
            summary="Fetches the fixtures of the coming days and deletes old ones",
            cron="5 0 * * *",
            # A machine that was off at midnight still learns what is played today, however late it starts.
            catchup_window=timedelta(hours=24),
        ),
        monitor_schedule(footy),
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


def audiences() -> Sequence[AudienceKind]:
    from pressbox.footy.web.topics import AUDIENCES

    return AUDIENCES


async def seal_again(resources: Resources) -> int:
    from pressbox.footy.x.session import open_session

    return open_session(resources.settings).seal_again()


async def health(resources: Resources) -> Sequence[PartHealth]:
    from pressbox.footy.web.health import check_health

    return await check_health(resources)


def measures() -> Sequence[Measure]:
    from pressbox.footy.measures import MEASURES

    return MEASURES


def notice_kinds() -> Sequence[NoticeKind]:
    from pressbox.footy.domain.notice_kinds import KINDS

    return KINDS


APP = AppManifest(
    name="footy",
    package="pressbox.footy",
    settings=settings,
    sections=sections,
    search=search,
    today=today,
    attention=attention,
    help=(Place("Follow a team or league", f"{PATH}/follow", "football club star goals clips matches"),),
    offline=offline,
    digest=digest,
    title="Matches",
    summary="Live fixtures, confirmed goals and the best clip of each, while the match is on.",
    queues=(
        TaskQueue(QUEUE),
        TaskQueue(CLIPS_QUEUE, CLIPS_AT_ONCE, heavy=True),
        TaskQueue(MEDIA_QUEUE, MEDIA_AT_ONCE, heavy=True),
    ),
    workflows=workflows,
    activities=activities,
    schedules=schedules,
    tables=("pressbox.footy.adapters.rows",),
    topics=topics,
    audiences=audiences,
    seal_again=seal_again,
    router=router,
    commands=(
        CommandWord("footy", "Fixtures, goals and their clips.", import_later("pressbox.footy.cli:commands")),
        CommandWord("x", "Search X with a browser that you logged in.", import_later("pressbox.footy.x.cli:commands")),
    ),
    notice_kinds=notice_kinds,
    navigation=NavigationEntry(title="Matches", path=PATH, key="m", icon="ball", search=f"{PATH}/search"),
    health=health,
    measures=measures,
    paid=(
        PaidService("x-api", ("PRESSBOX_FOOTY_X_API_TOKEN",), has_x_api),
        PaidService("vision-llm", ("PRESSBOX_FOOTY_VISION_KEY",), has_vision),
    ),
)
