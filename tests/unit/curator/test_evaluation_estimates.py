"""What can be said of a text without a model: sentences that stand somewhere, and how near an answer is."""

from collections.abc import Sequence
from datetime import UTC, date, datetime, timedelta
from typing import Any

import pytest

from pressbox.curator.evaluate.domain import (
    MOST_CURVES,
    Measure,
    Metric,
    ScoreLine,
    SubjectKind,
    averages,
    best_overlap,
    clamp,
    content_words,
    limit_contexts,
    misses_question,
    pictures,
    statements,
    strip_markup,
)
from pressbox.curator.evaluate.evaluators import OfflineEvaluator, nearest
from pressbox.curator.evaluate.service import EvaluationService
from pressbox.curator.models.domain import entry_trace_id, trace_id
from tests.fakes.evaluating import judged


class OneHotEmbedder:
    """Texts about the same subject have the same vector: the first of its words that is in the text."""

    model = "one-hot"
    subjects = ("bridge", "elephant", "weather")

    async def embed(self, texts: Sequence[str]) -> Sequence[Sequence[float]]:
        return [[float(subject in text.lower()) for subject in self.subjects] for text in texts]


def test_marks_of_citations_and_markdown_say_nothing() -> None:
    assert strip_markup("## It **opened** [1].\n- `Now` it is closed [2, 3].") == "It opened.\nNow it is closed."


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("It opened in 1931 [1]. Nobody came!", ["It opened in 1931.", "Nobody came!"]),
        ("橋は開通した。誰も来なかった。", ["橋は開通した。", "誰も来なかった。"]),
        ("---\n\n***", []),
        ("", []),
    ],
)
def test_a_text_is_judged_by_its_sentences(text: str, expected: list[str]) -> None:
    assert statements(text) == expected


@pytest.mark.parametrize(
    ("statement", "share"),
    [
        ("The bridge was opened to traffic.", 1.0),
        ("The bridge was opened by elephants.", 2 / 3),
        ("The elephant was painted.", 0.0),
        ("And so it was.", 0.0),
    ],
)
def test_a_sentence_is_said_where_most_of_its_telling_words_are(statement: str, share: float) -> None:
    texts = ["The weather was fine.", "In October 1931 the bridge was opened to traffic."]
    places = [content_words(text, "en") for text in texts]
    assert best_overlap(content_words(statement, "en"), places) == pytest.approx(share)
    assert best_overlap(content_words(statement, "en"), []) == 0.0


def test_contexts_are_as_long_together_as_a_model_saw_them() -> None:
    assert limit_contexts(("a" * 6, "b" * 6, "c"), longest=10) == ("aaaaaa", "bbbb")
    assert limit_contexts(("  ", "b")) == ("b",)


def test_each_vector_has_its_nearest_and_one_of_nothing_is_near_to_none() -> None:
    assert nearest([[2.0, 0.0], [0.0, 0.0]], [[0.0, 1.0], [3.0, 0.0]]) == pytest.approx([1.0, 0.0])


def test_a_score_stays_between_zero_and_one() -> None:
    assert (clamp(-0.2), clamp(1.0000001), clamp(0.4)) == (0.0, 1.0, 0.4)


async def test_the_estimate_counts_sentences_that_stand_in_the_passages() -> None:
    text = "The bridge was opened in 1931 [1]. Elephants painted all walls pink."
    measures = await OfflineEvaluator(OneHotEmbedder()).judge(judged(text=text))
    assert {measure.metric: measure.score for measure in measures} == {
        Metric.SUPPORT_ESTIMATE: 0.5,
        Metric.RELEVANCE_ESTIMATE: pytest.approx(0.7071, abs=1e-3),
    }


async def test_the_same_in_other_words_is_supported_by_meaning() -> None:
    text = "Since then people crossed it: the bridge."
    asked = judged(question="What about the bridge?", text=text)
    measures = await OfflineEvaluator(OneHotEmbedder()).judge(asked)
    assert measures[0] == Measure(Metric.SUPPORT_ESTIMATE, 1.0)


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("When was the bridge opened?", "The bridge is painted by a crew that never rests [1]. It may rust."),
        ("Wie viele Menschen starben?", "Es gab einen Anschlag auf eine Brücke [1]."),
        ("Combien de ponts y a-t-il ?", "Les ponts sont peints par une équipe [1]."),
        ("橋はいつ開通した？", "橋は市長が祝った [1]。"),
        ("Who opened the bridge?", "The passages do not say who opened it. They tell of its painting in 1931 [1]."),
        ("Who opened the bridge?", "That is not mentioned in the passages."),
        ("Wer hat die Brücke eröffnet?", "Das steht nicht in den Textstellen; sie wurde 1931 gestrichen [1]."),
    ],
)
async def test_an_answer_that_misses_what_was_asked_has_no_support(question: str, text: str) -> None:
    contexts = (text, "The bridge is painted by a crew.")
    measures = await OfflineEvaluator(OneHotEmbedder()).judge(judged(question=question, text=text, contexts=contexts))
    assert [measure.score for measure in measures] == [0.0, 0.0]


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("When was the bridge opened?", "In October of that year [1]."),
        ("When was the bridge opened?", "In 1931 [1]."),
        ("How many came?", "Nearly forty [1]: twelve on Monday."),
        ("Wann öffnet sie?", "Sie öffnet im Mai [1]."),
        ("橋はいつ開通した？", "橋は五月に開通した [1]。"),
        ("Who opened the bridge?", "The mayor opened it [1]. The article does not say why."),
        ("What does the article not say?", "It leaves the cost out [1]."),
    ],
)
def test_an_answer_that_says_what_was_asked_misses_nothing(question: str, text: str) -> None:
    assert not misses_question(question, text)


async def test_a_text_without_a_sentence_has_no_estimate() -> None:
    assert await OfflineEvaluator(OneHotEmbedder()).judge(judged(text="[1] [2]")) == ()


def test_averages_are_over_those_that_have_the_metric() -> None:
    faithful, relevant = Metric.FAITHFULNESS, Metric.ANSWER_RELEVANCY
    found = averages([[Measure(faithful, 1.0), Measure(relevant, 0.5)], [Measure(faithful, 0.5)]])
    assert found == (Measure(faithful, 0.75), Measure(relevant, 0.5))


def test_trace_ids_are_made_from_what_was_done_and_differ_between_entries() -> None:
    batch = trace_id("distil", "distil-feed-5", 3)
    assert batch == trace_id("distil", "distil-feed-5", 3)
    assert (
        len({batch, trace_id("distil", "distil-feed-5", 4), *(entry_trace_id(number, batch) for number in (1, 2))}) == 4
    )
    assert entry_trace_id(1, batch) == entry_trace_id(1, batch)
    assert len(batch) == 32
    assert int(batch, 16)


FIRST, LAST = date(2026, 5, 1), date(2026, 5, 11)


def line(day: int, score: float, model: str = "one", version: str = "1", **changes: object) -> ScoreLine:
    values = {"kind": SubjectKind.ANSWER, "metric": "faithfulness", "evaluator": "ragas", "count": 1} | changes
    return ScoreLine(date(2026, 5, day), model=model, prompt_version=version, score=score, **values)  # type: ignore[arg-type]


def test_each_model_and_prompt_has_a_curve_of_its_own_in_the_picture_of_a_metric() -> None:
    lines = [line(1, 1.0), line(6, 0.5, count=3), line(11, 0.0, version="2"), line(11, 0.9, model="two")]
    (picture,) = pictures(lines, FIRST, LAST)
    assert [(curve.model, curve.prompt_version) for curve in picture.curves] == [
        ("one", "1"),
        ("one", "2"),
        ("two", "1"),
    ]
    first = picture.curves[0]
    assert (first.points, first.count, first.average) == ("0,0 50,50", 4, 0.625)
    assert picture.curves[1].points == "100,100"


def test_a_writer_has_the_same_number_in_every_picture() -> None:
    lines = [line(2, 0.5, model="two"), line(1, 0.5), line(1, 0.5, model="two", metric="answer_relevancy")]
    numbers = [[(curve.model, curve.number) for curve in one.curves] for one in pictures(lines, FIRST, LAST)]
    assert numbers == [[("two", 2)], [("one", 1), ("two", 2)]]


def test_pictures_come_by_kind_and_what_is_estimated_comes_last() -> None:
    lines = [
        line(1, 0.1, kind=SubjectKind.SUMMARY),
        line(1, 0.1, metric="support_estimate"),
        line(1, 0.1, metric="answer_relevancy"),
    ]
    found = [(picture.kind.value, picture.metric, picture.is_estimate) for picture in pictures(lines, FIRST, LAST)]
    assert found == [
        ("answer", "answer_relevancy", False),
        ("answer", "support_estimate", True),
        ("summary", "faithfulness", False),
    ]


def test_a_picture_shows_those_that_wrote_most() -> None:
    lines = [line(1, 0.5, model=f"model {number}", count=number + 1) for number in range(10)]
    (picture,) = pictures(lines, FIRST, LAST)
    assert [curve.model for curve in picture.curves] == [f"model {number}" for number in range(4, 10)]
    assert len(picture.curves) == MOST_CURVES


async def test_a_picture_of_today_alone_has_a_place_for_it() -> None:
    today = datetime(2026, 5, 11, 15, tzinfo=UTC)

    class Scores:
        async def by_day(self, user_id: int | None, since: datetime) -> Sequence[ScoreLine]:
            assert (user_id, since) == (7, today.replace(hour=0))
            return [line(11, 0.5)]

        async def of_subjects(self, kind: SubjectKind, subject_ids: Sequence[int]) -> Sequence[object]:
            return ()

    service = EvaluationService(Scores(), enabled=True, evaluator="ragas", now=lambda: today)  # type: ignore[arg-type]
    view = await service.over_time(7, days=1)
    assert view.pictures[0].curves[0].points == "0,50"
    assert view.pictures[0].last - view.pictures[0].first == timedelta()
    assert await service.of_answers([]) == {}


@pytest.mark.parametrize("missing", [{"question": " "}, {"text": ""}, {"contexts": ()}, {"contexts": (" ",)}])
def test_nothing_is_judged_without_a_question_a_text_and_what_it_stands_on(missing: dict[str, Any]) -> None:
    assert judged().can_be_judged
    assert not judged(**missing).can_be_judged
