"""How a simulated service behaves: well, slowly, busily, wrongly. Any simulator can be told, per path or address."""

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
    """`times` requests are treated so, those after them well; None: all of them."""

    kind: Kind = Kind.GOOD
    seconds: float = 0.0
    times: int | None = None


GOOD = Behaviour()


class Behaviours:
    """What was told, by key; the empty key is for everybody who has none of their own."""

    def __init__(self) -> None:
        self._told: dict[str, Behaviour] = {}

    def tell(self, key: str, behaviour: Behaviour) -> None:
        self._told[key] = behaviour

    def told(self) -> Mapping[str, Behaviour]:
        return dict(self._told)

    async def take(self, key: str) -> Behaviour:
        """The behaviour for the next request. The waiting of a slow one is over when this returns."""
        chosen = key if key in self._told else ""
        behaviour = self._told.get(chosen, GOOD)
        if behaviour.times is not None:
            left = behaviour.times - 1
            self._told[chosen] = behaviour.model_copy(update={"times": left}) if left > 0 else GOOD
        if behaviour.kind is Kind.SLOW:
            await asyncio.sleep(behaviour.seconds)
        return behaviour
