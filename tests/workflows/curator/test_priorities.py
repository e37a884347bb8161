"""What people wait for stands before what nobody waits for, however much of that there is."""

import secrets
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from temporalio import activity
from temporalio.api.enums.v1 import PendingActivityState
from temporalio.client import Client
from temporalio.worker import Worker

from pressbox.curator.ask.contracts import AnswerInput, RetrievedPassages, answer_workflow_id
from pressbox.curator.ask.domain import AnswerState
from pressbox.curator.ask.service import AnswerStarter
from pressbox.curator.ask.workflow import AnswerWorkflow
from pressbox.curator.ingest.contracts import FetchedPage, FetchPageInput, ScheduleFetchInput
from pressbox.curator.ingest.workflows.schedule_fetch import ScheduleFetchWorkflow
from pressbox.curator.library.contracts import heavy_queue
from pressbox.curator.library.domain import CuratorPolicy
from tests.waiting import look_until

BULK = 30
# What the pollers of a worker may have taken before it could choose; without priorities the question is the last.
AHEAD = 20

order: list[str] = []


@activity.defn
async def fetch_due_contents(_: FetchPageInput) -> FetchedPage:
    order.append("articles")
    return FetchedPage(fetched=1)


@activity.defn
async def retrieve_passages(_: AnswerInput) -> RetrievedPassages:
    order.append("question")
    return RetrievedPassages(count=0, state=AnswerState.DONE)


@asynccontextmanager
async def planning(client: Client, queue: str) -> AsyncIterator[None]:
    async with Worker(client, task_queue=queue, workflows=[ScheduleFetchWorkflow, AnswerWorkflow]):
        yield


async def waits(client: Client, workflow_id: str) -> bool:
    pending = (await client.get_workflow_handle(workflow_id).describe()).raw_description.pending_activities
    return [one.state for one in pending] == [PendingActivityState.PENDING_ACTIVITY_STATE_SCHEDULED]


@pytest.mark.limit(900)
async def test_a_question_is_begun_before_the_articles_that_waited_longer(temporal: Client) -> None:
    order.clear()
    queue = f"test-{secrets.token_hex(4)}"
    answer_id = secrets.randbelow(10**9)
    async with planning(temporal, queue):
        shards = [
            await temporal.start_workflow(
                ScheduleFetchWorkflow.run, ScheduleFetchInput(shard=1), id=f"{queue}-{number}", task_queue=queue
            )
            for number in range(BULK)
        ]
        for shard in shards:
            await look_until(lambda shard=shard: waits(temporal, shard.id))  # type: ignore[misc]
        await AnswerStarter(temporal, queue, CuratorPolicy(), evaluate=False).start_answer(answer_id)
        await look_until(lambda: waits(temporal, answer_workflow_id(answer_id)))
        async with Worker(
            temporal,
            task_queue=heavy_queue(queue),
            activities=[fetch_due_contents, retrieve_passages],
            max_concurrent_activities=1,
        ):
            for shard in shards:
                await shard.result()
    assert order.count("articles") == BULK
    assert order.index("question") < AHEAD
