"""`pressbox bench cost`: history events, actions and SQL statements per item, at several sizes."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from pressbox.bench.cost.kinds import AIMS, KINDS, schedules
from pressbox.bench.cost.meter import count_histories, count_statements
from pressbox.bench.cost.stage import Stage, open_stage
from pressbox.bench.report import Figure, Report, Say, describe_machine
from pressbox.core.app import AppManifest
from pressbox.core.errors import InvalidInputError
from pressbox.curator.settings import CuratorSettings

SIZES = (100, 1_000)
MONTH = timedelta(days=30)
# What a cloud bills for one start by a schedule, without the run itself.
PER_SCHEDULED_START = 2
IDLE_AIM = 100_000


@dataclass(frozen=True)
class Cost:
    """What one kind of work cost at one size, in all."""

    kind: str
    size: int
    events: int
    actions: int
    statements: int


def run_cost(say: Say, manifests: Sequence[AppManifest], sizes: Sequence[int], kinds: Sequence[str]) -> Report:
    """Takes minutes; each kind and size has parts of its own."""
    unknown = sorted(set(kinds) - KINDS.keys())
    if unknown:
        raise InvalidInputError(f"No such kind: {', '.join(unknown)}. There are: {', '.join(KINDS)}, idle.")
    machine = describe_machine()
    figures: list[Figure] = []
    for kind in kinds or KINDS:
        for size in sizes:
            say(f"{kind}: {size:,}")
            cost = asyncio.run(measure(manifests, kind, size))
            figures += _figures(cost)
    if not kinds:
        say("An idle month")
        figures.append(asyncio.run(measure_idle(manifests)))
    return Report(name="cost", measured_at=datetime.now(UTC), machine=machine, figures=tuple(figures))


async def measure(manifests: Sequence[AppManifest], kind: str, size: int) -> Cost:
    # All articles are fetched and none waits: what is counted does not depend on politeness.
    group = CuratorSettings(host_delay_seconds=0.0, unread_at_start=10_000, host_delays={})
    async with open_stage(manifests, group) as stage, KINDS[kind](stage, size) as work:
        await stage.until_nothing_runs()
        before = await count_histories(stage.resources.temporal)
        with count_statements(stage.resources.database) as statements:
            await work()
        after = await count_histories(stage.resources.temporal)
        return Cost(kind, size, after.events - before.events, after.actions - before.actions, statements.number)


async def measure_idle(manifests: Sequence[AppManifest]) -> Figure:
    """What all schedules cost in a month in which nothing happens, at their slowest pace."""
    total, parts = 0.0, []
    async with open_stage(manifests, CuratorSettings()) as stage:
        for one in schedules(stage):
            pause = one.rest_every or one.every or timedelta(days=1)
            actions = (
                await _actions(stage, one.workflow, one.input, one.workflow_id, one.task_queue)
            ) + PER_SCHEDULED_START
            monthly = actions * (MONTH / pause)
            total += monthly
            parts.append(f"{one.id} {monthly:,.0f}")
    return Figure(name="idle instance", value=round(total), unit="actions a month", aim=IDLE_AIM, note=", ".join(parts))


async def _actions(stage: Stage, workflow: str, input: object, workflow_id: str, queue: str) -> int:
    temporal = stage.resources.temporal
    before = await count_histories(temporal)
    await temporal.execute_workflow(workflow, input, id=workflow_id, task_queue=queue)
    await stage.until_nothing_runs()
    return (await count_histories(temporal)).actions - before.actions


def _figures(cost: Cost) -> tuple[Figure, ...]:
    name = f"{cost.kind} × {cost.size:,}"
    events, statements = AIMS.get(cost.kind, (None, None))
    return (
        Figure(
            name=name,
            value=cost.events / cost.size,
            unit="events",
            aim=events,
            note=f"{cost.actions / cost.size:.3f} actions",
        ),
        Figure(name="", value=cost.statements / cost.size, unit="statements", aim=statements),
    )
