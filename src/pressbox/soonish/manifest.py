"""Events as an application."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from typing import TYPE_CHECKING

from pressbox.core.app import (
    ActivitiesByQueue,
    AppManifest,
    Command,
    CommandWord,
    CredentialKind,
    FoundThing,
    LiveTopic,
    Mailer,
    NavigationEntry,
    PersonalData,
    Resources,
    ScheduleDeclaration,
    TaskQueue,
    WorkflowsByQueue,
)
from pressbox.soonish.ids import PATH, QUEUE, RECONCILE, RECONCILE_SCHEDULE, RECONCILE_WORKFLOW

if TYPE_CHECKING:
    from fastapi import APIRouter

    from pressbox.core.audiences.members import AudienceKind, Viewer
    from pressbox.core.config import Settings
    from pressbox.core.health import PartHealth
    from pressbox.core.quotas.quota import Quota
    from pressbox.core.stored_settings.sections import SettingsSection
    from pressbox.soonish.service.soonish import Soonish
    from pressbox.soonish.settings import SoonishSettings


def settings() -> type[SoonishSettings]:
    from pressbox.soonish.settings import SoonishSettings

    return SoonishSettings


async def find(resources: Resources, viewer: Viewer, words: str, limit: int) -> Sequence[FoundThing]:
    from pressbox.soonish.web.finding import find_events

    return await find_events(service(resources), viewer, words, limit)


async def news(resources: Resources, viewer: Viewer, limit: int) -> Sequence[FoundThing]:
    from pressbox.soonish.web.finding import list_coming

    return await list_coming(service(resources), viewer, limit)


def sections() -> Sequence[SettingsSection]:
    from pressbox.soonish.web.mail_section import MAIL

    return (MAIL,)


def service(resources: Resources) -> Soonish:
    from pressbox.soonish.wiring import service

    return service(resources)


def workflows() -> WorkflowsByQueue:
    from pressbox.soonish.workflows.broadcast import BroadcastWorkflow
    from pressbox.soonish.workflows.event import EventWorkflow
    from pressbox.soonish.workflows.reconcile import ReconcileWorkflow
    from pressbox.soonish.workflows.reminder import ReminderWorkflow

    return {QUEUE: (EventWorkflow, BroadcastWorkflow, ReminderWorkflow, ReconcileWorkflow)}


def activities(resources: Resources) -> ActivitiesByQueue:
    from pressbox.soonish.wiring import activities

    return activities(resources)


def schedules(settings: Settings) -> Sequence[ScheduleDeclaration]:
    from pressbox.soonish.contracts import ReconcileWorkflowInput
    from pressbox.soonish.policy import policy

    return (
        ScheduleDeclaration(
            id=RECONCILE_SCHEDULE,
            workflow=RECONCILE,
            workflow_id=RECONCILE_WORKFLOW,
            task_queue=QUEUE,
            input=ReconcileWorkflowInput(policy=policy(settings)),
            summary="Sends unsent signals and fires overdue reminders",
            every=timedelta(minutes=1),
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
    from pressbox.soonish.wiring import mailer

    return mailer(settings)


def commands() -> Command:
    from pressbox.soonish.cli import build_commands

    return build_commands(service, rotate_keys)


async def rotate_keys(resources: Resources) -> int:
    from pressbox.soonish.wiring import rotate_keys

    return await rotate_keys(resources)


APP = AppManifest(
    name="soonish",
    package="pressbox.soonish",
    settings=settings,
    sections=sections,
    find=find,
    news=news,
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
    schedules=schedules,
    tables=("pressbox.soonish.adapters.rows", "pressbox.soonish.adapters.calendar_links"),
    credentials=credentials,
    personal_data=personal_data,
    seal_again=rotate_keys,
    mailer=mailer,
    health=health,
    topics=topics,
    quotas=quotas,
    audiences=audiences,
    router=router,
    commands=(CommandWord("soonish", "Events, announcements and reminders.", commands),),
    navigation=NavigationEntry(title="Events", path=PATH, key="e", icon="bell"),
)
