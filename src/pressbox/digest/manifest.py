"""The digest: once a day or a week, what happened to all that a person follows.

core/digests.py  what applications tell in it, by `digest` of their manifests
domain.py        when it is due, over every clock change
contracts.py     what crosses Temporal
activities.py    sends a page of those that are due
workflow.py      page after page
store.py         choices, claims by lease, and what was sent
service.py       writes one and sends it
text.py          its words
looking.py       starts the workflow when one is due
pages.py, api.py the choice, a preview, and what was sent
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import timedelta
from typing import TYPE_CHECKING

from pressbox.core.app import (
    ActivitiesByQueue,
    AppManifest,
    PersonalData,
    Resources,
    ScheduleDeclaration,
    TaskQueue,
    WorkflowsByQueue,
)

if TYPE_CHECKING:
    from fastapi import APIRouter

    from pressbox.core.config import Settings
    from pressbox.core.notices.followed import FollowedThing

QUEUE = "digest"


def workflows() -> WorkflowsByQueue:
    from pressbox.core.temporal.pinning import pinned
    from pressbox.digest.workflow import DigestWorkflow

    return {QUEUE: (pinned(DigestWorkflow),)}


def activities(resources: Resources) -> ActivitiesByQueue:
    from pressbox.core.temporal.calls import activity_methods
    from pressbox.digest.activities import DigestActivities
    from pressbox.digest.service import DigestDesk

    return {QUEUE: activity_methods(DigestActivities(DigestDesk(resources)))}


def schedules(_: Settings) -> Sequence[ScheduleDeclaration]:
    from pressbox.digest.contracts import SCHEDULE_ID, WORKFLOW, WORKFLOW_ID, DigestWorkflowInput

    return (
        ScheduleDeclaration(
            id=SCHEDULE_ID,
            workflow=WORKFLOW,
            workflow_id=WORKFLOW_ID,
            task_queue=QUEUE,
            input=DigestWorkflowInput(),
            summary="Sends digests that are due and that no worker saw",
            every=timedelta(hours=1),
        ),
    )


async def keep_looking(resources: Resources) -> None:
    from pressbox.digest.looking import keep_looking

    await keep_looking(resources)


def router() -> APIRouter:
    from pressbox.core.web.joining import join_routers
    from pressbox.digest import api, pages

    return join_routers(pages.router, api.router)


async def followed(_: Resources, __: int, subjects: Collection[str] | None) -> Sequence[FollowedThing]:
    """Only why it is in the inbox: it is chosen on a page of its own."""
    from pressbox.core.notices.followed import FollowedThing
    from pressbox.digest.service import PATH, SUBJECT

    if SUBJECT not in (subjects or ()):
        return ()
    return (FollowedThing(SUBJECT, "Digest", PATH, why="You chose a digest.", edit_path=PATH),)


def personal_data() -> PersonalData:
    from pressbox.digest.personal_data import PERSONAL_DATA

    return PERSONAL_DATA


APP = AppManifest(
    name="digest",
    package="pressbox.digest",
    title="Digest",
    summary="Once a day or a week: results, events to come and the stories that mattered.",
    queues=(TaskQueue(QUEUE),),
    workflows=workflows,
    activities=activities,
    schedules=schedules,
    beside_worker=keep_looking,
    tables=("pressbox.digest.rows",),
    router=router,
    followed=followed,
    personal_data=personal_data,
)
