"""Plays scenarios on a running instance, once or for as long as somebody watches."""

import asyncio
from collections.abc import Callable, Sequence

from temporalio.service import RPCError

from pressbox.core.app import Resources
from pressbox.core.contracts import Contract
from pressbox.core.errors import InvalidInputError, TransientError
from pressbox.demo.scenarios import SCENARIOS, Finding, Scenario, Stage

PAUSE_SECONDS = 10.0


class Summary(Contract):
    """What one round came to."""

    findings: tuple[Finding, ...]

    @property
    def met(self) -> bool:
        return all(finding.met for finding in self.findings)


def chosen(names: Sequence[str]) -> tuple[Scenario, ...]:
    """The named scenarios, or all."""
    known = {scenario.name: scenario for scenario in SCENARIOS}
    unknown = [name for name in names if name not in known]
    if unknown:
        raise InvalidInputError(f"No scenario {', '.join(unknown)}. There are: {', '.join(known)}.", field="only")
    return tuple(known[name] for name in names) if names else SCENARIOS


async def play_once(resources: Resources, scenarios: Sequence[Scenario], *, speed: float, round: int = 1) -> Summary:
    """All scenarios side by side, to their end."""
    stage = Stage(resources, speed, round)
    results = await asyncio.gather(*(scenario.play(stage) for scenario in scenarios))
    return Summary(findings=tuple(finding for result in results for finding in result))


async def play_on(
    resources: Resources, scenarios: Sequence[Scenario], *, speed: float, say: Callable[[str], None]
) -> None:
    """Round after round until cancelled. A part that is away only makes the show pause."""
    round = 1
    while True:
        try:
            summary = await play_once(resources, scenarios, speed=speed, round=round)
            say(f"Round {round}: {'as expected' if summary.met else 'not as expected'}")
        except (RPCError, TransientError, TimeoutError) as error:
            say(f"Round {round} was interrupted: {error}")
        round += 1
        await asyncio.sleep(PAUSE_SECONDS / speed)
