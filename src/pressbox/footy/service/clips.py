"""The files behind the share links of clips."""

from pressbox.footy.domain.views import ClipFileView
from pressbox.footy.service.stores import ClipFileStore


class ClipService:
    def __init__(self, clips: ClipFileStore) -> None:
        self._clips = clips

    async def file(self, share_id: str) -> ClipFileView:
        """The best copy of a scene at this moment; a GoneError when the goal was disallowed."""
        return await self._clips.file(share_id)
