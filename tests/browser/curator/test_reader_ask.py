"""Asking in a real browser: a question by keyboard, an answer that grows, and a citation that opens the passage."""

from dataclasses import replace

import pytest
from playwright.async_api import Page, expect
from sqlalchemy import delete

from pressbox.curator.ask.contracts import answer_workflow_id
from pressbox.curator.ask.domain import AnswerMethod, AnswerState, AnswerView, Ending
from pressbox.curator.ask.store import ConversationRow, SqlAnswers, SqlConversations
from pressbox.curator.search.domain.passages import FoundBy, Passage
from tests.browser.conftest import DESKTOP, PHONE, SCREENSHOTS, OpenPage, Site, has_no_sideways_scroll
from tests.browser.test_looks import LARGEST_PAGE, OVERLAPS
from tests.fakes.newsstand import RICH, Newsstand

pytestmark = pytest.mark.browser
SAID = "Nobody was on it but the post, two crates of lemons and a dog that travels alone."
ANSWER = (
    "The ferry carried *nobody* that morning, only the post, two crates of lemons and a dog that travels alone [1]. "
    "It has left at six every day since 1921, with a break during the war [1][2].\n\n- The post goes first [2].\n- The "
    "lemons must not get wet [3]."
)


def passage(stand: Newsstand, entry_id: int, text: str = SAID, **changes: object) -> Passage:
    known = Passage(
        entry_id=entry_id,
        feed_id=1,
        title="The ferry that carries lemons, letters and one dog",
        feed_title="The Harbour Gazette",
        url="https://example.org/1",
        published_at=stand.now,
        start=0,
        end=len(text),
        text=text,
        score=0.0,
        found_by=(FoundBy.FULL_TEXT, FoundBy.VECTORS),
    )
    return replace(known, **changes)  # type: ignore[arg-type]


async def asked(stand: Newsstand, question: str, conversation_id: int | None = None) -> AnswerView:
    conversations = SqlConversations(stand.resources.database)
    return await conversations.add_question(
        stand.user_id, question, stand.now, conversation_id=conversation_id, entry_id=None
    )


async def ferry(stand: Newsstand) -> int:
    async with stand.resources.database.unit_of_work() as work:
        await work.session.execute(delete(ConversationRow))
    gazette = await stand.feed("The Harbour Gazette")
    return await stand.entry(gazette, "The ferry that carries lemons, letters and one dog", RICH, language="en")


async def test_a_question_by_keyboard_grows_into_an_answer_whose_citation_opens_the_passage(
    open_page: OpenPage, site: Site, stand: Newsstand
) -> None:
    entry_id = await ferry(stand)
    desk = SqlAnswers(stand.resources.database)
    page: Page = await open_page(DESKTOP)
    await page.goto(f"{site.url}/reader/entries/{entry_id}")
    await page.keyboard.press("q")
    await page.wait_for_url("**/reader/ask?entry=*")
    await page.keyboard.type("Who was on the ferry?")
    await page.get_by_role("button", name="Ask", exact=True).click()
    section = page.locator("section.answer")
    await expect(section).to_contain_text("Looking through what you read")
    answer_id = int((await section.get_attribute("id") or "").removeprefix("answer-"))
    try:
        await desk.save_passages(answer_id, [passage(stand, entry_id)])
        await desk.save_text(answer_id, "The ferry carried")
        await expect(section.locator(".answer-text")).to_have_text("The ferry carried")
        await desk.save_text(answer_id, "The ferry carried nobody [1].")
        await expect(section.locator(".answer-text")).to_contain_text("nobody")
        # Another page of the same answer, opened now, has all of it.
        await page.reload()
        await expect(section.locator(".answer-text")).to_contain_text("nobody")
        ending = Ending(AnswerState.DONE, AnswerMethod.MODEL, "It carried nobody [1].", model="a model")
        await desk.finish(answer_id, ending, stand.now)
        await expect(section.get_by_role("button", name="Stop")).to_have_count(0)
        await section.locator("a.cite").click()
        await page.wait_for_url("**/reader/entries/**#passage")
        await expect(page.locator("mark#passage")).to_contain_text("Nobody was on it but the post")
        await expect(page.locator("mark#passage")).to_be_in_viewport()
    finally:
        await stand.resources.temporal.get_workflow_handle(answer_workflow_id(answer_id)).terminate("the test is over")


async def test_pages_of_asking_stand_in_both_schemes_and_widths(
    open_page: OpenPage, site: Site, stand: Newsstand
) -> None:
    entry_id = await ferry(stand)
    desk = SqlAnswers(stand.resources.database)
    addresses = {"ask-empty": "/reader/ask", "ask-entry": f"/reader/ask?entry={entry_id}"}
    looks = (("light", "wide", DESKTOP, "en-GB"), ("dark", "phone", PHONE, "de-DE"))
    SCREENSHOTS.mkdir(exist_ok=True)
    pages = [(scheme, name, await open_page(view, color_scheme=scheme, reduced_motion="reduce", locale=locale))
             for scheme, name, view, locale in looks]  # fmt: skip
    for scheme, name, page in pages:
        await shown(page, site, addresses, scheme, name)
    found = [
        passage(stand, entry_id),
        passage(
            stand, entry_id, "The post goes first. Then the lemons, which must not get wet.", found_by=(FoundBy.GRAPH,)
        ),
        passage(
            stand, entry_id, "With a break from 1940 to 1946. " * 6, title="路地裏の小さな店", feed_title="横丁だより"
        ),
        passage(stand, entry_id, "It is a quiet crossing.", title="A very long title " * 6),
    ]
    first = await asked(stand, "Who or what was on the ferry to the outer islands on the morning of the report?")
    await desk.save_passages(first.id, found)
    done = Ending(AnswerState.DONE, AnswerMethod.MODEL, ANSWER, model="a model")
    await desk.finish(first.id, done, stand.now)
    second = await asked(stand, "And is any of that certain?", first.conversation_id)
    await desk.save_passages(second.id, found)
    await desk.finish(second.id, replace(done, text="Believe me, it is."), stand.now)
    third = await asked(stand, "Who is the captain?", first.conversation_id)
    await desk.save_passages(third.id, found[:2])
    await desk.save_text(third.id, "The captain is")
    passages = await asked(stand, "What goes first?")
    await desk.save_passages(passages.id, found)
    await desk.finish(passages.id, Ending(AnswerState.DONE, AnswerMethod.PASSAGES), stand.now)
    waiting = await asked(stand, "What of tomorrow?", passages.conversation_id)
    await desk.save_passages(waiting.id, found[:1])
    await desk.wait(waiting.id, "The token budget of the day is used up.")
    failed = await asked(stand, "And of yesterday?", passages.conversation_id)
    await desk.finish(failed.id, Ending(AnswerState.FAILED, reason="The entry is gone."), stand.now)
    nothing = await asked(stand, "What is on the moon?", passages.conversation_id)
    await desk.finish(nothing.id, Ending(AnswerState.DONE, AnswerMethod.PASSAGES), stand.now)
    addresses = {
        "ask-history": "/reader/ask",
        "ask-answered": f"/reader/ask/{first.conversation_id}",
        "ask-passages": f"/reader/ask/{passages.conversation_id}",
        "ask-cited": f"/reader/entries/{entry_id}?passage=0-9&cited={first.id}-1#passage",
    }
    for scheme, name, page in pages:
        await shown(page, site, addresses, scheme, name)


async def shown(page: Page, site: Site, addresses: dict[str, str], scheme: str, name: str) -> None:
    for what, path in addresses.items():
        answer = await page.goto(f"{site.url}{path}")
        assert answer is not None
        assert len(await answer.body()) < LARGEST_PAGE, path
        await page.screenshot(path=SCREENSHOTS / f"reader-{what}-{scheme}-{name}.png", full_page=True)
        assert await has_no_sideways_scroll(page), path
        assert await page.evaluate(OVERLAPS) == [], path
