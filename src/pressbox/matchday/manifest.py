"""What joins matches and events: the fixtures of followed teams are events that followers are subscribed to.

It stands above both, which know nothing of it and nothing of each other (ADR 58).

fixtures.py    what a fixture is as an event, pure
store.py       fixtures, follows, and what changed of them
activities.py  the effects, on a port
workflow.py    what changed, or everything
watch.py       sees beside a worker that something changed
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
from pressbox.footy.ids import FIXTURE_SUBJECT, TEAM_SUBJECT

if TYPE_CHECKING:
    from pressbox.core.config import Settings

QUEUE = "matchday"


def workflows() -> WorkflowsByQueue:
    from pressbox.core.temporal.pinning import pinned
    from pressbox.matchday.workflow import MatchdayWorkflow

    return {QUEUE: (pinned(MatchdayWorkflow),)}


def activities(resources: Resources) -> ActivitiesByQueue:
    from pressbox.core.temporal.calls import activity_methods
    from pressbox.matchday.activities import MatchdayActivities
    from pressbox.matchday.watch import build_store

    return {QUEUE: activity_methods(MatchdayActivities(build_store(resources)))}


async def keep_looking(resources: Resources) -> None:
    from pressbox.matchday.watch import keep_looking

    await keep_looking(resources)


def schedules(_: Settings) -> Sequence[ScheduleDeclaration]:
    from pressbox.matchday.contracts import SWEEP_ID, SWEEP_SCHEDULE, WORKFLOW, MatchdayWorkflowInput

    return (
        ScheduleDeclaration(
            id=SWEEP_SCHEDULE,
            workflow=WORKFLOW,
            workflow_id=SWEEP_ID,
            task_queue=QUEUE,
            input=MatchdayWorkflowInput(everything=True),
            summary="Brings the events of followed matches into step with their fixtures",
            every=timedelta(minutes=15),
        ),
    )


APP = AppManifest(
    name="matchday",
    title="Match days",
    summary="Keeps the matches of followed teams as events with reminders.",
    queues=(TaskQueue(QUEUE),),
    workflows=workflows,
    activities=activities,
    beside_worker=keep_looking,
    schedules=schedules,
    reminded_subjects=(TEAM_SUBJECT, FIXTURE_SUBJECT),
)
