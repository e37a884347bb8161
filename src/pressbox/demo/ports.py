"""What the demo world needs from outside."""

from typing import Protocol


class Marks(Protocol):
    """A place where each step of toy work leaves a mark, so that a lost or a repeated step is seen."""

    async def leave(self, workflow_id: str, step: int) -> None:
        """Leave the mark of this step. Repeating it changes nothing."""
        ...
