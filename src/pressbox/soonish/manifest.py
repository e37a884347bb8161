"""Events as an application."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import timedelta
from typing import TYPE_CHECKING

from pressbox.core.app import (
    ActivitiesByQueue,
    AppManifest,
    Command,
    CommandWord,
    CredentialKind,
    LiveTopic,
    Mailer,
    NavigationEntry,
    OfflineThing,
    PersonalData,
    Resources,
    ScheduleDeclaration,
    ShareTarget,
    TaskQueue,
    WorkflowsByQueue,
)
from pressbox.core.today.contracts import Place
from pressbox.soonish.ids import PATH, QUEUE, RECONCILE, RECONCILE_SCHEDULE, RECONCILE_WORKFLOW

if TYPE_CHECKING:
    from fastapi import APIRouter

    from pressbox.core.audiences.members import AudienceKind, Viewer
    from pressbox.core.config import Settings
    from pressbox.core.db.database import UnitOfWork
    from pressbox.core.digests import DigestSection, DigestSpan
    from pressbox.core.health import PartHealth
    from pressbox.core.measures import Measure
    from pressbox.core.notices.followed import FollowedThing
    from pressbox.core.notices.kinds import NoticeKind
    from pressbox.core.quotas.quota import Quota
    from pressbox.core.stored_settings.sections import SettingsSection
    from pressbox.core.today.contracts import Attention, SearchGroup, TodaySection
    from pressbox.soonish.service.soonish import Soonish
    from pressbox.soonish.settings import SoonishSettings


def settings() -> type[SoonishSettings]:
    from pressbox.soonish.settings import SoonishSettings

    return SoonishSettings


def search() -> Sequence[SearchGroup]:
    from pressbox.soonish.web.finding import GROUPS

    return GROUPS


def today() -> Sequence[TodaySection]:
    from pressbox.soonish.web.finding import SECTIONS

    return SECTIONS


async def attention(work: UnitOfWork, resources: Resources, viewer: Viewer) -> Sequence[Attention]:
    from pressbox.soonish.web.finding import look_for_trouble

    return await look_for_trouble(work, resources, viewer)


async def offline(resources: Resources, viewer: Viewer) -> Sequence[OfflineThing]:
    from pressbox.soonish.web.finding import list_offline

    return await list_offline(service(resources), viewer)


async def digest(resources: Resources, viewer: Viewer, span: DigestSpan) -> DigestSection | None:
    from pressbox.soonish.web.digest import write_section

    return await write_section(service(resources), viewer, span)


def notice_kinds() -> Sequence[NoticeKind]:
    from pressbox.soonish.domain.notice_kinds import KINDS

    return KINDS


async def followed(resources: Resources, user_id: int, subjects: Collection[str] | None) -> Sequence[FollowedThing]:
    from pressbox.soonish.web.followed import list_events

    return await list_events(resources, user_id, subjects)


def sections() -> Sequence[SettingsSection]:
    from pressbox.soonish.web.mail_section import MAIL

    return (MAIL,)


def service(resources: Resources) -> Soonish:
    from pressbox.soonish.wiring import service

    return service(resources)


def workflows() -> WorkflowsByQueue:
    from pressbox.core.temporal.pinning import pinned, upgrading
    from pressbox.soonish.workflows.broadcast import BroadcastWorkflow
    from pressbox.soonish.workflows.event import EventWorkflow
    from pressbox.soonish.workflows.reconcile import ReconcileWorkflow
    from pressbox.soonish.workflows.reminder import ReminderWorkflow

    return {
        QUEUE: (
            upgrading(EventWorkflow),
            upgrading(BroadcastWorkflow),
            pinned(ReminderWorkflow),
            pinned(ReconcileWorkflow),
        )
    }


def activities(resources: Resources) -> ActivitiesByQueue:
    from pressbox.soonish.worker import activities

    return activities(resources)


async def keep_looking(resources: Resources) -> None:
    from pressbox.soonish.service.looking import keep_looking

    await keep_looking(resources)


def schedules(settings: Settings) -> Sequence[ScheduleDeclaration]:
    from pressbox.soonish.contracts import ReconcileWorkflowInput
    from pressbox.soonish.policy import policy

    return (
        ScheduleDeclaration(
            id=RECONCILE_SCHEDULE,
            workflow=RECONCILE,
            workflow_id=RECONCILE_WORKFLOW,
            task_queue=QUEUE,
            input=ReconcileWorkflowInput(policy=policy(settings), looks_first=True),
            summary="Sends unsent signals and fires overdue reminders",
            every=timedelta(minutes=10),
        ),
    )


def audiences() -> Sequence[AudienceKind]:
    from pressbox.soonish.web.topics import AUDIENCES

    return AUDIENCES


def quotas() -> Sequence[Quota]:
    from pressbox.soonish.service.quotas import QUOTAS

    return QUOTAS


def topics() -> Sequence[LiveTopic]:
    from pressbox.soonish.web.topics import TOPICS

    return TOPICS


def router() -> APIRouter:
    from pressbox.soonish.web.routes import build_router

    return build_router(service)


def personal_data() -> PersonalData:
    from pressbox.soonish.personal_data import PERSONAL_DATA

    return PERSONAL_DATA


def credentials() -> Sequence[CredentialKind]:
    from pressbox.soonish.wiring import credentials

    return credentials()


async def health(resources: Resources) -> Sequence[PartHealth]:
    from pressbox.soonish.web.health import check_links

    return check_links(resources.settings)


def mailer(settings: Settings) -> Mailer | None:
    from pressbox.delivery.wiring import mailer

    return mailer(settings)


def commands() -> Command:
    from pressbox.soonish.cli import build_commands

    return build_commands(service, rotate_keys)


async def rotate_keys(resources: Resources) -> int:
    from pressbox.soonish.wiring import rotate_keys

    return await rotate_keys(resources)


def measures() -> Sequence[Measure]:
    from pressbox.soonish.measures import MEASURES

    return MEASURES


APP = AppManifest(
    name="soonish",
    package="pressbox.soonish",
    settings=settings,
    sections=sections,
    search=search,
    today=today,
    attention=attention,
    help=(
        Place("Create an event", f"{PATH}/new", "invite people reminder calendar date"),
        Place("How you are notified", f"{PATH}/channels", "channel mail telegram signal push reminder"),
    ),
    offline=offline,
    share=ShareTarget(text=f"{PATH}/new"),
    digest=digest,
    notice_kinds=notice_kinds,
    followed=followed,
    secret_paths=(
        rf"{PATH}/?$",
        rf"{PATH}/(subscriptions|confirm|unsubscribe|why|calendar|manage)",
        r"/api/.*calendar",
    ),
    title="Events",
    summary="Events, announcements to their subscribers, and reminders that move with the date.",
    queues=(TaskQueue(QUEUE),),
    workflows=workflows,
    activities=activities,
    beside_worker=keep_looking,
    schedules=schedules,
    tables=(
        "pressbox.soonish.adapters.rows",
        "pressbox.soonish.adapters.calendar_links",
    ),
    credentials=credentials,
    personal_data=personal_data,
    seal_again=rotate_keys,
    mailer=mailer,
    health=health,
    measures=measures,
    topics=topics,
    quotas=quotas,
    audiences=audiences,
    router=router,
    commands=(CommandWord("soonish", "Events, announcements and reminders.", commands),),
    navigation=NavigationEntry(title="Events", path=PATH, key="e", icon="bell"),
)
