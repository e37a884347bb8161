"""Maintenance as an application: the pattern that the others follow."""

from collections.abc import Sequence
from datetime import timedelta

from pressbox.core.app import AppManifest, ScheduleDeclaration, TaskQueue
from pressbox.core.config import Settings
from pressbox.maintenance.contracts import MaintenanceWorkflowInput
from pressbox.maintenance.ids import QUEUE, SCHEDULE_ID, WORKFLOW_ID
from pressbox.maintenance.settings import MaintenanceSettings
from pressbox.maintenance.wiring import activities, policy
from pressbox.maintenance.workflows.maintenance import MaintenanceWorkflow


def schedules(settings: Settings) -> Sequence[ScheduleDeclaration]:
    return (
        ScheduleDeclaration(
            id=SCHEDULE_ID,
            workflow=MaintenanceWorkflow.__name__,
            workflow_id=WORKFLOW_ID,
            task_queue=QUEUE,
            input=MaintenanceWorkflowInput(policy=policy(settings.group(MaintenanceSettings))),
            summary="Removes expired sessions, tokens, scratch objects, old changes and old progress",
            every=timedelta(hours=1),
        ),
    )


APP = AppManifest(
    name="maintenance",
    settings=MaintenanceSettings,
    title="Maintenance",
    summary="Keeps the instance small.",
    queues=(TaskQueue(QUEUE),),
    workflows={QUEUE: (MaintenanceWorkflow,)},
    activities=activities,
    schedules=schedules,
)
