"""Temporary files on the worker's disk. What outlives an activity lies in the object store."""

import asyncio
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from pathlib import Path

from temporalio import activity

from pressbox.core.objects.store import ObjectStore
from pressbox.core.scratch import ScratchFolder
from pressbox.core.temporal.heartbeat import Heartbeat
from pressbox.footy.contracts.download import FramesRead, Video
from pressbox.footy.ids import scratch_key

VIDEO = "video"
FINGERPRINT = "fingerprint"


@asynccontextmanager
async def working_folder() -> AsyncIterator[Path]:
    """A temporary folder that is deleted with its content at the end."""
    folder = await asyncio.to_thread(ScratchFolder, "pressbox-footy-")
    try:
        yield folder.path
    finally:
        await asyncio.to_thread(folder.remove)


@asynccontextmanager
async def local_copy(objects: ObjectStore, key: str) -> AsyncIterator[Path]:
    async with working_folder() as folder:
        path = folder / "clip"
        file = await asyncio.to_thread(path.open, "wb")
        try:
            async for piece in objects.stream(key):
                await asyncio.to_thread(file.write, piece)
        finally:
            await asyncio.to_thread(file.close)
        yield path


class FrameHeartbeat(Heartbeat):
    """Heartbeats with the number of frames that were read, from the file that the media process writes."""

    def __init__(self, progress: Path, *, every_seconds: float = 5.0) -> None:
        super().__init__(every_seconds=every_seconds)
        self.progress = progress

    def _beat(self) -> None:
        activity.heartbeat(FramesRead(frames=self._count()))

    def _count(self) -> int:
        try:
            return int(self.progress.read_text() or 0)
        # The process has not begun, or is just writing.
        except (OSError, ValueError):
            return 0


async def load_fingerprint(objects: ObjectStore, video: Video) -> bytes | None:
    return await objects.get(video.fingerprint_key) if video.fingerprint_key else None


async def remove_scratch(objects: ObjectStore, fixture_id: int, event_id: str, candidate_ids: Iterable[int]) -> None:
    for candidate_id in candidate_ids:
        for suffix in (VIDEO, FINGERPRINT):
            await objects.delete(scratch_key(fixture_id, event_id, candidate_id, suffix))
