"""The scores that one person may see."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta

from pressbox.core.clock import Clock, utc_now
from pressbox.curator.evaluate.domain import ScoresView, SubjectKind, SubjectScore, pictures
from pressbox.curator.evaluate.store import SqlScores

SCORE_DAYS = 30


class EvaluationService:
    """`enabled` and `evaluator` are the settings: whether new texts are judged, and by whom."""

    def __init__(
        self,
        scores: SqlScores,
        *,
        enabled: bool,
        evaluator: str,
        now: Clock = utc_now,
    ) -> None:
        self._scores = scores
        self._enabled = enabled
        self._evaluator = evaluator
        self._now = now

    async def over_time(self, user_id: int, *, administrator: bool = False, days: int = SCORE_DAYS) -> ScoresView:
        """Averages per day of UTC, model and prompt: of the person's own texts and feeds; an administrator sees all."""
        now = self._now()
        first = (now - timedelta(days=days - 1)).date()
        since = datetime(first.year, first.month, first.day, tzinfo=UTC)
        lines = tuple(await self._scores.by_day(None if administrator else user_id, since))
        return ScoresView(lines, pictures(lines, first, now.date()), self._enabled, self._evaluator, days)

    async def of_answers(self, answer_ids: Sequence[int]) -> Mapping[int, Sequence[SubjectScore]]:
        """Scores by answer. The caller has checked that the person may see these answers."""
        return await self._of(SubjectKind.ANSWER, answer_ids)

    async def of_research(self, run_ids: Sequence[int]) -> Mapping[int, Sequence[SubjectScore]]:
        """Scores by run; see `of_answers`."""
        return await self._of(SubjectKind.RESEARCH, run_ids)

    async def _of(self, kind: SubjectKind, subject_ids: Sequence[int]) -> Mapping[int, Sequence[SubjectScore]]:
        found: dict[int, list[SubjectScore]] = {}
        for score in await self._scores.of_subjects(kind, subject_ids) if subject_ids else ():
            found.setdefault(score.subject_id, []).append(score)
        return found
