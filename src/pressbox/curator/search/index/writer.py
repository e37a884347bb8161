"""The search index as its one writer sees it: the worker of the queue `curator-index`."""

import asyncio
import threading
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from pressbox.core.errors import ConflictError
from pressbox.core.logs import get_logger
from pressbox.curator.search.index.errors import index_trouble
from pressbox.curator.search.index.folder import IndexFolder
from pressbox.curator.search.index.schema import ID, schema, to_tantivy
from pressbox.curator.search.ports import IndexDocument

if TYPE_CHECKING:
    import tantivy

log = get_logger(__name__)

# The least that tantivy takes is 15 MB; more only helps one commit that is larger than ours.
WRITER_MEMORY = 50_000_000


class TantivyIndex:
    """Opened for each change and closed again: an idle worker holds no lock, no memory and no thread of it.

    Every change is one commit. A process that dies in the middle leaves the last commit, and the operating system takes
    its lock away.
    """

    def __init__(self, path: Path) -> None:
        self._folder = IndexFolder(path)
        # A thread whose activity was cancelled may still be writing.
        self._writing = threading.Lock()

    async def add(self, documents: Iterable[IndexDocument], generation: str = "") -> None:
        """Put them in, in place of what was there under their ids. Without `generation` into all that are in use."""
        await asyncio.to_thread(self._add, tuple(documents), generation)

    async def remove(self, entry_ids: Iterable[int]) -> None:
        await asyncio.to_thread(self._remove, tuple(entry_ids))

    async def begin_generation(self) -> str:
        return await asyncio.to_thread(self._begin)

    async def swap(self, generation: str) -> None:
        """Search this generation from now on. A second time changes nothing."""
        await asyncio.to_thread(self._swap, generation)

    async def document_ids(self, after: int, limit: int) -> Sequence[int]:
        """Ids in the index above `after`, in ascending order."""
        return await asyncio.to_thread(self._document_ids, after, limit)

    def _add(self, documents: Sequence[IndexDocument], generation: str) -> None:
        if not documents:
            return
        prepared = [(document.entry_id, to_tantivy(document)) for document in documents]

        def change(writer: "tantivy.IndexWriter") -> None:
            for entry_id, document in prepared:
                writer.delete_documents_by_term(ID, entry_id)
                writer.add_document(document)

        with self._writing:
            if generation:
                self._demand(generation)
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
            name = self._folder.begin()
            with index_trouble():
                _open(self._folder.generation(name))
        log.info("index_generation_begun", msg="A new search index is built aside", generation=name)
        return name

    def _swap(self, generation: str) -> None:
        with self._writing:
            if self._folder.current() == generation:
                return
            self._demand(generation)
            self._folder.point_to(generation)
        log.info("index_generation_searched", msg="The new search index is in use", generation=generation)

    def _demand(self, generation: str) -> None:
        if not self._folder.generation(generation).is_dir():
            raise ConflictError(f"There is no search index {generation} any more; another one was built meanwhile.")

    def _document_ids(self, after: int, limit: int) -> Sequence[int]:
        import tantivy

        name = self._folder.current()
        if name is None:
            return ()
        with index_trouble():
            index = _open(self._folder.checked(name))
            index.reload()
            above = tantivy.Query.range_query(
                index.schema, ID, tantivy.FieldType.Integer, lower_bound=after, include_lower=False
            )
            found = index.searcher().search(above, limit, count=False, order_by_field=ID, order=tantivy.Order.Asc)
            return tuple(int(entry_id) for entry_id, _ in found.hits)

    def _in_use(self) -> Sequence[str]:
        """What is searched, and what is built aside: a change during a rebuild is in both."""
        current = self._folder.current()
        if current is None:
            current = self._folder.create()
            # A reader that follows the pointer must find an index there.
            with index_trouble():
                _open(self._folder.generation(current))
            self._folder.point_to(current)
        building = self._folder.building()
        return (current,) if building is None else (current, building)

    def _commit(self, name: str, change: "Callable[[tantivy.IndexWriter], None]") -> None:
        with index_trouble():
            writer = _open(self._folder.checked(name)).writer(WRITER_MEMORY, 1)
            try:
                change(writer)
                writer.commit()
            finally:
                # Ends its threads and gives the lock back; what was not committed is gone.
                writer.wait_merging_threads()


def _open(path: Path) -> "tantivy.Index":
    import tantivy

    return tantivy.Index(schema(), path=str(path))
