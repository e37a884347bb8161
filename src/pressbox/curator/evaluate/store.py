"""Scores in PostgreSQL, and the summaries that can be judged."""

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol

from sqlalchemy import (
    BigInteger,
    ColumnElement,
    Date,
    Float,
    Index,
    Select,
    Text,
    UniqueConstraint,
    and_,
    cast,
    func,
    or_,
    select,
)
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.orm import Mapped, mapped_column

from pressbox.core.db.base import Base
from pressbox.core.db.database import Database
from pressbox.core.spending.rows import PaidRequestRow
from pressbox.curator.evaluate.activities import Evaluation, Subjects
from pressbox.curator.evaluate.domain import (
    LONGEST_TEXT,
    Judged,
    Measure,
    Metric,
    ScoreLine,
    SubjectKind,
    SubjectScore,
    limit_contexts,
)
from pressbox.curator.library.domain import ANSWER_CHANGED, RESEARCH_CHANGED
from pressbox.curator.library.rows import SCHEMA, EntryBodyRow, EntryRow, SubscriptionRow
from pressbox.curator.library.store import SqlStore
from pressbox.curator.models.domain import Feature


class EvaluationRow(Base):
    """One score of an answer or of a summary. `model` and `prompt_version` are those of what was judged."""

    __tablename__ = "evaluations"
    __table_args__ = (
        UniqueConstraint("kind", "subject_id", "metric", "evaluator", "trace_id"),
        Index(None, "kind", "at"),
        SCHEMA,
    )

    id: Mapped[int] = mapped_column(BigInteger, primary_key=True)
    # An answer by its id, or a summary by its entry's.
    kind: Mapped[str] = mapped_column(Text)
    subject_id: Mapped[int] = mapped_column(BigInteger)
    metric: Mapped[str] = mapped_column(Text)
    score: Mapped[float] = mapped_column(Float)
    evaluator: Mapped[str] = mapped_column(Text)
    model: Mapped[str] = mapped_column(Text, server_default="")
    prompt_version: Mapped[str] = mapped_column(Text, server_default="")
    trace_id: Mapped[str] = mapped_column(Text, server_default="")
    at: Mapped[datetime]


_CHANGES = {SubjectKind.ANSWER: ANSWER_CHANGED, SubjectKind.RESEARCH: RESEARCH_CHANGED}
# The question that a summary answers. The title is a stranger's: it goes to models as data, like the rest.
_SUMMARY_QUESTION = "What does the article “{title}” say?"
_LONGEST_TITLE = 300


class SubjectTable(Subjects, Protocol):
    """Subjects that lie in a table and belong to people."""

    @property
    def kind(self) -> SubjectKind: ...

    def owned_by(self, user_id: int) -> Select[tuple[int]]: ...


class SqlEvaluations(SqlStore):
    async def find(self, judged: Judged, evaluator: str, trace_id: str) -> Sequence[Measure]:
        statement = select(EvaluationRow.metric, EvaluationRow.score).where(
            EvaluationRow.kind == judged.kind,
            EvaluationRow.subject_id == judged.subject_id,
            EvaluationRow.evaluator == evaluator,
            EvaluationRow.trace_id == trace_id,
        )
        async with self._database.unit_of_work() as work:
            rows = (await work.session.execute(statement.order_by(EvaluationRow.id))).tuples()
            return [Measure(Metric(metric), score) for metric, score in rows]

    async def add(self, evaluation: Evaluation) -> None:
        judged = evaluation.judged
        rows = [
            {
                "kind": judged.kind,
                "subject_id": judged.subject_id,
                "metric": measure.metric,
                "score": measure.score,
                "evaluator": evaluation.evaluator,
                "model": judged.model,
                "prompt_version": judged.prompt_version,
                "trace_id": evaluation.trace_id,
                "at": evaluation.at,
            }
            for measure in evaluation.measures
        ]
        statement = insert(EvaluationRow).values(rows).on_conflict_do_nothing().returning(EvaluationRow.id)
        async with self._database.unit_of_work() as work:
            added = (await work.session.execute(statement)).all()
            change = _CHANGES.get(judged.kind)
            if added and change is not None:
                work.changed(change, str(judged.subject_id))


class SqlScores:
    """`subjects` say whose texts are judged: a person sees the scores of their own."""

    def __init__(self, database: Database, subjects: Sequence[SubjectTable]) -> None:
        self._database = database
        self._subjects = subjects

    async def by_day(self, user_id: int | None, since: datetime) -> Sequence[ScoreLine]:
        """Averages, oldest first: of what this person wrote, asked or reads; None is everybody."""
        day = cast(func.timezone("UTC", EvaluationRow.at), Date)
        what = (
            EvaluationRow.kind,
            EvaluationRow.metric,
            EvaluationRow.evaluator,
            EvaluationRow.model,
            EvaluationRow.prompt_version,
        )
        statement = (
            select(day, *what, func.avg(EvaluationRow.score), func.count())
            # All kinds are named, so that the index by kind and time serves.
            .where(EvaluationRow.kind.in_(tuple(SubjectKind)), EvaluationRow.at >= since)
            .group_by(day, *what)
            .order_by(day, *what)
        )
        if user_id is not None:
            statement = statement.where(self._is_owned_by(user_id))
        async with self._database.unit_of_work() as work:
            rows = (await work.session.execute(statement)).tuples()
            return [ScoreLine(at, SubjectKind(kind), *rest) for at, kind, *rest in rows]

    async def of_subjects(self, kind: SubjectKind, subject_ids: Sequence[int]) -> Sequence[SubjectScore]:
        """The newest score of each metric. The caller has checked that the person may see the subjects."""
        newest = (
            select(EvaluationRow.subject_id, EvaluationRow.metric, EvaluationRow.score, EvaluationRow.evaluator)
            .where(EvaluationRow.kind == kind, EvaluationRow.subject_id.in_(subject_ids))
            .distinct(EvaluationRow.subject_id, EvaluationRow.metric)
            .order_by(EvaluationRow.subject_id, EvaluationRow.metric, EvaluationRow.id.desc())
        )
        async with self._database.unit_of_work() as work:
            return [SubjectScore(*row) for row in (await work.session.execute(newest)).tuples()]

    def _is_owned_by(self, user_id: int) -> ColumnElement[bool]:
        return or_(
            *(
                and_(EvaluationRow.kind == table.kind, EvaluationRow.subject_id.in_(table.owned_by(user_id)))
                for table in self._subjects
            )
        )


class SummarySubjects(SqlStore):
    """Only what a model wrote is judged: an extract is word for word what somebody else wrote."""

    kind = SubjectKind.SUMMARY

    async def load(self, subject_id: int) -> Judged | None:
        text = func.coalesce(func.nullif(EntryBodyRow.content_text, ""), EntryBodyRow.filtered_content)
        # The ledger knows by which prompt the summary was made; an extract was never paid for.
        version = (
            select(PaidRequestRow.prompt_version)
            .where(
                PaidRequestRow.content_hash == EntryRow.distilled_hash,
                PaidRequestRow.model == EntryRow.distil_model,
                PaidRequestRow.feature == Feature.DISTIL,
            )
            .order_by(PaidRequestRow.at.desc())
            .limit(1)
            .scalar_subquery()
        )
        statement = (
            select(
                EntryRow.title,
                EntryRow.summary,
                text,
                EntryRow.distil_model,
                version,
                EntryRow.language,
                EntryRow.feed_id,
            )
            .join(EntryBodyRow, EntryBodyRow.entry_id == EntryRow.id)
            .where(EntryRow.id == subject_id, EntryRow.summary != "", EntryRow.distilled_hash == EntryRow.content_hash)
        )
        async with self._database.unit_of_work() as work:
            found = (await work.session.execute(statement)).tuples().one_or_none()
        if found is None or found[4] is None:
            return None
        title, summary, whole, model, prompt_version, language, feed_id = found
        return Judged(
            SubjectKind.SUMMARY,
            subject_id,
            _SUMMARY_QUESTION.format(title=" ".join(title.split())[:_LONGEST_TITLE]),
            summary[:LONGEST_TEXT],
            limit_contexts((whole,)),
            model,
            prompt_version,
            language,
            subject_id,
            feed_id,
        )

    def owned_by(self, user_id: int) -> Select[tuple[int]]:
        """Summaries of what the person subscribes to."""
        return (
            select(EntryRow.id)
            .join(SubscriptionRow, SubscriptionRow.feed_id == EntryRow.feed_id)
            .where(SubscriptionRow.user_id == user_id)
        )
