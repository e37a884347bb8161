"""Old scratch objects in the object store."""

from collections.abc import AsyncIterator
from datetime import datetime

from pressbox.core.objects.store import ObjectStore

SCRATCH_PREFIX = "scratch/"


class ObjectScratch:
    def __init__(self, objects: ObjectStore) -> None:
        self._objects = objects

    async def older_than(self, before: datetime) -> AsyncIterator[str]:
        async for item in self._objects.list(SCRATCH_PREFIX):
            if item.modified_at < before:
                yield item.key

    async def remove(self, key: str) -> None:
        await self._objects.delete(key)

    async def remove_unfinished(self, before: datetime) -> int:
        return await self._objects.remove_unfinished(before)
