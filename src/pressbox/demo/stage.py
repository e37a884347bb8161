"""What all scenarios of the demo share: what they play on, and what they report."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import timedelta

from pressbox.core.app import Resources
from pressbox.core.contracts import Contract
from pressbox.demo.world import World


class Finding(Contract):
    """One figure, with the one that the script expects."""

    name: str
    expected: int
    found: int

    @property
    def met(self) -> bool:
        return self.expected == self.found


@dataclass(frozen=True)
class Stage:
    """What a scenario needs. Times are divided by `speed`."""

    resources: Resources
    speed: float
    round: int
    world: World
    web_url: str

    def time(self, seconds: float) -> timedelta:
        return timedelta(seconds=seconds / self.speed)


@dataclass(frozen=True)
class Scenario:
    name: str
    summary: str
    play: Callable[[Stage], Awaitable[tuple[Finding, ...]]]
