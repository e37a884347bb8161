"""Plays scenarios on a running instance, once or until it is stopped."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import replace

from httpx import HTTPError
from temporalio.service import RPCError

from pressbox.core.contracts import Contract
from pressbox.core.errors import InvalidInputError, TransientError
from pressbox.demo.scenarios import ON_REQUEST, SCENARIOS
from pressbox.demo.stage import Finding, Scenario, Stage

PAUSE_SECONDS = 10.0


class Summary(Contract):
    """The findings of one round."""

    findings: tuple[Finding, ...]

    @property
    def met(self) -> bool:
        return all(finding.met for finding in self.findings)


def choose_scenarios(names: Sequence[str]) -> tuple[Scenario, ...]:
    """Choose the named scenarios, or all that go together."""
    known = {scenario.name: scenario for scenario in (*SCENARIOS, *ON_REQUEST)}
    unknown = [name for name in names if name not in known]
    if unknown:
        raise InvalidInputError(f"No scenario {', '.join(unknown)}. There are: {', '.join(known)}.", field="only")
    if {"goal", "footy"} <= set(names):
        raise InvalidInputError("The scenarios goal and footy have one fixtures API. Play one of them.", field="only")
    return tuple(known[name] for name in names) if names else SCENARIOS


async def play_once(stage: Stage, scenarios: Sequence[Scenario]) -> Summary:
    """Play all scenarios at the same time, to their end."""
    results = await asyncio.gather(*(scenario.play(stage) for scenario in scenarios))
    return Summary(findings=tuple(finding for result in results for finding in result))


async def play_forever(stage: Stage, scenarios: Sequence[Scenario], *, say: Callable[[str], None]) -> None:
    """Play round after round until cancelled. A part that is down only interrupts a round."""
    while True:
        _raise_if_cancelled()
        try:
            summary = await play_once(stage, scenarios)
            say(describe_round(stage.round, summary))
        except (RPCError, HTTPError, TransientError, TimeoutError) as error:
            _raise_if_cancelled()
            say(f"Round {stage.round} was interrupted: {error}")
        stage = replace(stage, round=stage.round + 1)
        await asyncio.sleep(PAUSE_SECONDS / stage.speed)


def describe_round(number: int, summary: Summary) -> str:
    missed = [finding for finding in summary.findings if not finding.met]
    if not missed:
        return f"Round {number}: as expected"
    told = ", ".join(f"{finding.name} {finding.found} (expected {finding.expected})" for finding in missed)
    return f"Round {number}: differently than planned, as when the machine is busy: {told}"


def _raise_if_cancelled() -> None:
    """A cancellation that meets a request can come back as the request's error or answer, and would be lost."""
    task = asyncio.current_task()
    if task is not None and task.cancelling():
        raise asyncio.CancelledError
