"""The named cases of translating: played on fakes, they give the runs whose histories are kept."""

import secrets
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from temporalio.client import Client, WorkflowHandle
from temporalio.common import WorkflowIDConflictPolicy, WorkflowIDReusePolicy
from temporalio.worker import Worker

from pressbox.core.errors import RateLimitedError
from pressbox.core.temporal.errors import ErrorInterceptor
from pressbox.curator.library.contracts import heavy_queue
from pressbox.curator.translate.contracts import Provider, TranslationInput
from pressbox.curator.translate.workflow import TranslationWorkflow
from tests.fakes.translating import TranslationDesk

Handle = WorkflowHandle[Any, Any]


@dataclass(frozen=True)
class Room:
    client: Client
    queue: str
    desk: TranslationDesk

    async def ended(self, **input: Any) -> Handle:
        handle: Handle = await self.client.start_workflow(
            TranslationWorkflow.__name__,
            TranslationInput(**input),
            id=f"recorded-{secrets.token_hex(4)}",
            task_queue=self.queue,
            id_reuse_policy=WorkflowIDReusePolicy.REJECT_DUPLICATE,
            id_conflict_policy=WorkflowIDConflictPolicy.FAIL,
        )
        await handle.result()
        return handle


async def leftovers(room: Room) -> Handle:
    """Two batches, in the language of the settings."""
    for _ in range(7):
        room.desk.translations.enter()
    return await room.ended(provider=Provider.MICROSOFT)


async def over_quota(room: Room) -> Handle:
    entry_id = room.desk.translations.enter()
    over = RateLimitedError("The quota is used up.", retry_after=timedelta(seconds=1))
    room.desk.translators[Provider.DEEPL].troubles = [None, over]
    return await room.ended(provider=Provider.DEEPL, entry_ids=(entry_id,), target_language="fr")


async def by_model(room: Room) -> Handle:
    entry_id = room.desk.translations.enter()
    return await room.ended(provider=Provider.LLM, entry_ids=(entry_id, 10**9), target_language="fr", again=True)


CASES: tuple[tuple[type, str, Callable[[Room], Awaitable[Handle]]], ...] = (
    (TranslationWorkflow, "leftovers", leftovers),
    (TranslationWorkflow, "over-quota", over_quota),
    (TranslationWorkflow, "by-model", by_model),
)


@asynccontextmanager
async def playing(client: Client) -> AsyncIterator[Room]:
    """A fresh desk, and workers on it."""
    room = Room(client, f"record-{secrets.token_hex(4)}", TranslationDesk())
    async with AsyncExitStack() as workers:
        for queue, functions, workflows in (
            (room.queue, room.desk.plain_activities(), [TranslationWorkflow]),
            (heavy_queue(room.queue), room.desk.heavy_activities(), []),
        ):
            worker = Worker(
                client, task_queue=queue, workflows=workflows, activities=functions, interceptors=[ErrorInterceptor()]
            )
            await workers.enter_async_context(worker)
        yield room
