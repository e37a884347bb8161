"""What the search index, embedding and retrieval need."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from pressbox.curator.search.contracts import EmbeddingSelection
from pressbox.curator.search.domain.identity import FoundIndex, KnownIndex
from pressbox.curator.search.domain.passages import Passage


class Embedder(Protocol):
    @property
    def model(self) -> str: ...

    async def embed(self, texts: Sequence[str]) -> Sequence[Sequence[float]]: ...


@dataclass(frozen=True)
class IndexDocument:
    entry_id: int
    feed_id: int
    title: str
    summary: str
    filtered_content: str
    feed_content: str
    author: str
    published_at: datetime
    # Given to `mark_indexed`: an entry that changes meanwhile is still to be indexed.
    shown_hash: str = ""


class SearchIndex(Protocol):
    """The full-text index. Only the index queue writes, from one process."""

    async def add(self, documents: Iterable[IndexDocument], generation: str = "") -> None: ...

    async def remove(self, entry_ids: Iterable[int]) -> None: ...

    async def begin_generation(self) -> str: ...

    async def swap(self, generation: str) -> None: ...

    async def document_ids(self, after: int, limit: int) -> Sequence[int]: ...

    async def find(self) -> FoundIndex | None:
        """Return which index is on disk; raise TransientError when it cannot be read."""
        ...


class IndexRebuild(Protocol):
    async def start(self) -> None:
        """Rebuild the index beside the one in use, unless that is being done."""
        ...


@dataclass(frozen=True)
class Hit:
    entry_id: int
    score: float
    title_html: str
    snippet_html: str


class SearchReader(Protocol):
    async def search(
        self,
        query: str,
        feed_ids: Sequence[int] | None,
        limit: int,
        offset: int,
        newest_first: bool,
        entry_ids: Sequence[int] | None = None,
    ) -> tuple[Sequence[Hit], int]: ...


class IndexStore(Protocol):
    """The documents of the search index as the database has them, and which of them are out of date."""

    async def load_documents(self, entry_ids: Sequence[int]) -> Sequence[IndexDocument]: ...

    async def ids_after(self, after_entry_id: int, limit: int) -> Sequence[int]:
        """Return the ids of all entries after this one, in ascending order."""
        ...

    async def unindexed_ids(self, limit: int) -> Sequence[int]:
        """Return entries whose document is missing or out of date."""
        ...

    async def mark_indexed(self, hashes: Mapping[int, str]) -> None:
        """Record, by entry, the `shown_hash` of the document that is in the index."""
        ...

    async def known_index(self) -> KnownIndex | None: ...

    async def begin_index_write(self) -> None:
        """Record that the index on disk may soon be ahead of what is known of it."""
        ...

    async def record_index(self, found: FoundIndex | None, *, complete: bool | None = None) -> None:
        """Record which index is on disk, and that it is as it should be."""
        ...

    async def index_check_is_due(self) -> bool:
        """Whether the index was not compared with what is known for a while, or somebody doubts it."""
        ...

    async def removed_ids(self, limit: int) -> Sequence[int]:
        """Return removed entries whose documents may still be in the index."""
        ...

    async def forget_removed(self, entry_ids: Sequence[int]) -> None:
        """Record that their documents are gone too."""
        ...

    async def existing_ids(self, entry_ids: Sequence[int]) -> frozenset[int]: ...


class EmbeddingStore(Protocol):
    """Vectors of entries, and the entries that lack one of the present model."""

    async def select_for_embedding(self, model: str, after_entry_id: int, limit: int) -> EmbeddingSelection: ...

    async def load_texts(self, entry_ids: Sequence[int]) -> Mapping[int, str]: ...

    async def save_embeddings(self, model: str, vectors: Mapping[int, Sequence[float]]) -> int: ...


class GraphReader(Protocol):
    """The graph of entities, as retrieval sees it."""

    async def entries_near(self, user_id: int, words: str, limit: int) -> Sequence[int]:
        """Entries of the person's feeds that say something about the entities in these words, best first."""
        ...


class Retriever(Protocol):
    async def find(
        self, user_id: int, question: str, *, entry_id: int | None = None, limit: int = 8
    ) -> Sequence[Passage]:
        """Return the best passages of what the person reads; with `entry_id`, only of that entry."""
        ...
