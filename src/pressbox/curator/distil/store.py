"""Entries that wait for a summary, in PostgreSQL."""

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import ColumnElement, and_, func, select, update

from pressbox.core.db.database import UnitOfWork
from pressbox.curator.distil.contracts import DistilSelection
from pressbox.curator.library.contracts import EntryProgressState
from pressbox.curator.library.domain.changes import ENTRY_CHANGED, FEED_CHANGED
from pressbox.curator.library.domain.entries import Distilled, DistilState, EntryStatus, FetchState, ToDistil
from pressbox.curator.library.rows import EntryBodyRow, EntryRow
from pressbox.curator.library.store import SqlStore, refresh_shown_hash
from pressbox.curator.text.lines import clamp_range, split_lines
from pressbox.curator.text.plain_text import make_storable

_LONGEST_REASON = 500


class SqlDistilStore(SqlStore):
    async def select_for_distillation(
        self, entry_ids: Sequence[int], after_entry_id: int, limit: int, *, feed_id: int | None = None
    ) -> DistilSelection:
        statement = select(EntryRow.id, EntryRow.title).where(_to_distil(), EntryRow.id > after_entry_id)
        if entry_ids:
            statement = statement.where(EntryRow.id.in_(entry_ids))
        if feed_id is not None:
            statement = statement.where(EntryRow.feed_id == feed_id)
        async with self._database.unit_of_work() as work:
            rows = (await work.session.execute(statement.order_by(EntryRow.id).limit(limit + 1))).tuples().all()
        entries = tuple(
            EntryProgressState(entry_id=entry_id, title=title, status=EntryStatus.FETCHED)
            for entry_id, title in rows[:limit]
        )
        return DistilSelection(entries=entries, more=len(rows) > limit)

    async def to_distil(self, entry_ids: Sequence[int]) -> Sequence[ToDistil]:
        statement = (
            select(EntryRow.id, EntryRow.title, _WHOLE_TEXT, EntryRow.language, EntryRow.content_hash, EntryRow.feed_id)
            .join(EntryBodyRow, EntryBodyRow.entry_id == EntryRow.id)
            .where(EntryRow.id.in_(entry_ids), _to_distil())
            .order_by(EntryRow.id)
        )
        async with self._database.unit_of_work() as work:
            return [ToDistil(*row) for row in (await work.session.execute(statement)).tuples()]

    async def save_distilled(self, distilled: Sequence[Distilled], now: datetime) -> Sequence[int]:
        answers = {answer.entry_id: answer for answer in distilled}
        statement = (
            select(EntryRow, EntryBodyRow)
            .join(EntryBodyRow, EntryBodyRow.entry_id == EntryRow.id)
            .where(EntryRow.id.in_(answers))
            .order_by(EntryRow.id)
            .with_for_update()
        )
        saved: list[int] = []
        async with self._database.unit_of_work() as work:
            for entry, body in (await work.session.execute(statement)).tuples():
                answer = answers[entry.id]
                if answer.content_hash in ("", entry.content_hash):
                    _put_answer(entry, body, answer)
                    saved.append(entry.id)
                    _tell(work, entry)
            await work.session.flush()
            if saved:
                await refresh_shown_hash(work.session, saved)
        return saved

    async def distil_again(self, entry_ids: Sequence[int]) -> None:
        statement = (
            update(EntryRow)
            .where(EntryRow.id.in_(entry_ids), EntryRow.content_hash != "")
            .values(distil_state=DistilState.WAITING, distil_reason="")
        )
        async with self._database.unit_of_work() as work:
            await work.session.execute(statement)

    async def note_distil_failure(self, entry_id: int, reason: str, now: datetime) -> None:
        async with self._database.unit_of_work() as work:
            entry = await work.session.get(EntryRow, entry_id, with_for_update=True)
            if entry is None or entry.distil_state != DistilState.WAITING:
                return
            entry.distil_state, entry.distil_reason = DistilState.FAILED, make_storable(reason)[:_LONGEST_REASON]
            _tell(work, entry)


# The whole text: its lines are the ones that a distiller counts.
_WHOLE_TEXT = func.coalesce(func.nullif(EntryBodyRow.content_text, ""), EntryBodyRow.filtered_content)


def _to_distil() -> ColumnElement[bool]:
    return and_(EntryRow.distil_state == DistilState.WAITING, EntryRow.fetch_state != FetchState.WAITING)


def _put_answer(entry: EntryRow, body: EntryBodyRow, answer: Distilled) -> None:
    entry.summary = make_storable(answer.summary)
    entry.language = make_storable(answer.language) or entry.language
    entry.distil_state, entry.distil_reason = DistilState.DISTILLED, ""
    entry.distilled_hash, entry.distil_model = entry.content_hash, answer.model
    whole = body.content_text or body.filtered_content
    lines = split_lines(whole)
    stated = clamp_range(answer.main_content_start_line, answer.main_content_end_line, len(lines))
    # With lines that do not exist the whole text stays.
    start, end = stated or (0, len(lines) - 1)
    article = "\n".join(lines[start : end + 1])
    body.filtered_content, body.content_text = (article, whole) if article.strip() not in ("", whole) else (whole, "")


def _tell(work: UnitOfWork, entry: EntryRow) -> None:
    work.changed(ENTRY_CHANGED, str(entry.id))
    work.changed(FEED_CHANGED, str(entry.feed_id))
