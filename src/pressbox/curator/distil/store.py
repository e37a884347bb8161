"""Entries that wait for a summary, in PostgreSQL, as a queue that all workers share."""

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import ColumnElement, and_, bindparam, func, select, text, update
from sqlalchemy.dialects.postgresql import ARRAY
from sqlalchemy.types import BigInteger, Interval

from pressbox.core.db.database import UnitOfWork
from pressbox.curator.distil.activities import ClaimedText, DistilScope
from pressbox.curator.distil.contracts import DistilSelection
from pressbox.curator.library.contracts import EntryProgressState
from pressbox.curator.library.domain import (
    ENTRY_CHANGED,
    FEED_CHANGED,
    Distilled,
    DistilState,
    EntryStatus,
    FetchState,
    ToDistil,
)
from pressbox.curator.library.leases import Lease, NextTurn, is_free
from pressbox.curator.library.rows import EntryBodyRow, EntryRow
from pressbox.curator.library.store import SqlStore, refresh_shown_hash
from pressbox.curator.text.plain_text import clamp_range, is_gutted, make_storable, split_lines

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
                    put_answer(entry, body, answer)
                    saved.append(entry.id)
                    tell(work, entry)
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
            put_failure(entry, reason)
            tell(work, entry)


# The whole text: its lines are the ones that a distiller counts.
_WHOLE_TEXT = func.coalesce(func.nullif(EntryBodyRow.content_text, ""), EntryBodyRow.filtered_content)


def _to_distil() -> ColumnElement[bool]:
    return and_(EntryRow.distil_state == DistilState.WAITING, EntryRow.fetch_state != FetchState.WAITING)


_GUTTED = "The article was said to be {named} of {lines} lines, which is hardly all of it: the text is kept whole."


def put_answer(entry: EntryRow, body: EntryBodyRow, answer: Distilled) -> None:
    entry.summary = make_storable(answer.summary)
    entry.language = make_storable(answer.language) or entry.language
    entry.distil_state, entry.distil_reason = DistilState.DISTILLED, ""
    entry.distilled_hash, entry.distil_model = entry.content_hash, answer.model
    whole = body.content_text or body.filtered_content
    lines = split_lines(whole)
    stated = clamp_range(answer.main_content_start_line, answer.main_content_end_line, len(lines))
    # With lines that do not exist the whole text stays, and with those that would leave hardly anything of it.
    start, end = stated or (0, len(lines) - 1)
    article = "\n".join(lines[start : end + 1])
    if is_gutted(article, whole):
        entry.distil_reason = _GUTTED.format(named=end - start + 1, lines=len(lines))
        article = whole
    body.filtered_content, body.content_text = (article, whole) if article.strip() not in ("", whole) else (whole, "")


def put_failure(entry: EntryRow, reason: str) -> None:
    entry.distil_state, entry.distil_reason = DistilState.FAILED, make_storable(reason)[:_LONGEST_REASON]


def tell(work: UnitOfWork, entry: EntryRow) -> None:
    work.changed(ENTRY_CHANGED, str(entry.id))
    work.changed(FEED_CHANGED, str(entry.feed_id))


_IN_SCOPE = """
    (CAST(:feed_id AS bigint) IS NULL OR e.feed_id = :feed_id)
    AND (cardinality(CAST(:ids AS bigint[])) = 0 OR e.id = ANY(:ids))
"""
_READY = f"e.distil_state = 'waiting' AND e.fetch_state <> 'waiting' AND {_IN_SCOPE} AND {is_free('e')}"
# Put together from constants only.
_CLAIM = text(f"""
    WITH chosen AS (
        SELECT e.id FROM curator.entries AS e WHERE {_READY} AND (e.lease_tries > 0) = :suspects
        ORDER BY e.id LIMIT :limit FOR UPDATE SKIP LOCKED
    )
    UPDATE curator.entries AS e
    SET lease_owner = :owner, lease_until = now() + :lease, lease_tries = e.lease_tries + 1
    FROM chosen AS c, curator.entry_bodies AS b WHERE e.id = c.id AND b.entry_id = c.id
    RETURNING e.id, e.title, coalesce(nullif(b.content_text, ''), b.filtered_content), e.language, e.content_hash,
        e.feed_id, e.lease_tries
""").bindparams(  # noqa: S608
    bindparam("feed_id", type_=BigInteger),
    bindparam("ids", type_=ARRAY(BigInteger)),
    bindparam("lease", type_=Interval),
)
# Those that are being fetched will wait for a summary soon.
_NEXT = text(f"""
    SELECT count(*) FILTER (WHERE {_READY}), count(*) FILTER (WHERE e.fetch_state = 'waiting') FROM curator.entries AS e
    WHERE e.distil_state = 'waiting' AND {_IN_SCOPE}
        AND (e.fetch_state <> 'waiting' OR e.next_fetch_at IS NULL OR e.next_fetch_at <= now())
""").bindparams(  # noqa: S608
    bindparam("feed_id", type_=BigInteger),
    bindparam("ids", type_=ARRAY(BigInteger)),
)
_RENEW = text("""
    UPDATE curator.entries SET lease_until = now() + :lease WHERE id = ANY(:ids) AND lease_owner = :owner
""").bindparams(bindparam("ids", type_=ARRAY(BigInteger)), bindparam("lease", type_=Interval))
# Given back unread, so it was not begun either.
_RELEASE = text("""
    UPDATE curator.entries SET lease_owner = NULL, lease_until = NULL, lease_tries = greatest(lease_tries - 1, 0)
    WHERE id = ANY(:ids) AND lease_owner = :owner
""").bindparams(bindparam("ids", type_=ARRAY(BigInteger)))


class SqlDistilQueue(SqlStore):
    async def claim(self, lease: Lease, scope: DistilScope, limit: int, *, suspects: bool) -> Sequence[ClaimedText]:
        values = lease.values | _values(scope) | {"limit": limit, "suspects": suspects}
        async with self._database.unit_of_work() as work:
            rows = (await work.session.execute(_CLAIM, values)).tuples().all()
        return [ClaimedText(ToDistil(*row[:-1]), row[-1]) for row in sorted(rows)]

    async def find_next(self, lease: Lease, scope: DistilScope) -> NextTurn:
        values = {"work": lease.values["work"], "owner": lease.owner} | _values(scope)
        async with self._database.unit_of_work() as work:
            ready, coming = (await work.session.execute(_NEXT, values)).tuples().one()
        return NextTurn(ready, coming=coming)

    async def renew(self, lease: Lease, entry_ids: Sequence[int]) -> None:
        async with self._database.unit_of_work() as work:
            await work.session.execute(_RENEW, {"ids": list(entry_ids), "owner": lease.owner, "lease": lease.length})

    async def release(self, lease: Lease, entry_ids: Sequence[int]) -> None:
        async with self._database.unit_of_work() as work:
            await work.session.execute(_RELEASE, {"ids": list(entry_ids), "owner": lease.owner})

    async def record(
        self, lease: Lease, distilled: Sequence[Distilled], failed: Sequence[EntryProgressState], now: datetime
    ) -> Sequence[int]:
        answers = {answer.entry_id: answer for answer in distilled}
        reasons = {entry.entry_id: entry.error for entry in failed}
        statement = (
            select(EntryRow, EntryBodyRow)
            .join(EntryBodyRow, EntryBodyRow.entry_id == EntryRow.id)
            .where(EntryRow.id.in_(answers.keys() | reasons.keys()), EntryRow.lease_owner == lease.owner)
            .order_by(EntryRow.id)
            .with_for_update()
        )
        saved: list[int] = []
        async with self._database.unit_of_work() as work:
            for entry, body in (await work.session.execute(statement)).tuples():
                entry.lease_owner, entry.lease_until, entry.lease_tries = None, None, 0
                answer = answers.get(entry.id)
                if answer is not None and answer.content_hash in ("", entry.content_hash):
                    put_answer(entry, body, answer)
                    saved.append(entry.id)
                    tell(work, entry)
                elif answer is None and entry.distil_state == DistilState.WAITING:
                    put_failure(entry, reasons[entry.id])
                    tell(work, entry)
            await work.session.flush()
            if saved:
                await refresh_shown_hash(work.session, saved)
        return saved


def _values(scope: DistilScope) -> dict[str, object]:
    return {"feed_id": scope.feed_id, "ids": list(scope.entry_ids)}
