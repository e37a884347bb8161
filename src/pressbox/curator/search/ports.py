"""What the search index, embedding and retrieval need, and whether an index is the one that the database knows."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Protocol

from pressbox.core.errors import TransientError
from pressbox.curator.search.contracts import EmbeddingSelection
from pressbox.curator.search.domain.passages import Passage


class DamagedIndexError(TransientError):
    """What is on disk cannot be read as an index of this version."""


class IndexCondition(StrEnum):
    EMPTY = "empty"
    GOOD = "good"
    # It is being rebuilt and searched meanwhile.
    INCOMPLETE = "incomplete"
    MISSING = "missing"
    # Of another database, or older or newer than what the database knows: one of the two was restored or replaced.
    FOREIGN = "foreign"

    @property
    def usable(self) -> bool:
        return self in (IndexCondition.EMPTY, IndexCondition.GOOD, IndexCondition.INCOMPLETE)


@dataclass(frozen=True)
class KnownIndex:
    """The index as the database knows it. `generation` is empty when an index is known to exist, but not which."""

    generation: str
    commit_number: int
    # A write had begun and its end was not recorded.
    writing: bool
    complete: bool


@dataclass(frozen=True)
class FoundIndex:
    """The index on disk: its generation, and the number of its last commit, which only grows."""

    generation: str
    commit_number: int


def compare_generations(known: KnownIndex | None, found: FoundIndex | None) -> IndexCondition:
    """Compare as a reader does, for whom the writer may be a commit ahead."""
    if known is None:
        # Ids of another database would show its articles under the names of ours.
        return IndexCondition.EMPTY if found is None else IndexCondition.FOREIGN
    if found is None:
        return IndexCondition.MISSING
    if known.generation not in ("", found.generation):
        return IndexCondition.FOREIGN
    return IndexCondition.GOOD if known.complete else IndexCondition.INCOMPLETE


def compare_commits(known: KnownIndex | None, found: FoundIndex | None) -> IndexCondition:
    """Compare as the only writer does, who knows which commit was the last."""
    condition = compare_generations(known, found)
    if known is None or found is None or not condition.usable or not known.generation:
        return condition
    is_expected = found.commit_number == known.commit_number or (
        known.writing and found.commit_number > known.commit_number
    )
    return condition if is_expected else IndexCondition.FOREIGN


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
    """The full-text index. Only the index queue writes; an index on disk from one process at a time."""

    async def add(self, documents: Iterable[IndexDocument], generation: str = "") -> None: ...

    async def remove(self, entry_ids: Iterable[int]) -> None: ...

    async def begin_generation(self) -> str: ...

    async def swap(self, generation: str) -> None: ...

    async def document_ids(self, after: int, limit: int) -> Sequence[int]: ...

    async def find(self) -> FoundIndex | None:
        """Return which index there is; raise TransientError when it cannot be read."""
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


@dataclass(frozen=True)
class SearchScope:
    """What to search for, and among which feeds or entries: None is all of them. By relevance, or the newest first."""

    query: str
    feed_ids: Sequence[int] | None = None
    entry_ids: Sequence[int] | None = None
    newest_first: bool = False

    @property
    def is_empty(self) -> bool:
        return any(numbers is not None and not numbers for numbers in (self.feed_ids, self.entry_ids))


@dataclass(frozen=True)
class Ranking:
    """The first entries that a search found, in its order, and the number of all; with `typos`, also by near words."""

    scope: SearchScope
    entry_ids: Sequence[int]
    total: int
    typos: bool = False


class SearchReader(Protocol):
    async def rank(self, scope: SearchScope, limit: int) -> Ranking:
        """Find entries without their texts: many are as cheap as a few."""
        ...

    async def show(self, ranking: Ranking, entry_ids: Sequence[int]) -> Sequence[Hit]:
        """Return some entries of a ranking with what they are shown with, in this order."""
        ...

    async def search(self, scope: SearchScope, limit: int, offset: int = 0) -> tuple[Sequence[Hit], int]:
        """Return a page of hits and the number of all hits."""
        ...


class IndexReader(SearchReader, Protocol):
    """What an implementation of the index offers: searching, and saying which one it is."""

    async def search_any(self, terms: Sequence[str], feed_ids: Sequence[int], limit: int) -> Sequence[int]:
        """Return entries that have some of these terms, best first. For questions, which are not typed as queries."""
        ...

    async def find(self) -> FoundIndex | None: ...


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

    async def lacks_vectors(self, model: str) -> bool:
        """Whether an entry lacks its vector, without looking at those that have one."""
        ...

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
        self, user_id: int, question: str, *, entry_id: int | None = None, limit: int = 8, relevant_only: bool = False
    ) -> Sequence[Passage]:
        """Return the best passages of what the person reads; with `entry_id`, only of that entry.

        `relevant_only` stops where they no longer speak of the question: a model passes over such passages, people
        read them.
        """
        ...
