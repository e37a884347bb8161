"""How activities start and signal workflows."""

from collections.abc import Sequence
from typing import Protocol

from pressbox.footy.contracts.download import Batch, DownloadWorkflowInput
from pressbox.footy.domain.policy import FootyPolicy


class FollowedFetch(Protocol):
    """Fetches the matches of what is followed."""

    async def fetch_followed(self) -> str:
        """Fetch the coming days for what is followed now; a run that is under way does so again at its end."""
        ...


class Workflows(Protocol):
    """Starts and signals footy's workflows."""

    async def add_videos(self, fixture_id: int, event_id: str, batch: Batch, policy: FootyPolicy) -> None:
        """Signal-with-start the upload of this goal."""
        ...

    async def start_download(self, input: DownloadWorkflowInput) -> None:
        """Start the download of one attempt; once, however often it is asked for."""
        ...

    async def find_running(self, workflow_ids: Sequence[str]) -> Sequence[str]:
        """Find those that are running now."""
        ...

    async def start_ingest(self, fixture_ids: Sequence[int]) -> str: ...

    async def start_monitor(self) -> str: ...

    async def refresh_aliases(self, team_id: int) -> str: ...


class PollPace(Protocol):
    """How often the schedule polls: seldom while no match is on. What a person chose or paused stays."""

    async def rest(self) -> None: ...

    async def hasten(self) -> None: ...
