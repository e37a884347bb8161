"""Which entries the graph lacks, by state."""

from collections.abc import Mapping, Sequence
from datetime import datetime

from sqlalchemy import ColumnElement, and_, func, or_, select, text, update

from pressbox.curator.graph.locking import CHANGES_KEY
from pressbox.curator.graph.ports import Addition, Waiting
from pressbox.curator.library.domain.changes import GRAPH_CHANGED
from pressbox.curator.library.domain.entries import DistilState, FetchState
from pressbox.curator.library.domain.identity import storable
from pressbox.curator.library.rows import EntryBodyRow, EntryRow
from pressbox.curator.library.store import SqlStore
from pressbox.curator.text.bounds import shortened

_LONGEST_REASON = 300
# A distiller may find that less of a text is the article; where nobody distils, nobody waits for ever.
_PATIENCE = text("interval '10 minutes'")
# One whose page has not been fetched has no hash of its own yet.
_MARK = text(
    "UPDATE curator.entries e SET graph_hash = e.content_hash, graph_added_at = :now, "
    "graph_failed_hash = NULL, graph_reason = '' "
    "FROM unnest(CAST(:ids AS bigint[]), CAST(:hashes AS text[])) AS g (id, content_hash) "
    "WHERE e.id = g.id AND e.content_hash IN ('', g.content_hash) RETURNING e.id"
)


class SqlGraphQueue(SqlStore):
    async def pending(
        self, entry_ids: Sequence[int], after_entry_id: int, limit: int, *, failed: bool
    ) -> Sequence[Waiting]:
        statement = (
            select(EntryRow.id, EntryRow.title)
            .join(EntryBodyRow, EntryBodyRow.entry_id == EntryRow.id)
            .where(not_in_graph(), EntryBodyRow.filtered_content != "", EntryRow.id > after_entry_id)
            .order_by(EntryRow.id)
            .limit(limit)
        )
        statement = statement.where(EntryRow.id.in_(entry_ids) if entry_ids else settled())
        if not failed:
            statement = statement.where(~given_up())
        async with self._database.unit_of_work() as work:
            rows = (await work.session.execute(statement)).tuples()
            return [Waiting(entry_id, shortened(title)) for entry_id, title in rows]

    async def lacking(self, entry_ids: Sequence[int]) -> Sequence[int]:
        statement = select(EntryRow.id).where(EntryRow.id.in_(entry_ids), not_in_graph()).order_by(EntryRow.id)
        async with self._database.unit_of_work() as work:
            return list(await work.session.scalars(statement))

    async def note_added(self, hashes: Mapping[int, str], now: datetime) -> Sequence[int]:
        if not hashes:
            return ()
        ids = sorted(hashes)
        values = {"ids": ids, "hashes": [hashes[entry_id] for entry_id in ids], "now": now}
        async with self._database.unit_of_work() as work:
            marked = list(await work.session.scalars(_MARK, values))
            if marked:
                work.changed(GRAPH_CHANGED, CHANGES_KEY)
        return marked

    async def note_failed(self, failures: Sequence[Addition]) -> None:
        async with self._database.unit_of_work() as work:
            for failure in sorted(failures, key=lambda one: one.entry_id):
                reason = storable(failure.reason)[:_LONGEST_REASON]
                await work.session.execute(
                    update(EntryRow)
                    .where(EntryRow.id == failure.entry_id, EntryRow.content_hash.in_(["", failure.content_hash]))
                    .values(
                        graph_hash=None,
                        graph_added_at=None,
                        graph_failed_hash=EntryRow.content_hash,
                        graph_reason=reason,
                    )
                    .execution_options(synchronize_session=False)
                )
            if failures:
                work.changed(GRAPH_CHANGED, CHANGES_KEY)


def not_in_graph() -> ColumnElement[bool]:
    return EntryRow.graph_hash.is_distinct_from(EntryRow.content_hash)


def given_up() -> ColumnElement[bool]:
    return EntryRow.graph_failed_hash.is_not_distinct_from(EntryRow.content_hash)


def settled() -> ColumnElement[bool]:
    """Its text will most likely stay: another one would be worked on once more."""
    waited = EntryRow.updated_at < func.now() - _PATIENCE
    return and_(EntryRow.fetch_state != FetchState.WAITING, or_(EntryRow.distil_state != DistilState.WAITING, waited))
