"""Lanes of sending in memory."""

import time
from collections.abc import Collection

from pressbox.delivery.adapters.send_lanes import Decide
from pressbox.delivery.domain.pacing import LaneState


class MemoryLanes:
    def __init__(self) -> None:
        self.states: dict[str, LaneState] = {}

    async def change(self, names: Collection[str], paced: Collection[str], decide: Decide) -> None:
        found = {name: self.states[name] for name in names if name in self.states}
        self.states |= decide(found, time.time())
