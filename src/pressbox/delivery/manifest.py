"""Delivery: the ways out to people. Applications say what happened; this part brings it to them.

push/  messages to browsers, on phones as if from an application
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from pressbox.core.app import (
    AccountSection,
    ActivitiesByQueue,
    AppManifest,
    CredentialKind,
    PersonalData,
    Resources,
    TaskQueue,
    WorkflowsByQueue,
)
from pressbox.delivery.ids import QUEUE

if TYPE_CHECKING:
    from fastapi import APIRouter

    from pressbox.core.health import PartHealth
    from pressbox.core.quotas.quota import Quota


def workflows() -> WorkflowsByQueue:
    from pressbox.core.temporal.pinning import upgrading
    from pressbox.delivery.workflows.notices import SendNoticesWorkflow

    return {QUEUE: (upgrading(SendNoticesWorkflow),)}


def activities(resources: Resources) -> ActivitiesByQueue:
    from pressbox.delivery.worker import activities

    return activities(resources)


async def keep_looking(resources: Resources) -> None:
    from pressbox.delivery.service.looking import keep_looking
    from pressbox.delivery.wiring import vault

    await keep_looking(resources, vault(resources.settings).reveal)


def router() -> APIRouter:
    from pressbox.core.web.joining import join_routers
    from pressbox.delivery.push import api

    return join_routers(api.router, api.pages)


def quotas() -> Sequence[Quota]:
    from pressbox.delivery.push.store import SUBSCRIPTIONS, TESTS

    return (SUBSCRIPTIONS, TESTS)


def credentials() -> Sequence[CredentialKind]:
    from pressbox.delivery.push.store import BROWSERS

    return (BROWSERS,)


def personal_data() -> PersonalData:
    from pressbox.delivery.push.personal_data import PERSONAL_DATA

    return PERSONAL_DATA


async def seal_again(resources: Resources) -> int:
    from pressbox.delivery.push.keys import PushKeys
    from pressbox.delivery.push.store import PushStore

    keys = await PushKeys(resources.database, resources.settings).seal_again()
    return keys + await PushStore(resources.database, resources.settings).seal_again()


async def load_devices(resources: Resources, user_id: int) -> Mapping[str, Any]:
    from pressbox.delivery.push.store import PushStore

    return {"devices": await PushStore(resources.database, resources.settings).list(user_id)}


async def health(resources: Resources) -> Sequence[PartHealth]:
    from pressbox.delivery.service.health import check_channels

    return await check_channels(resources)


APP = AppManifest(
    name="delivery",
    package="pressbox.delivery",
    title="Delivery",
    summary="Brings what happened to people.",
    queues=(TaskQueue(QUEUE),),
    workflows=workflows,
    activities=activities,
    beside_worker=keep_looking,
    tables=("pressbox.delivery.adapters.rows", "pressbox.delivery.push.rows"),
    quotas=quotas,
    router=router,
    credentials=credentials,
    personal_data=personal_data,
    seal_again=seal_again,
    health=health,
    account_section=AccountSection("delivery/_device.html", load_devices),
)
