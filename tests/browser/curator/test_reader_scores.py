"""How good answers are, as people see it: a plot for each metric, the same as a table, and what to do when empty."""

import random
from datetime import timedelta

import pytest
from playwright.async_api import Page
from sqlalchemy import delete, insert, update

from pressbox.core.app import Resources
from pressbox.curator.ask.store import AnswerRow, ConversationRow
from pressbox.curator.evaluate.activities import Evaluation
from pressbox.curator.evaluate.domain import Measure, Metric
from pressbox.curator.evaluate.store import EvaluationRow, SqlEvaluations
from pressbox.curator.library.domain import ANSWER_CHANGED
from tests.browser.conftest import DESKTOP, PHONE, SCREENSHOTS, OpenPage, Site, has_no_sideways_scroll
from tests.browser.test_looks import LARGEST_PAGE, OVERLAPS
from tests.fakes.evaluating import judged as text
from tests.fakes.newsstand import Newsstand

pytestmark = pytest.mark.browser
ADDRESS = "/reader/evaluations"
WRITERS = (("a small model", "1", 0.62), ("a small model", "2", 0.78), ("a large model", "2", 0.91))


async def clear(resources: Resources) -> None:
    async with resources.database.unit_of_work() as work:
        await work.session.execute(delete(EvaluationRow))


async def judged(stand: Newsstand) -> None:
    """A month of scores, as three writers had them, and some days without any."""
    chance = random.Random(5)
    rows = [
        {
            "kind": kind,
            "subject_id": number,
            "metric": metric,
            "evaluator": "offline" if "estimate" in metric else "ragas",
            "score": min(1.0, max(0.0, chance.gauss(mean, 0.06))),
            "model": model,
            "prompt_version": version,
            "trace_id": f"{day}",
            "at": stand.now - timedelta(days=day),
        }
        for number, (model, version, mean) in enumerate(WRITERS)
        for kind, metric in (
            ("answer", "faithfulness"),
            ("answer", "answer_relevancy"),
            ("summary", "support_estimate"),
        )
        for day in chance.sample(range(number * 4, 29), 12)
    ]
    async with stand.resources.database.unit_of_work() as work:
        await work.session.execute(insert(EvaluationRow), rows)


async def test_scores_are_lines_per_model_and_prompt_in_both_schemes_and_widths(
    open_page: OpenPage, site: Site, stand: Newsstand
) -> None:
    await clear(stand.resources)
    await judged(stand)
    SCREENSHOTS.mkdir(exist_ok=True)
    for scheme, name, viewport, locale in (("light", "wide", DESKTOP, "en-GB"), ("dark", "phone", PHONE, "de-DE")):
        page = await open_page(viewport, color_scheme=scheme, reduced_motion="reduce", locale=locale)
        answer = await page.goto(f"{site.url}{ADDRESS}")
        assert answer is not None
        assert len(await answer.body()) < LARGEST_PAGE
        await page.screenshot(path=SCREENSHOTS / f"reader-scores-{scheme}-{name}.png", full_page=True)
        assert await has_no_sideways_scroll(page)
        assert await page.evaluate(OVERLAPS) == []
        assert await page.locator(".trend svg").count() == 3
        assert await page.locator("#answer-faithfulness polyline").count() == len(WRITERS)
        shown = await page.locator("#answer-faithfulness tbody tr").all_inner_texts()
        assert [text for text in shown if "a large model" in text and "12" in text]
        colours = await page.locator("#answer-faithfulness .trend-key").evaluate_all(
            "all => all.map(i => getComputedStyle(i).backgroundColor)"
        )
        assert len(set(colours)) == len(WRITERS)
    await clear(stand.resources)


async def test_without_scores_the_page_says_how_to_have_them(page: Page, site: Site, stand: Newsstand) -> None:
    await clear(stand.resources)
    await page.goto(f"{site.url}/reader/sources")
    await page.get_by_role("link", name="How good answers are").click()
    assert "AI_EVALUATION_ENABLED=1" in await page.locator(".blank").inner_text()
    told = await page.request.get(f"{site.url}/api/curator/evaluations?days=90")
    assert await told.json() == {"enabled": False, "evaluator": "offline", "lines": []}


async def test_scores_come_to_an_answer_that_was_followed_while_it_was_written(
    page: Page, site: Site, stand: Newsstand
) -> None:
    await clear(stand.resources)
    async with stand.resources.database.unit_of_work() as work:
        asked = ConversationRow(user_id=stand.user_id, title="The bridge")
        work.session.add(asked)
        await work.session.flush()
        answer = AnswerRow(
            conversation_id=asked.id,
            position=1,
            question="When was it opened?",
            state="searching",
        )
        work.session.add(answer)
    await page.goto(f"{site.url}/reader/ask/{asked.id}")
    written = {"state": "done", "method": "llm", "model": "a small model", "text": "In 1931.", "finished_at": stand.now}
    async with stand.resources.database.unit_of_work() as work:
        await work.session.execute(update(AnswerRow).values(written))
        work.changed(ANSWER_CHANGED, str(answer.id))
    await page.get_by_text("In 1931.").wait_for()
    assert await page.locator(".scores").count() == 0
    measures = (Measure(Metric.FAITHFULNESS, 0.917), Measure(Metric.SUPPORT_ESTIMATE, 0.8))
    evaluated = Evaluation(text(subject_id=answer.id), "ragas", "trace", measures, stand.now)
    await SqlEvaluations(stand.resources.database).add(evaluated)
    await page.locator(".scores").wait_for()
    shown = await page.locator(".scores").inner_text()
    assert "faithfulness 0.92" in shown
    assert "support 0.80 (estimate)" in shown
    await page.screenshot(path=SCREENSHOTS / "reader-scores-answer.png")
    async with stand.resources.database.unit_of_work() as work:
        await work.session.execute(delete(ConversationRow))
    await clear(stand.resources)
