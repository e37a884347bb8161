"""How activities start and signal workflows."""

from collections.abc import Sequence
from typing import Protocol

from pressbox.footy.contracts.download import Batch
from pressbox.footy.domain.policy import FootyPolicy


class Workflows(Protocol):
    """Starts and signals footy's workflows."""

    async def add_videos(self, fixture_id: int, event_id: str, batch: Batch, policy: FootyPolicy) -> None:
        """Signal-with-start the upload of this goal."""
        ...

    async def find_running(self, workflow_ids: Sequence[str]) -> Sequence[str]:
        """Find those that are running now."""
        ...

    async def start_ingest(self, fixture_ids: Sequence[int]) -> str: ...

    async def start_monitor(self) -> str: ...

    async def refresh_aliases(self, team_id: int) -> str: ...
