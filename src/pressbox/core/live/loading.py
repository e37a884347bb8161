"""Loads what changed, many things at a time and once for all listeners.

A message says how a thing looked after a change. Until the thing changes again it stays true, so whoever asks for the
same change gets the message that was made for the first.
"""

import asyncio
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from pressbox.core.app import LiveTopic, Resources
from pressbox.core.audiences.contracts import Audience
from pressbox.core.live.admission import find_audiences
from pressbox.core.live.messages import Change, Message, change_event

# Things that one question to the database names.
LOAD_TOGETHER = 100
MOST_KEPT_BYTES = 16_000_000


class MessageLoader:
    def __init__(
        self, resources: Resources, topics: Mapping[str, LiveTopic], most_bytes: int = MOST_KEPT_BYTES
    ) -> None:
        self._resources = resources
        self._topics = topics
        self._most_bytes = most_bytes
        self._kept: dict[tuple[str, str], Message] = {}
        self._kept_bytes = 0
        # One load at a time: a crowd that asks for the same waits for the first, and the rest of the pool is free.
        self._turn = asyncio.Lock()

    async def load(self, changes: Sequence[Change]) -> list[Message]:
        """The messages of these changes, in their order. Give at most `LOAD_TOGETHER` at a time."""
        found = self._find(changes)
        if len(found) < len(changes):
            async with self._turn:
                found |= self._find(change for change in changes if change not in found)
                found |= await self._ask([change for change in changes if change not in found])
        return [found[change] for change in changes]

    def _find(self, changes: Iterable[Change]) -> dict[Change, Message]:
        found = {}
        for change in changes:
            message = self._kept.get((change.kind, change.key))
            # A message of a later change would make the listener skip what lies between.
            if message is not None and message.id == change.id:
                found[change] = message
        return found

    async def _ask(self, changes: Sequence[Change]) -> dict[Change, Message]:
        keys: dict[str, list[str]] = defaultdict(list)
        for change in changes:
            keys[change.kind].append(change.key)
        items = {kind: await self._topics[kind].load_many(self._resources, asked) for kind, asked in keys.items()}
        async with self._resources.database.unit_of_work() as work:
            audiences = {kind: await find_audiences(work, self._topics[kind], asked) for kind, asked in keys.items()}
        made = {
            change: self._make(change, items[change.kind].get(change.key), audiences[change.kind].get(change.key))
            for change in changes
        }
        for message in made.values():
            self._keep(message)
        return made

    def _make(self, change: Change, item: Mapping[str, Any] | None, audience: Audience | None) -> Message:
        outline, outlined = self._topics[change.kind].outline, None
        if outline is not None:
            outlined = change_event(change, outline(item) if item is not None else None)
        return Message(*change, change_event(change, item), audience, outlined)

    def _keep(self, message: Message) -> None:
        place = (message.kind, message.key)
        earlier = self._kept.get(place)
        if earlier is not None:
            if earlier.id > message.id:
                return
            self._kept_bytes -= _size(earlier)
            del self._kept[place]
        self._kept[place] = message
        self._kept_bytes += _size(message)
        while self._kept_bytes > self._most_bytes:
            self._kept_bytes -= _size(self._kept.pop(next(iter(self._kept))))


def _size(message: Message) -> int:
    return len(message.wire) + len(message.outline or b"")
