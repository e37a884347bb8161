"""Research in PostgreSQL: runs with their steps, and what a person may read for them."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from pydantic import TypeAdapter
from sqlalchemy import (
    BigInteger,
    ColumnElement,
    Float,
    ForeignKey,
    Index,
    Integer,
    Select,
    Text,
    UniqueConstraint,
    delete,
    exists,
    func,
    select,
    update,
)
from sqlalchemy.dialects.postgresql import JSONB, insert
from sqlalchemy.ext.asyncio import AsyncSession
from sqlalchemy.orm import Mapped, mapped_column

from pressbox.core.db.base import Base
from pressbox.core.db.database import UnitOfWork
from pressbox.core.errors import NotFoundError
from pressbox.core.quotas.store import demand
from pressbox.curator.context.store import EntryLinkRow
from pressbox.curator.evaluate.domain import LONGEST_TEXT, Judged, SubjectKind, limit_contexts
from pressbox.curator.library.domain import RESEARCH_CHANGED
from pressbox.curator.library.quotas import RESEARCH
from pressbox.curator.library.rows import SCHEMA, EntryBodyRow, EntryRow
from pressbox.curator.library.store import SqlStore, visible_to
from pressbox.curator.research.domain import (
    Limits,
    Link,
    Outcome,
    ResearchMethod,
    ResearchState,
    Run,
    Source,
    Step,
    StepKind,
    StepState,
)
from pressbox.curator.research.ports import Draft
from pressbox.curator.research.researchers import PROMPT_VERSION
from pressbox.curator.text.plain_text import make_storable


class ResearchRunRow(Base):
    """`sources` are what the report cites as [number]: each with its `material` and the `quotes` that were noted."""

    __tablename__ = "research_runs"
    __table_args__ = (Index(None, "user_id", "created_at"), SCHEMA)

    id: Mapped[int] = mapped_column(BigInteger, primary_key=True)
    user_id: Mapped[int] = mapped_column(ForeignKey("core.users.id", ondelete="CASCADE"))
    question: Mapped[str] = mapped_column(Text)
    state: Mapped[str] = mapped_column(Text)
    limits: Mapped[dict[str, Any]] = mapped_column(JSONB, server_default="{}")
    method: Mapped[str] = mapped_column(Text, server_default="")
    model: Mapped[str] = mapped_column(Text, server_default="")
    tokens: Mapped[int] = mapped_column(Integer, server_default="0")
    # How long it worked, without waiting and standing still.
    seconds: Mapped[float] = mapped_column(Float, server_default="0")
    report: Mapped[str] = mapped_column(Text, server_default="")
    sources: Mapped[list[dict[str, Any]]] = mapped_column(JSONB, server_default="[]")
    reason: Mapped[str] = mapped_column(Text, server_default="")
    created_at: Mapped[datetime] = mapped_column(server_default=func.now())
    finished_at: Mapped[datetime | None]


class ResearchStepRow(Base):
    """One visible step of a run: what it planned, searched, read or wrote, and what came of it."""

    __tablename__ = "research_steps"
    __table_args__ = (UniqueConstraint("run_id", "position"), SCHEMA)

    id: Mapped[int] = mapped_column(BigInteger, primary_key=True)
    run_id: Mapped[int] = mapped_column(ForeignKey("curator.research_runs.id", ondelete="CASCADE"))
    position: Mapped[int] = mapped_column(Integer)
    round: Mapped[int] = mapped_column(Integer, server_default="0")
    kind: Mapped[str] = mapped_column(Text)
    title: Mapped[str] = mapped_column(Text)
    state: Mapped[str] = mapped_column(Text)
    result: Mapped[dict[str, Any]] = mapped_column(JSONB, server_default="{}")
    tokens: Mapped[int] = mapped_column(Integer, server_default="0")
    at: Mapped[datetime] = mapped_column(server_default=func.now())


_OUTCOME = TypeAdapter(Outcome)
_LIMITS = TypeAdapter(Limits)
_SOURCES = TypeAdapter(tuple[Source, ...])
MOST_LINKS = 200


class SqlResearch(SqlStore):
    """Every change of a run tells the pages that follow it, in the same transaction."""

    async def create(self, draft: Draft, now: datetime) -> int:
        async with self._database.unit_of_work() as work:
            row = ResearchRunRow(
                user_id=draft.user_id,
                question=make_storable(draft.question),
                state=ResearchState.QUEUED,
                limits=_LIMITS.dump_python(draft.limits, mode="json"),
                created_at=now,
            )
            await demand(work.session, RESEARCH, draft.user_id)
            work.session.add(row)
            await work.session.flush()
            work.changed(RESEARCH_CHANGED, str(row.id))
            return row.id

    async def list_newest(self, user_id: int, limit: int) -> Sequence[Run]:
        newest = (
            select(ResearchRunRow)
            .where(ResearchRunRow.user_id == user_id)
            .order_by(ResearchRunRow.created_at.desc(), ResearchRunRow.id.desc())
            .limit(limit)
        )
        async with self._database.unit_of_work() as work:
            return [_run(row, ()) for row in await work.session.scalars(newest)]

    async def load_own(self, user_id: int, run_id: int) -> Run:
        async with self._database.unit_of_work() as work:
            row = await work.session.get(ResearchRunRow, run_id)
            if row is None or row.user_id != user_id:
                raise NotFoundError("There is no such research of yours.", run_id=run_id)
            return _run(row, await _steps(work.session, run_id))

    async def delete(self, user_id: int, run_id: int) -> None:
        mine = delete(ResearchRunRow).where(ResearchRunRow.id == run_id, ResearchRunRow.user_id == user_id)
        async with self._database.unit_of_work() as work:
            await work.session.execute(mine)
            work.changed(RESEARCH_CHANGED, str(run_id))

    async def set_state(
        self, run_id: int, state: ResearchState, reason: str, *, unless: Sequence[ResearchState] = ()
    ) -> bool:
        async with self._database.unit_of_work() as work:
            return await _put(work, run_id, unless, state=state, reason=make_storable(reason))

    async def run(self, run_id: int) -> Run | None:
        async with self._database.unit_of_work() as work:
            row = await work.session.get(ResearchRunRow, run_id)
            return None if row is None else _run(row, await _steps(work.session, run_id))

    async def open(self, run_id: int, method: ResearchMethod, model: str) -> Run | None:
        async with self._database.unit_of_work() as work:
            await _put(work, run_id, (ResearchState.DONE,), state=ResearchState.RUNNING, reason="")
            await _put(work, run_id, (), method=method, model=model)
        return await self.run(run_id)

    async def begin(self, run_id: int, step: Step, now: datetime) -> None:
        async with self._database.unit_of_work() as work:
            idle = (ResearchState.QUEUED, ResearchState.WAITING)
            stands = tuple(state for state in ResearchState if state not in idle)
            await _put(work, run_id, stands, state=ResearchState.RUNNING, reason="")
            await _write(work, run_id, step, now, state=StepState.RUNNING)

    async def finish(self, run_id: int, steps: Sequence[Step], seconds: float, now: datetime) -> None:
        async with self._database.unit_of_work() as work:
            for step in steps:
                await _write(work, run_id, step, now)
            await _spend(work, run_id, sum(step.tokens for step in steps), seconds)

    async def save_report(
        self, run_id: int, report: str, sources: Sequence[Source], step: Step, seconds: float, now: datetime
    ) -> None:
        async with self._database.unit_of_work() as work:
            await _write(work, run_id, step, now)
            await _spend(work, run_id, step.tokens, seconds)
            await _put(
                work,
                run_id,
                (),
                state=ResearchState.DONE,
                reason=make_storable(step.outcome.reason),
                report=make_storable(report),
                sources=_SOURCES.dump_python(tuple(sources), mode="json"),
                finished_at=now,
            )

    async def wait(self, run_id: int, reason: str, seconds: float) -> None:
        stands = (ResearchState.STOPPING, ResearchState.STOPPED, ResearchState.DONE)
        async with self._database.unit_of_work() as work:
            await _put(work, run_id, stands, state=ResearchState.WAITING, reason=make_storable(reason))
            await _spend(work, run_id, 0, seconds)

    async def close(self, run_id: int, state: ResearchState, reason: str, seconds: float, now: datetime) -> None:
        async with self._database.unit_of_work() as work:
            await _put(work, run_id, (ResearchState.DONE,), state=state, reason=make_storable(reason))
            await _spend(work, run_id, 0, seconds)


class SqlReadings(SqlStore):
    async def text(self, user_id: int, entry_id: int) -> str:
        mine = (
            select(EntryBodyRow.filtered_content)
            .join(EntryRow, EntryRow.id == EntryBodyRow.entry_id)
            .where(EntryRow.id == entry_id, visible_to(user_id))
        )
        async with self._database.unit_of_work() as work:
            return await work.session.scalar(mine) or ""

    async def links(self, user_id: int, entry_ids: Sequence[int]) -> Sequence[Link]:
        mine = (
            select(EntryLinkRow.entry_id, EntryLinkRow.url, EntryLinkRow.title)
            .join(EntryRow, EntryRow.id == EntryLinkRow.entry_id)
            .where(EntryLinkRow.entry_id.in_(entry_ids), visible_to(user_id))
            .order_by(EntryLinkRow.entry_id, EntryLinkRow.position)
            .limit(MOST_LINKS)
        )
        async with self._database.unit_of_work() as work:
            return [Link(*row) for row in (await work.session.execute(mine)).tuples()]


def owns_run(run_id: ColumnElement[int], user_id: ColumnElement[int]) -> ColumnElement[bool]:
    return exists().where(ResearchRunRow.id == run_id, ResearchRunRow.user_id == user_id)


async def _put(work: UnitOfWork, run_id: int, unless: Sequence[ResearchState], **values: Any) -> bool:
    change = (
        update(ResearchRunRow)
        .where(ResearchRunRow.id == run_id, ResearchRunRow.state.not_in([state.value for state in unless]))
        .values(**values)
        .returning(ResearchRunRow.id)
    )
    changed = await work.session.scalar(change) is not None
    if changed:
        work.changed(RESEARCH_CHANGED, str(run_id))
    return changed


async def _spend(work: UnitOfWork, run_id: int, tokens: int, seconds: float) -> None:
    await work.session.execute(
        update(ResearchRunRow)
        .where(ResearchRunRow.id == run_id)
        .values(tokens=ResearchRunRow.tokens + tokens, seconds=max(0.0, seconds))
    )


async def _write(work: UnitOfWork, run_id: int, step: Step, now: datetime, state: StepState | None = None) -> None:
    """A run that was deleted meanwhile takes no more steps."""
    if await work.session.get(ResearchRunRow, run_id, with_for_update={"read": True}) is None:
        return
    values = {
        "round": step.round,
        "kind": step.kind.value,
        "title": make_storable(step.title),
        "state": (state or step.state).value,
        "result": _OUTCOME.dump_python(step.outcome, mode="json", exclude_defaults=True),
        "tokens": step.tokens,
        "at": now,
    }
    written = insert(ResearchStepRow).values(run_id=run_id, position=step.position, **values)
    await work.session.execute(written.on_conflict_do_update(index_elements=["run_id", "position"], set_=values))
    work.changed(RESEARCH_CHANGED, str(run_id))


async def _steps(session: AsyncSession, run_id: int) -> Sequence[ResearchStepRow]:
    in_order = select(ResearchStepRow).where(ResearchStepRow.run_id == run_id).order_by(ResearchStepRow.position)
    return (await session.scalars(in_order)).all()


def _run(row: ResearchRunRow, steps: Sequence[ResearchStepRow]) -> Run:
    return Run(
        id=row.id,
        user_id=row.user_id,
        question=row.question,
        state=ResearchState(row.state),
        limits=_LIMITS.validate_python(row.limits),
        created_at=row.created_at,
        method=row.method,
        model=row.model,
        tokens=row.tokens,
        seconds=row.seconds,
        report=row.report,
        sources=_SOURCES.validate_python(row.sources),
        reason=row.reason,
        finished_at=row.finished_at,
        steps=tuple(_step(step) for step in steps),
    )


def _step(row: ResearchStepRow) -> Step:
    return Step(
        position=row.position,
        round=row.round,
        kind=StepKind(row.kind),
        title=row.title,
        state=StepState(row.state),
        outcome=_OUTCOME.validate_python(row.result),
        tokens=row.tokens,
        at=row.at,
    )


class ReportSubjects(SqlStore):
    """Reports that can be judged, by the places that they quote. Only a model's are."""

    kind = SubjectKind.RESEARCH

    async def load(self, subject_id: int) -> Judged | None:
        async with self._database.unit_of_work() as work:
            row = await work.session.get(ResearchRunRow, subject_id)
        if row is None or not row.model or not row.report:
            return None
        quotes = [quote.text for source in _SOURCES.validate_python(row.sources) for quote in source.quotes]
        return Judged(
            kind=self.kind,
            subject_id=row.id,
            question=row.question,
            text=row.report[:LONGEST_TEXT],
            contexts=limit_contexts(quotes),
            model=row.model,
            # A report is judged right after it was written: by the prompts of today.
            prompt_version=PROMPT_VERSION,
        )

    def owned_by(self, user_id: int) -> Select[tuple[int]]:
        return select(ResearchRunRow.id).where(ResearchRunRow.user_id == user_id)
