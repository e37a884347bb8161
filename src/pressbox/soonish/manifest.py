"""The manifest of soonish: events, announcements and reminders."""

from collections.abc import Sequence
from datetime import timedelta

import typer
from fastapi import APIRouter

from pressbox.core.app import AppManifest, NavigationEntry, ScheduleDeclaration, TaskQueue
from pressbox.core.config import Settings
from pressbox.soonish.contracts import ReconcileWorkflowInput
from pressbox.soonish.ids import QUEUE, RECONCILE_SCHEDULE, RECONCILE_WORKFLOW
from pressbox.soonish.settings import SoonishSettings
from pressbox.soonish.web.access import PATH
from pressbox.soonish.web.topics import TOPICS
from pressbox.soonish.wiring import activities, policy, rotate_keys, service
from pressbox.soonish.workflows.broadcast import BroadcastWorkflow
from pressbox.soonish.workflows.event import EventWorkflow
from pressbox.soonish.workflows.reconcile import ReconcileWorkflow
from pressbox.soonish.workflows.reminder import ReminderWorkflow


def schedules(settings: Settings) -> Sequence[ScheduleDeclaration]:
    return (
        ScheduleDeclaration(
            id=RECONCILE_SCHEDULE,
            workflow=ReconcileWorkflow.__name__,
            workflow_id=RECONCILE_WORKFLOW,
            task_queue=QUEUE,
            input=ReconcileWorkflowInput(policy=policy(settings)),
            summary="Sends unsent signals and fires overdue reminders",
            every=timedelta(minutes=1),
        ),
    )


def router() -> APIRouter:
    from pressbox.soonish.web.routes import build_router

    return build_router(service)


def commands() -> typer.Typer:
    from pressbox.soonish.cli import build_commands

    return build_commands(service, rotate_keys)


APP = AppManifest(
    name="soonish",
    package="pressbox.soonish",
    settings=SoonishSettings,
    title="Events",
    summary="Events, announcements to their subscribers, and reminders that move with the date.",
    queues=(TaskQueue(QUEUE),),
    workflows={QUEUE: (EventWorkflow, BroadcastWorkflow, ReminderWorkflow, ReconcileWorkflow)},
    activities=activities,
    schedules=schedules,
    topics=TOPICS,
    router=router,
    commands=commands,
    navigation=NavigationEntry(title="Events", path=PATH, key="e", icon="bell"),
)
