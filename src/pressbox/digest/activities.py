"""The one effect of digests: write and send a page of those that are due."""

from typing import Protocol

from temporalio import activity

from pressbox.core.temporal.calls import call_with
from pressbox.core.temporal.heartbeat import Heartbeat
from pressbox.core.temporal.options import LONG
from pressbox.digest.contracts import DigestPage, DigestPageInput


class Desk(Protocol):
    """Writes digests. A port, so that a workflow can import this without a database."""

    async def send_page(self, owner: str, limit: int) -> DigestPage:
        """Claim at most so many that are due and send them. Who has the same `owner` takes over what an earlier
        attempt had claimed.
        """
        ...


class DigestActivities:
    def __init__(self, desk: Desk) -> None:
        self._desk = desk

    @activity.defn
    @call_with(LONG)
    async def send_due_digests(self, input: DigestPageInput) -> DigestPage:
        """Each person's is one transaction: a killed attempt leaves the others for the next one."""
        info = activity.info()
        async with Heartbeat():
            return await self._desk.send_page(f"{info.workflow_run_id}/{info.activity_id}", input.limit)
