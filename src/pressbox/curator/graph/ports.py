"""The graph of entities: what update and rebuild write, and what pages, asking and research read of it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from pressbox.curator.context.domain.context import EntryContext
from pressbox.curator.context.ports import ContextSource
from pressbox.curator.graph.domain import EntityView, GraphState, MentionedEntity


class GraphPages(Protocol):
    """The graph as one person sees it: without an entry of theirs behind it, a node or edge does not exist."""

    async def entities(self, user_id: int, words: str, limit: int) -> Sequence[MentionedEntity]:
        """Those whose name holds these words; without words those that the newest entries name most."""
        ...

    async def entity(self, user_id: int, key: str, neighbours: int) -> EntityView: ...

    async def state(self, user_id: int) -> GraphState: ...


@dataclass(frozen=True)
class GraphDocument:
    """An entry for the graph. `context` is there when the graph wants it."""

    source: ContextSource
    context: EntryContext | None = None


@dataclass(frozen=True)
class Addition:
    """What became of one entry: in, by this text, or not, and why."""

    entry_id: int
    content_hash: str
    reason: str = ""


class Graph(Protocol):
    """Where the graph is kept. Generations are numbers: 0 is whatever is read now."""

    @property
    def wants_contexts(self) -> bool:
        """Whether it is made of contexts; otherwise it reads the text itself."""
        ...

    async def add(self, documents: Sequence[GraphDocument], generation: int = 0) -> Sequence[Addition]:
        """What an entry said before is replaced. One that is gone or has another text by now is left out.

        Without a generation it goes into the one that is read, and into one that is being built aside.
        """
        ...

    async def begin_generation(self) -> int:
        """An empty one beside that which is read. One that was begun earlier and never read is given up."""
        ...

    async def swap(self, generation: int) -> None:
        """Read this one from now on. Once more does nothing."""
        ...

    async def prune(self) -> int:
        """Remove what no entry says any more; the number of nodes and edges."""
        ...


@dataclass(frozen=True)
class Waiting:
    entry_id: int
    title: str


class GraphQueue(Protocol):
    """Which entries the graph lacks, by state."""

    async def find_pending(
        self, entry_ids: Sequence[int], after_entry_id: int, limit: int, *, failed: bool
    ) -> Sequence[Waiting]:
        """With a text that is not in; those of these, or any. `failed`: those that could not be added too."""
        ...

    async def find_missing(self, entry_ids: Sequence[int]) -> Sequence[int]:
        """Those of these whose present text is not in the graph."""
        ...

    async def mark_added(self, hashes: Mapping[int, str], now: datetime) -> Sequence[int]:
        """By entry, the hash of the text that is in. One that has another text by now stays pending."""
        ...

    async def mark_failed(self, failures: Sequence[Addition]) -> None:
        """They are not tried again by themselves until their text changes, and shown until then."""
        ...


class GraphWork(Protocol):
    """Starting what works on the graph; each gives the id of its workflow."""

    async def update(self, batch_size: int) -> str: ...

    async def rebuild(self, batch_size: int, clean: bool) -> str: ...
