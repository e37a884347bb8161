"""Writes the search index: only the worker of the queue `curator-index` does."""

import asyncio
import threading
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from pressbox.core.errors import ConflictError
from pressbox.core.logs import get_logger
from pressbox.curator.search.index.folder import ID, IndexFolder, build_document, build_schema, map_errors
from pressbox.curator.search.ports import FoundIndex, IndexDocument

if TYPE_CHECKING:
    import tantivy

log = get_logger(__name__)

# tantivy needs at least 15 MB; more would help only larger commits than ours.
WRITER_MEMORY = 50_000_000


class TantivyIndex:
    """Opens the index for each change and closes it again: an idle worker holds no lock, memory or thread.

    Every change is one commit. When the process dies in the middle, the last commit stays, and the operating system
    releases the lock.
    """

    def __init__(self, path: Path) -> None:
        self._folder = IndexFolder(path)
        # The thread of a cancelled activity may still be writing.
        self._writing = threading.Lock()

    async def add(self, documents: Iterable[IndexDocument], generation: str = "") -> None:
        """Add or replace documents; without a generation, in all that are in use."""
        await asyncio.to_thread(self._add, tuple(documents), generation)

    async def remove(self, entry_ids: Iterable[int]) -> None:
        await asyncio.to_thread(self._remove, tuple(entry_ids))

    async def begin_generation(self) -> str:
        return await asyncio.to_thread(self._begin)

    async def swap(self, generation: str) -> None:
        """Use this generation from now on. A second call changes nothing."""
        await asyncio.to_thread(self._swap, generation)

    async def document_ids(self, after: int, limit: int) -> Sequence[int]:
        """Return the ids above `after`, in ascending order."""
        return await asyncio.to_thread(self._document_ids, after, limit)

    async def find(self) -> FoundIndex | None:
        """Return which index is on disk, after a look whether it can be read."""
        return await asyncio.to_thread(self._find)

    def _find(self) -> FoundIndex | None:
        import tantivy

        found = self._folder.find()
        if found is not None:
            with map_errors():
                index = tantivy.Index.open(str(self._folder.generation(found.generation)))
                index.searcher().search(tantivy.Query.all_query(), 1, count=True)
        return found

    def _add(self, documents: Sequence[IndexDocument], generation: str) -> None:
        if not documents:
            return
        prepared = [(document.entry_id, build_document(document)) for document in documents]

        def change(writer: "tantivy.IndexWriter") -> None:
            for entry_id, document in prepared:
                writer.delete_documents_by_term(ID, entry_id)
                writer.add_document(document)

        with self._writing:
            if generation:
                self._require(generation)
            for name in (generation,) if generation else self._in_use():
                self._commit(name, change)

    def _remove(self, entry_ids: Sequence[int]) -> None:
        def change(writer: "tantivy.IndexWriter") -> None:
            for entry_id in entry_ids:
                writer.delete_documents_by_term(ID, entry_id)

        with self._writing:
            if entry_ids and self._folder.current() is not None:
                for name in self._in_use():
                    self._commit(name, change)

    def _begin(self) -> str:
        with self._writing:
            name = self._folder.begin_build()
            with map_errors():
                _open(self._folder.generation(name))
        log.info("index_generation_begun", msg="A new search index is being built", generation=name)
        return name

    def _swap(self, generation: str) -> None:
        with self._writing:
            if self._folder.current() == generation:
                return
            self._require(generation)
            self._folder.switch_to(generation)
        log.info("index_generation_searched", msg="The new search index is in use", generation=generation)

    def _require(self, generation: str) -> None:
        if not self._folder.generation(generation).is_dir():
            raise ConflictError(f"The search index {generation} no longer exists; another one was built meanwhile.")

    def _document_ids(self, after: int, limit: int) -> Sequence[int]:
        import tantivy

        name = self._folder.current()
        if name is None:
            return ()
        with map_errors():
            index = _open(self._folder.open_generation(name))
            index.reload()
            above = tantivy.Query.range_query(
                index.schema, ID, tantivy.FieldType.Integer, lower_bound=after, include_lower=False
            )
            found = index.searcher().search(above, limit, count=False, order_by_field=ID, order=tantivy.Order.Asc)
            return tuple(int(entry_id) for entry_id, _ in found.hits)

    def _in_use(self) -> Sequence[str]:
        """Return the generation in use and the one being built: a change during a rebuild goes into both."""
        current = self._folder.current()
        if current is None:
            current = self._folder.create()
            # A reader that follows the pointer must find an index.
            with map_errors():
                _open(self._folder.generation(current))
            self._folder.switch_to(current)
        building = self._folder.building()
        return (current,) if building is None else (current, building)

    def _commit(self, name: str, change: "Callable[[tantivy.IndexWriter], None]") -> None:
        with map_errors():
            writer = _open(self._folder.open_generation(name)).writer(WRITER_MEMORY, 1)
            try:
                change(writer)
                writer.commit()
            finally:
                # Ends its threads and releases the lock; what was not committed is dropped.
                writer.wait_merging_threads()


def _open(path: Path) -> "tantivy.Index":
    import tantivy

    return tantivy.Index(build_schema(), path=str(path))
