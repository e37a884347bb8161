"""What the service needs to start work."""

from collections.abc import Sequence
from typing import Protocol

from pressbox.footy.contracts.download import Batch
from pressbox.footy.domain.policy import FootyPolicy


class Workflows(Protocol):
    """Starting and messaging workflows from activities and the service."""

    async def add_videos(self, fixture_id: int, event_id: str, batch: Batch, policy: FootyPolicy) -> None:
        """Signal-with-start the upload of this goal."""
        ...

    async def find_running(self, workflow_ids: Sequence[str]) -> Sequence[str]:
        """Those of them that run now."""
        ...

    async def start_ingest(self, fixture_ids: Sequence[int]) -> str: ...

    async def start_monitor(self) -> str: ...

    async def refresh_aliases(self, team_id: int) -> str: ...
