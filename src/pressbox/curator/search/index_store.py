"""What the search index is made of, and what of it is still to be done."""

from collections.abc import Mapping, Sequence

from sqlalchemy import Select, bindparam, delete, select, text
from sqlalchemy.dialects.postgresql import ARRAY
from sqlalchemy.types import BigInteger, Text

from pressbox.curator.library.domain.entries import FetchState
from pressbox.curator.library.rows import EntryBodyRow, EntryRow, RemovedEntryRow
from pressbox.curator.library.store import SqlStore
from pressbox.curator.search.ports import IndexDocument
from pressbox.curator.text.plain_text import to_plain_text

_NOTE_INDEXED = text("""
    UPDATE curator.entries AS e SET indexed_hash = n.hash
    FROM unnest(:ids, :hashes) AS n (id, hash) WHERE e.id = n.id
""").bindparams(bindparam("ids", type_=ARRAY(BigInteger)), bindparam("hashes", type_=ARRAY(Text)))


class SqlIndexStore(SqlStore):
    async def documents(self, entry_ids: Sequence[int]) -> Sequence[IndexDocument]:
        return await self._documents(_DOCUMENT.where(EntryRow.id.in_(entry_ids)))

    async def ids_after(self, after_entry_id: int, limit: int) -> Sequence[int]:
        return await self._ids(select(EntryRow.id).where(EntryRow.id > after_entry_id).order_by(EntryRow.id), limit)

    async def unindexed(self, limit: int) -> Sequence[int]:
        stale = EntryRow.indexed_hash.is_distinct_from(EntryRow.shown_hash)
        return await self._ids(select(EntryRow.id).where(stale).order_by(EntryRow.id), limit)

    async def note_indexed(self, hashes: Mapping[int, str]) -> None:
        if not hashes:
            return
        # In the order of the keys, as everybody who writes several entries: nobody waits crosswise.
        ordered = dict(sorted(hashes.items()))
        async with self._database.unit_of_work() as work:
            locked = select(EntryRow.id).where(EntryRow.id.in_(ordered)).order_by(EntryRow.id)
            await work.session.execute(locked.with_for_update(key_share=True))
            await work.session.execute(_NOTE_INDEXED, {"ids": list(ordered), "hashes": list(ordered.values())})

    async def removed(self, limit: int) -> Sequence[int]:
        return await self._ids(select(RemovedEntryRow.entry_id).order_by(RemovedEntryRow.entry_id), limit)

    async def note_removed(self, entry_ids: Sequence[int]) -> None:
        async with self._database.unit_of_work() as work:
            await work.session.execute(delete(RemovedEntryRow).where(RemovedEntryRow.entry_id.in_(entry_ids)))

    async def existing(self, entry_ids: Sequence[int]) -> frozenset[int]:
        return frozenset(await self._ids(select(EntryRow.id).where(EntryRow.id.in_(entry_ids)), len(entry_ids)))

    async def _ids(self, statement: Select[tuple[int]], limit: int) -> Sequence[int]:
        async with self._database.unit_of_work() as work:
            return (await work.session.scalars(statement.limit(limit))).all()

    async def _documents(self, statement: "Select[_Document]") -> Sequence[IndexDocument]:
        async with self._database.unit_of_work() as work:
            rows = (await work.session.execute(statement)).tuples().all()
        return [
            IndexDocument(
                entry_id=row.id,
                feed_id=row.feed_id,
                title=row.title,
                summary=row.summary,
                filtered_content=filtered_content,
                # Where the feed's text is the article, its words are there already.
                feed_content=to_plain_text(feed_content) if row.fetch_state == FetchState.FETCHED else "",
                author=row.author,
                published_at=row.published_at,
                shown_hash=row.shown_hash,
            )
            for row, filtered_content, feed_content in rows
        ]


_Document = tuple[EntryRow, str, str]
_DOCUMENT: "Select[_Document]" = (
    select(EntryRow, EntryBodyRow.filtered_content, EntryBodyRow.feed_content)
    .join(EntryBodyRow, EntryBodyRow.entry_id == EntryRow.id)
    .order_by(EntryRow.id)
)
