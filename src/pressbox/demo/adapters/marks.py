"""Marks as objects: one object per step."""

from pressbox.core.objects.store import ObjectStore
from pressbox.demo.ids import MARKS_PREFIX


class ObjectMarks:
    def __init__(self, objects: ObjectStore) -> None:
        self._objects = objects

    async def leave(self, workflow_id: str, step: int) -> None:
        await self._objects.put(f"{MARKS_PREFIX}{workflow_id}/{step}", b"done")
