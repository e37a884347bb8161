"""What context workflows were started, without a Temporal that would run them."""

from collections.abc import Sequence
from dataclasses import dataclass, field


@dataclass
class StartedContexts:
    """What was started."""

    calls: list[tuple[object, ...]] = field(default_factory=list)

    async def extract(self, entry_id: int, again: bool) -> str:
        return self._note("extract", entry_id, again)

    async def collect(self, entry_ids: Sequence[int], again: bool) -> str:
        return self._note("collect", tuple(entry_ids), again)

    async def fetch_links(self, entry_id: int, urls: Sequence[str]) -> str:
        return self._note("fetch", entry_id, tuple(urls))

    async def delete_enrichment(self, enrichment_id: int) -> str:
        return self._note("delete", enrichment_id)

    def _note(self, *call: object) -> str:
        self.calls.append(call)
        return "started"
