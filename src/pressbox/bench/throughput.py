"""Workflows per second with everything that our worker adds, compared with a bare worker on the same server."""

import asyncio
import time
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median
from uuid import uuid4

from temporalio.client import Client
from temporalio.worker import Worker

from pressbox.bench.activities import BenchActivities
from pressbox.bench.contracts import BenchStepsWorkflowInput
from pressbox.bench.manifest import APP, QUEUE
from pressbox.bench.worker import production_worker
from pressbox.bench.workflows.steps import BenchStepsWorkflow
from pressbox.core.app import Resources

BARE_QUEUE = "bench-bare"
AT_ONCE = 50


@dataclass(frozen=True)
class Rate:
    """The result of one round: workflows per second, and processor time of this process for each."""

    per_second: float
    cpu_milliseconds: float


@dataclass(frozen=True)
class Throughput:
    """Medians of all rounds. On a busy machine the processor time per workflow says more than the rate."""

    ours: Rate
    bare: Rate


@dataclass(frozen=True)
class HistoryEvents:
    """Events in the history of the same workflow, without and with progress reports."""

    silent: int
    reporting: int
    reports: int

    @property
    def per_report(self) -> float:
        return (self.reporting - self.silent) / self.reports


async def measure_throughput(resources: Resources, *, workflows: int, rounds: int) -> Throughput:
    """Measure both in turns, so that other work on the machine affects both."""
    ours: list[Rate] = []
    bare: list[Rate] = []
    async with _bare_worker(resources.temporal), production_worker(resources, APP):
        for queue in (BARE_QUEUE, QUEUE):
            # The first workflows also pay for connections and for loading the sandbox.
            await _measure_rate(resources.temporal, queue, min(workflows, 20))
        for _ in range(rounds):
            bare.append(await _measure_rate(resources.temporal, BARE_QUEUE, workflows))
            ours.append(await _measure_rate(resources.temporal, QUEUE, workflows))
    return Throughput(ours=_take_median(ours), bare=_take_median(bare))


async def measure_history_events(resources: Resources, *, steps: int, reports: int) -> HistoryEvents:
    """Run the same activities with and without progress reports."""
    async with production_worker(resources, APP):
        silent = await _count_events(resources.temporal, BenchStepsWorkflowInput(steps=steps))
        reporting = await _count_events(resources.temporal, BenchStepsWorkflowInput(steps=steps, reports=reports))
    return HistoryEvents(silent=silent, reporting=reporting, reports=steps * reports)


def _bare_worker(client: Client) -> Worker:
    return Worker(
        client,
        task_queue=BARE_QUEUE,
        workflows=[BenchStepsWorkflow],
        activities=[BenchActivities().take_bench_step],
    )


def _take_median(rates: Sequence[Rate]) -> Rate:
    return Rate(
        per_second=median(rate.per_second for rate in rates),
        cpu_milliseconds=median(rate.cpu_milliseconds for rate in rates),
    )


async def _measure_rate(client: Client, queue: str, workflows: int) -> Rate:
    places = asyncio.Semaphore(AT_ONCE)

    async def run_one() -> None:
        async with places:
            await _run(client, queue, BenchStepsWorkflowInput())

    began, worked = time.perf_counter(), time.process_time()
    async with asyncio.TaskGroup() as group:
        for _ in range(workflows):
            group.create_task(run_one())
    return Rate(
        per_second=workflows / (time.perf_counter() - began),
        cpu_milliseconds=(time.process_time() - worked) / workflows * 1000,
    )


async def _count_events(client: Client, input: BenchStepsWorkflowInput) -> int:
    workflow_id = await _run(client, QUEUE, input)
    return len((await client.get_workflow_handle(workflow_id).fetch_history()).events)


async def _run(client: Client, queue: str, input: BenchStepsWorkflowInput) -> str:
    workflow_id = f"bench-{uuid4()}"
    await client.execute_workflow(BenchStepsWorkflow.run, input, id=workflow_id, task_queue=queue)
    return workflow_id
