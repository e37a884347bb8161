"""`pressbox bench platform`: what the platform itself costs, before any application does something."""

import asyncio
import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from pressbox.bench.fanout import FanOut, measure_fan_out
from pressbox.bench.instance import allow_many_connections, instance_resources, measured_instance, temporary_home
from pressbox.bench.memory import MEGABYTE, PartMemory, measure_memory
from pressbox.bench.report import Better, Figure, Report, Say, describe_machine
from pressbox.bench.throughput import HistoryEvents, Throughput, measure_history_events, measure_throughput
from pressbox.core.errors import PermanentError
from pressbox.demo.instance import Instance

SECOND_START_AIM_SECONDS = 6.0
IDLE_MEMORY_AIM_MEGABYTES = 450.0
# Long enough for everything that runs once after a start.
IDLE_SECONDS = 8.0


@dataclass(frozen=True)
class Scale:
    """How much is measured; less is faster and less exact."""

    workflows: int = 200
    rounds: int = 3
    steps: int = 5
    reports: int = 20
    clients: int = 500
    idle_seconds: float = IDLE_SECONDS


FULL = Scale()


def run_platform(say: Say, scale: Scale = FULL) -> Report:
    """Takes a minute or two, on a temporary home."""
    machine = describe_machine()
    allow_many_connections()
    with temporary_home() as home:
        say("First start on an empty home")
        with measured_instance(home) as first:
            first_seconds = first.seconds
        say("Second start")
        with measured_instance(home) as instance:
            say("Memory at rest")
            time.sleep(scale.idle_seconds)
            memory = measure_memory(instance)
            throughput, events, fan_out = asyncio.run(_measure(instance, scale, say))
            figures = (
                Figure(name="first start", value=first_seconds, unit="s"),
                Figure(name="second start", value=instance.seconds, unit="s", aim=SECOND_START_AIM_SECONDS),
                *memory_figures(memory),
                *_work_figures(throughput, events),
                *_fan_out_figures(fan_out, scale.clients),
            )
    return Report(name="platform", measured_at=datetime.now(UTC), machine=machine, figures=figures)


async def _measure(instance: Instance, scale: Scale, say: Say) -> tuple[Throughput, HistoryEvents, FanOut]:
    web_url = instance.endpoints.web_url
    if web_url is None:
        raise PermanentError("The instance has no web address.")
    async with instance_resources(instance) as resources:
        say(f"Server-sent events to {scale.clients} clients")
        fan_out = await measure_fan_out(web_url, resources.database, clients=scale.clients)
        say("History events per report of progress")
        events = await measure_history_events(resources, steps=scale.steps, reports=scale.reports)
        say("Workflows per second")
        throughput = await measure_throughput(resources, workflows=scale.workflows, rounds=scale.rounds)
    return throughput, events, fan_out


def memory_figures(parts: Sequence[PartMemory]) -> tuple[Figure, ...]:
    """One figure per part, and their sum, which has an aim."""
    each = [
        Figure(
            name=f"idle memory: {part.name}",
            value=part.proportional / MEGABYTE,
            unit="MB",
            note=f"{part.processes} processes, resident {part.resident / MEGABYTE:,.0f} MB",
        )
        for part in parts
    ]
    together = Figure(
        name="idle memory: together",
        value=sum(part.proportional for part in parts) / MEGABYTE,
        unit="MB",
        aim=IDLE_MEMORY_AIM_MEGABYTES,
        note=f"shared pages counted once; resident {sum(part.resident for part in parts) / MEGABYTE:,.0f} MB",
    )
    return (*each, together)


def _work_figures(throughput: Throughput, events: HistoryEvents) -> tuple[Figure, ...]:
    return (
        Figure(
            name="one-activity workflows",
            value=throughput.ours.per_second,
            unit="per second",
            better=Better.HIGHER,
            peer=throughput.bare.per_second,
            peer_name="bare worker",
        ),
        Figure(
            name="worker's work per such workflow",
            value=throughput.ours.cpu_milliseconds,
            unit="ms",
            peer=throughput.bare.cpu_milliseconds,
            peer_name="bare worker",
            note="processor time with starting it and waiting for it; ours also writes progress",
        ),
        Figure(
            name="history events per progress report",
            value=events.per_report,
            unit="events",
            aim=0,
            note=f"{events.reporting} events with {events.reports} reports, {events.silent} without",
        ),
    )


def _fan_out_figures(fan_out: FanOut, clients: int) -> tuple[Figure, ...]:
    return (
        Figure(
            name=f"commit to last of {clients} streams",
            value=fan_out.last,
            unit="s",
            peer=fan_out.polled,
            peer_name=f"{clients} polls",
            note="changes are gathered for 0.1 s",
        ),
        Figure(name=f"commit to median of {clients} streams", value=fan_out.median, unit="s"),
    )
