"""Scores in PostgreSQL: each metric of a text once per trace, and their averages over time."""

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import ColumnElement, Date, and_, cast, func, or_, select
from sqlalchemy.dialects.postgresql import insert

from pressbox.curator.ask.rows import AnswerRow, ConversationRow, EvaluationRow, ResearchRunRow
from pressbox.curator.evaluate.domain.evaluation import Judged, Measure, Metric, SubjectKind
from pressbox.curator.evaluate.domain.scores import ScoreLine, SubjectScore
from pressbox.curator.evaluate.ports import Evaluated
from pressbox.curator.library.domain.changes import ANSWER_CHANGED, RESEARCH_CHANGED
from pressbox.curator.library.rows import EntryRow, SubscriptionRow
from pressbox.curator.library.store import SqlStore

_CHANGES = {SubjectKind.ANSWER: ANSWER_CHANGED, SubjectKind.RESEARCH: RESEARCH_CHANGED}


class SqlEvaluations(SqlStore):
    async def known(self, judged: Judged, evaluator: str, trace_id: str) -> Sequence[Measure]:
        statement = select(EvaluationRow.metric, EvaluationRow.score).where(
            EvaluationRow.kind == judged.kind,
            EvaluationRow.subject_id == judged.subject_id,
            EvaluationRow.evaluator == evaluator,
            EvaluationRow.trace_id == trace_id,
        )
        async with self._database.unit_of_work() as work:
            rows = (await work.session.execute(statement.order_by(EvaluationRow.id))).tuples()
            return [Measure(Metric(metric), score) for metric, score in rows]

    async def keep(self, evaluated: Evaluated) -> None:
        judged = evaluated.judged
        rows = [
            {
                "kind": judged.kind,
                "subject_id": judged.subject_id,
                "metric": measure.metric,
                "score": measure.score,
                "evaluator": evaluated.evaluator,
                "model": judged.model,
                "prompt_version": judged.prompt_version,
                "trace_id": evaluated.trace_id,
                "at": evaluated.at,
            }
            for measure in evaluated.measures
        ]
        statement = insert(EvaluationRow).values(rows).on_conflict_do_nothing().returning(EvaluationRow.id)
        async with self._database.unit_of_work() as work:
            kept = (await work.session.execute(statement)).all()
            change = _CHANGES.get(judged.kind)
            if kept and change is not None:
                work.changed(change, str(judged.subject_id))


class SqlScores(SqlStore):
    async def by_day(self, user_id: int | None, since: datetime) -> Sequence[ScoreLine]:
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
            statement = statement.where(_own(user_id))
        async with self._database.unit_of_work() as work:
            rows = (await work.session.execute(statement)).tuples()
            return [ScoreLine(at, SubjectKind(kind), *rest) for at, kind, *rest in rows]

    async def of_subjects(self, kind: SubjectKind, subject_ids: Sequence[int]) -> Sequence[SubjectScore]:
        newest = (
            select(EvaluationRow.subject_id, EvaluationRow.metric, EvaluationRow.score, EvaluationRow.evaluator)
            .where(EvaluationRow.kind == kind, EvaluationRow.subject_id.in_(subject_ids))
            .distinct(EvaluationRow.subject_id, EvaluationRow.metric)
            .order_by(EvaluationRow.subject_id, EvaluationRow.metric, EvaluationRow.id.desc())
        )
        async with self._database.unit_of_work() as work:
            return [SubjectScore(*row) for row in (await work.session.execute(newest)).tuples()]


def _own(user_id: int) -> ColumnElement[bool]:
    """Answers and reports of the person, and summaries of what they subscribe to."""
    answers = (
        select(AnswerRow.id)
        .join(ConversationRow, ConversationRow.id == AnswerRow.conversation_id)
        .where(ConversationRow.user_id == user_id)
    )
    reports = select(ResearchRunRow.id).where(ResearchRunRow.user_id == user_id)
    entries = (
        select(EntryRow.id)
        .join(SubscriptionRow, SubscriptionRow.feed_id == EntryRow.feed_id)
        .where(SubscriptionRow.user_id == user_id)
    )
    of = EvaluationRow.subject_id
    return or_(
        and_(EvaluationRow.kind == SubjectKind.ANSWER, of.in_(answers)),
        and_(EvaluationRow.kind == SubjectKind.RESEARCH, of.in_(reports)),
        and_(EvaluationRow.kind == SubjectKind.SUMMARY, of.in_(entries)),
    )
