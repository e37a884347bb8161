"""`pressbox bench matchday`: a crowded match day of the demo, and what it costs."""

import asyncio
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from temporalio.client import Client

from pressbox.bench.instance import instance_resources, measured_instance, temporary_home
from pressbox.bench.memory import MEGABYTE, measure_memory
from pressbox.bench.report import Better, Figure, Report, Say, describe_machine
from pressbox.demo.football_day.scenario import Size, play_day
from pressbox.demo.instance import Instance
from pressbox.demo.stage import Finding, Stage
from pressbox.demo.world import WorldPorts, open_world

SAMPLE_SECONDS = 5.0
# A small machine makes and judges hundreds of clips long after the last whistle.
SETTLE = timedelta(hours=1)


@dataclass(frozen=True)
class Histories:
    """The runs of one workflow type: how many, and the longest."""

    runs: int = 0
    events: int = 0
    kilobytes: float = 0.0

    def with_run(self, events: int, kilobytes: float) -> "Histories":
        return Histories(self.runs + 1, max(self.events, events), max(self.kilobytes, kilobytes))


@dataclass(frozen=True)
class Day:
    findings: Sequence[Finding]
    seconds: float
    peaks: Mapping[str, int]
    histories: Mapping[str, Histories]


def run_matchday(say: Say, *, matches: int, goals: int, speed: float) -> Report:
    """Runs on a temporary home and takes as long as the clips take."""
    machine, ports = describe_machine(), WorldPorts.choose()
    with temporary_home() as home, measured_instance(home, **ports.environment(speed)) as instance:
        say(f"{matches} matches, {goals} goals")
        size = Size(matches=matches, goals=goals, plain=True, settle=SETTLE, followers=0)
        day = asyncio.run(_play_day(instance, ports, size, speed))
    return Report(name="matchday", measured_at=datetime.now(UTC), machine=machine, figures=tuple(_figures(day)))


async def _play_day(instance: Instance, ports: WorldPorts, size: Size, speed: float) -> Day:
    peaks: dict[str, int] = {}
    async with instance_resources(instance) as resources, open_world(ports) as world:
        sampling = asyncio.create_task(_sample_memory(instance, peaks))
        began = time.monotonic()
        try:
            findings = await play_day(Stage(resources, speed, 1, world, instance.web_url), size)
        finally:
            sampling.cancel()
            with suppress(asyncio.CancelledError):
                await sampling
        return Day(findings, time.monotonic() - began, peaks, await _load_histories(resources.temporal))


async def _sample_memory(instance: Instance, peaks: dict[str, int]) -> None:
    while True:
        for part in await asyncio.to_thread(measure_memory, instance):
            peaks[part.name] = max(peaks.get(part.name, 0), part.proportional)
        await asyncio.sleep(SAMPLE_SECONDS)


async def _load_histories(temporal: Client) -> Mapping[str, Histories]:
    found: dict[str, Histories] = {}
    async for run in temporal.list_workflows('TaskQueue = "footy"'):
        told = run.raw_info
        known = found.get(run.workflow_type, Histories())
        found[run.workflow_type] = known.with_run(told.history_length, told.history_size_bytes / 1000)
    return found


def _figures(day: Day) -> list[Figure]:
    met = sum(finding.met for finding in day.findings)
    return [
        Figure(
            name="findings as the script says",
            value=met,
            unit=f"of {len(day.findings)}",
            better=Better.HIGHER,
            aim=len(day.findings),
            note="; ".join(
                f"{finding.name}: {finding.found} of {finding.expected}" for finding in day.findings if not finding.met
            ),
        ),
        *(
            Figure(name=finding.name, value=finding.found, unit="", aim=finding.expected, better=Better.HIGHER)
            for finding in day.findings
        ),
        Figure(name="filming and playing", value=day.seconds, unit="s"),
        *(Figure(name=f"peak memory: {name}", value=peak / MEGABYTE, unit="MB") for name, peak in day.peaks.items()),
        *(
            Figure(
                name=f"longest history: {name}",
                value=history.events,
                unit="events",
                note=f"{history.kilobytes:,.0f} kB at most, {history.runs} runs",
            )
            for name, history in sorted(day.histories.items())
        ),
    ]
