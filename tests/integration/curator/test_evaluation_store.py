"""What is judged, its scores and who may see them, in a real database."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from pydantic import TypeAdapter
from sqlalchemy import func, select

from pressbox.core.app import Resources
from pressbox.core.db.changes import ChangeRow
from pressbox.core.spending.domain import PaidAnswer, PaidCall
from pressbox.curator.ask.store import AnswerRow, ConversationRow
from pressbox.curator.evaluate import wiring as evaluating
from pressbox.curator.evaluate.activities import Evaluation, EvaluationActivities
from pressbox.curator.evaluate.domain import LONGEST_CONTEXT, Judged, Measure, Metric, SubjectKind
from pressbox.curator.evaluate.evaluators import OfflineEvaluator, RagasEvaluator
from pressbox.curator.evaluate.store import EvaluationRow, SqlEvaluations, SqlScores
from pressbox.curator.library.contracts import HEAVY_QUEUE
from pressbox.curator.library.domain import Distilled
from pressbox.curator.research.domain import Material, Quote, Source
from pressbox.curator.research.store import ResearchRunRow
from pressbox.curator.settings import CuratorSettings, EvaluatorKind
from tests.fakes.curator_rows import NOW, Rows, entry, read
from tests.fakes.spending import spend

TRACE = "0123456789abcdef" * 2
# As research keeps what a report stands on.
SOURCES = TypeAdapter(tuple[Source, ...])
CITED = Source(1, Material("A bridge", "https://example.org/1", 1, 1), (Quote("It was opened."), Quote("Nobody came.")))


class Desk:
    """Rows as asking, research and distilling leave them."""

    def __init__(self, resources: Resources) -> None:
        self.rows = Rows(resources.database)
        self.answers, self.reports, self.summaries = evaluating.subjects(resources.database)
        self.evaluations = SqlEvaluations(resources.database)
        self.scores = SqlScores(resources.database, evaluating.subjects(resources.database))

    async def answer(self, user_id: int, **values: Any) -> int:
        conversation = await self.rows.add(ConversationRow(user_id=user_id, title="The bridge"))
        known: dict[str, Any] = {
            "position": 1,
            "question": "When was it opened?",
            "state": "done",
            "model": "writer",
            "prompt_version": "1",
            "text": "In 1931 [1].",
            "passages": [{"text": "It was opened in 1931.", "entry_id": 1}, {"text": "It is long."}],
            "finished_at": NOW,
        }
        return int((await self.rows.add(AnswerRow(conversation_id=conversation.id, **(known | values)))).id)

    async def report(self, user_id: int, **values: Any) -> int:
        known: dict[str, Any] = {
            "question": "What happened to the bridge?",
            "state": "done",
            "method": "llm",
            "model": "writer",
            "report": "It was opened [1].",
            "sources": SOURCES.dump_python((CITED,), mode="json"),
        }
        return int((await self.rows.add(ResearchRunRow(user_id=user_id, **(known | values)))).id)

    async def summary(self, *readers: int, model: str = "writer") -> int:
        feed = await self.rows.feed(*readers)
        await self.rows.crawl(feed, read(entry(1)))
        (entry_id,) = await self.rows.ids(feed)
        await self.rows.fetched(entry_id, "The bridge was opened in 1931.\nNobody came.")
        (waiting,) = await self.rows.summaries.to_distil([entry_id])
        said = Distilled(entry_id, "It opened.", 0, 0, "en", model, "1", content_hash=waiting.content_hash)
        await self.rows.summaries.save_distilled([said], NOW)
        if model == "writer":
            call = PaidCall(waiting.content_hash, "1-de", model, "distil", entry_id, feed)
            await spend(self.rows.database, call, PaidAnswer("{}", 10, 10), NOW)
        return entry_id

    async def keep(self, judged: Judged, score: float = 0.5, trace: str = TRACE, days: int = 0) -> None:
        measures = (Measure(Metric.FAITHFULNESS, score),)
        await self.evaluations.add(Evaluation(judged, "ragas", trace, measures, NOW - timedelta(days=days)))


@pytest.fixture
def desk(resources: Resources) -> Desk:
    return Desk(resources)


async def test_an_answer_is_judged_by_its_passages_in_order(desk: Desk) -> None:
    found = await desk.answers.load(await desk.answer(await desk.rows.user()))
    assert found is not None
    assert (found.question, found.text, found.model) == ("When was it opened?", "In 1931 [1].", "writer")
    assert found.contexts == ("It was opened in 1931.", "It is long.")
    assert found.can_be_judged


@pytest.mark.parametrize("values", [{"model": ""}, {"finished_at": None}])
async def test_an_answer_that_no_model_wrote_or_that_is_not_finished_is_not_judged(
    desk: Desk, values: dict[str, Any]
) -> None:
    assert await desk.answers.load(await desk.answer(await desk.rows.user(), **values)) is None


async def test_what_is_not_there_is_not_judged(desk: Desk) -> None:
    assert await desk.answers.load(1) is None
    assert await desk.reports.load(1) is None
    assert await desk.summaries.load(1) is None


async def test_a_report_is_judged_by_what_it_quotes(desk: Desk) -> None:
    found = await desk.reports.load(await desk.report(await desk.rows.user()))
    assert found is not None
    assert (found.kind, found.contexts) == (SubjectKind.RESEARCH, ("It was opened.", "Nobody came."))
    assert found.prompt_version.startswith("research-")
    assert await desk.reports.load(await desk.report(await desk.rows.user(), model="")) is None


async def test_a_summary_is_judged_by_the_whole_text_and_known_by_model_and_prompt(desk: Desk) -> None:
    entry_id = await desk.summary()
    found = await desk.summaries.load(entry_id)
    assert found is not None
    assert (found.text, found.contexts) == ("It opened.", ("The bridge was opened in 1931.\nNobody came.",))
    assert (found.model, found.prompt_version, found.entry_id) == ("writer", "1-de", entry_id)
    assert "Article 1" in found.question


async def test_an_extract_and_a_summary_of_an_older_text_are_not_judged(desk: Desk) -> None:
    assert await desk.summaries.load(await desk.summary(model="extractive")) is None
    changed = await desk.summary()
    await desk.rows.fetched(changed, "Another text.")
    assert await desk.summaries.load(changed) is None


async def test_a_long_text_is_judged_by_as_much_as_a_model_saw(desk: Desk) -> None:
    passages = [{"text": "a" * 10_000}, {"text": "b" * 10_000}]
    found = await desk.answers.load(await desk.answer(await desk.rows.user(), passages=passages))
    assert found is not None
    assert sum(len(context) for context in found.contexts) == LONGEST_CONTEXT


async def test_a_score_is_kept_once_per_trace_and_wakes_the_page_of_its_answer(desk: Desk) -> None:
    judged = await desk.answers.load(await desk.answer(await desk.rows.user()))
    assert judged is not None
    await desk.keep(judged, 0.5)
    await desk.keep(judged, 0.9)
    assert await desk.evaluations.find(judged, "ragas", TRACE) == [Measure(Metric.FAITHFULNESS, 0.5)]
    assert await desk.evaluations.find(judged, "offline", TRACE) == []
    woken = await desk.rows.all(select(ChangeRow.key).where(ChangeRow.kind == "curator.answer"))
    assert woken == [str(judged.subject_id)]
    await desk.keep(judged, 0.7, "another trace")
    (shown,) = await desk.scores.of_subjects(SubjectKind.ANSWER, [judged.subject_id, 99])
    assert (shown.subject_id, shown.score, shown.is_estimate) == (judged.subject_id, 0.7, False)


async def test_people_see_scores_of_their_own_and_administrators_all(desk: Desk) -> None:
    anna, ben = await desk.rows.user(), await desk.rows.user()
    texts = [
        await desk.answers.load(await desk.answer(anna)),
        await desk.reports.load(await desk.report(anna)),
        await desk.summaries.load(await desk.summary(anna)),
        await desk.answers.load(await desk.answer(ben)),
        await desk.reports.load(await desk.report(ben)),
        await desk.summaries.load(await desk.summary()),
    ]
    for number, judged in enumerate(texts):
        assert judged is not None
        await desk.keep(judged, number / 10)
    since = NOW - timedelta(days=1)
    mine = await desk.scores.by_day(anna, since)
    assert [(line.kind, line.score, line.count) for line in mine] == [
        (SubjectKind.ANSWER, 0.0, 1),
        (SubjectKind.RESEARCH, 0.1, 1),
        (SubjectKind.SUMMARY, 0.2, 1),
    ]
    assert [(line.kind, line.count) for line in await desk.scores.by_day(None, since)] == [
        (SubjectKind.ANSWER, 2),
        (SubjectKind.RESEARCH, 2),
        (SubjectKind.SUMMARY, 2),
    ]
    assert await desk.scores.by_day(await desk.rows.user(), since) == []


async def test_scores_are_averages_per_day_model_and_prompt(desk: Desk) -> None:
    anna = await desk.rows.user()
    for number, (version, days) in enumerate([("1", 1), ("1", 1), ("2", 0), ("2", 40)]):
        judged = await desk.answers.load(await desk.answer(anna, prompt_version=version))
        assert judged is not None
        await desk.keep(judged, number * 0.25, days=days)
    found = await desk.scores.by_day(anna, NOW - timedelta(days=30))
    assert [(line.day, line.prompt_version, line.score, line.count) for line in found] == [
        ((NOW - timedelta(days=1)).date(), "1", 0.125, 2),
        (NOW.date(), "2", 0.5, 1),
    ]


async def test_the_settings_choose_who_judges(resources: Resources) -> None:
    assert isinstance(evaluating.evaluator(resources), OfflineEvaluator)
    curator = resources.settings.group(CuratorSettings).model_copy(update={"evaluator": EvaluatorKind.RAGAS})
    chosen = replace(resources, settings=resources.settings.with_group(curator))
    assert isinstance(evaluating.evaluator(chosen), RagasEvaluator)
    (first, _) = evaluating.activities(chosen)[HEAVY_QUEUE]
    assert isinstance(first.__self__, EvaluationActivities)  # type: ignore[attr-defined]


async def test_a_deleted_conversation_leaves_scores_that_only_count(desk: Desk) -> None:
    """They have no text; for the figures of a model it does not matter whose question it was."""
    anna = await desk.rows.user()
    judged = await desk.answers.load(await desk.answer(anna))
    assert judged is not None
    await desk.keep(judged)
    async with desk.rows.database.unit_of_work() as work:
        await work.session.execute(ConversationRow.__table__.delete())  # type: ignore[attr-defined]
    assert await desk.rows.all(select(func.count()).select_from(EvaluationRow)) == [1]
    assert await desk.scores.by_day(anna, NOW - timedelta(days=1)) == []
    assert len(await desk.scores.by_day(None, NOW - timedelta(days=1))) == 1
