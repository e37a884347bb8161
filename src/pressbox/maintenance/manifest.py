"""Maintenance as an application: the pattern that the others follow.

contracts.py   what crosses Temporal: frozen, with pure decisions
activities.py  the effects, each with its timeouts and retries beside it, on a port
workflow.py    what happens, in which order
store.py       the port on PostgreSQL and the object store
settings.py    what an administrator chooses
manifest.py    what the application is; the only line elsewhere is in `entry/manifests.py`
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from typing import TYPE_CHECKING

from pressbox.core.app import (
    ActivitiesByQueue,
    AppManifest,
    Resources,
    ScheduleDeclaration,
    TaskQueue,
    WorkflowsByQueue,
)

if TYPE_CHECKING:
    from pressbox.core.config import Settings
    from pressbox.maintenance.settings import MaintenanceSettings

QUEUE = "core"
WORKFLOW = "MaintenanceWorkflow"
SCHEDULE_ID = "core-maintenance"
WORKFLOW_ID = "core-maintenance"


def settings() -> type[MaintenanceSettings]:
    from pressbox.maintenance.settings import MaintenanceSettings

    return MaintenanceSettings


def workflows() -> WorkflowsByQueue:
    from pressbox.core.temporal.pinning import pinned
    from pressbox.maintenance.workflow import MaintenanceWorkflow

    return {QUEUE: (pinned(MaintenanceWorkflow),)}


def activities(resources: Resources) -> ActivitiesByQueue:
    from pressbox.core.temporal.calls import activity_methods
    from pressbox.maintenance.activities import MaintenanceActivities
    from pressbox.maintenance.store import MaintenanceStore

    store = MaintenanceStore(resources.database, resources.objects)
    return {QUEUE: activity_methods(MaintenanceActivities(store))}


def schedules(settings: Settings) -> Sequence[ScheduleDeclaration]:
    from pressbox.maintenance.contracts import MaintenanceWorkflowInput
    from pressbox.maintenance.settings import MaintenanceSettings

    return (
        ScheduleDeclaration(
            id=SCHEDULE_ID,
            workflow=WORKFLOW,
            workflow_id=WORKFLOW_ID,
            task_queue=QUEUE,
            input=MaintenanceWorkflowInput(policy=settings.group(MaintenanceSettings).policy),
            summary="Removes expired sessions, tokens, scratch objects, old changes and old progress",
            every=timedelta(hours=1),
        ),
    )


APP = AppManifest(
    name="maintenance",
    title="Maintenance",
    summary="Keeps the instance small.",
    settings=settings,
    queues=(TaskQueue(QUEUE),),
    workflows=workflows,
    activities=activities,
    schedules=schedules,
)
