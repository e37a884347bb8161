"""How a simulated service behaves: well, slowly, busily or wrongly. It can be set per path or address."""

import asyncio
from collections.abc import Mapping
from enum import StrEnum

from pressbox.core.contracts import Contract


class Kind(StrEnum):
    """GOOD: takes everything. SLOW: takes it after `seconds`. BUSY: 429, with Retry-After when `seconds` is set.
    FAILING: 500. GONE: 410. RESET: receives all, then breaks the connection. HANGING: receives all, never answers.
    """

    GOOD = "good"
    SLOW = "slow"
    BUSY = "busy"
    FAILING = "failing"
    GONE = "gone"
    RESET = "reset"
    HANGING = "hanging"


class Behaviour(Contract):
    """Applies to the next `times` requests, or to all of them if None."""

    kind: Kind = Kind.GOOD
    seconds: float = 0.0
    times: int | None = None


GOOD = Behaviour()


class Behaviours:
    """Behaviours by key; the empty key is for everybody without one."""

    def __init__(self) -> None:
        self._by_key: dict[str, Behaviour] = {}

    def tell(self, key: str, behaviour: Behaviour) -> None:
        self._by_key[key] = behaviour

    def list(self) -> Mapping[str, Behaviour]:
        return dict(self._by_key)

    async def take(self, key: str) -> Behaviour:
        """The behaviour for the next request; waits here if it is slow."""
        chosen = key if key in self._by_key else ""
        behaviour = self._by_key.get(chosen, GOOD)
        if behaviour.times is not None:
            left = behaviour.times - 1
            self._by_key[chosen] = behaviour.model_copy(update={"times": left}) if left > 0 else GOOD
        if behaviour.kind is Kind.SLOW:
            await asyncio.sleep(behaviour.seconds)
        return behaviour
