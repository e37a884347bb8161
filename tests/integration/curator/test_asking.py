"""Asking on the real application and database: pages, REST, history, and what belongs to whom."""

import asyncio
import json
from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import timedelta

import httpx
import pytest
from fastapi import FastAPI
from sqlalchemy import delete, select

from pressbox.core.accounts.models import Role
from pressbox.core.accounts.rows import UserRow
from pressbox.core.app import Resources
from pressbox.core.config import Settings
from pressbox.curator.ask.domain import AnswerMethod, AnswerState, Ending
from pressbox.curator.ask.service import AskService
from pressbox.curator.ask.store import SqlAnswers, SqlConversations
from pressbox.curator.ask.wiring import ask_service
from pressbox.curator.library.rows import EntryRow
from pressbox.curator.manifest import APP
from pressbox.curator.search.domain.passages import Passage
from tests.fakes.asking import StartedAnswers, passage, written
from tests.fakes.reader import NOW, Library
from tests.site import browsing, serving

API = "/api/curator/ask"
BODY = "The <b>old</b> bridge is closed &amp; empty. <i>Repairs</i> take a year."
TEXT = "The old bridge is closed & empty. Repairs take a year."


@pytest.fixture
def workflows() -> StartedAnswers:
    return StartedAnswers()


@pytest.fixture
def library(resources: Resources) -> Library:
    return Library(resources)


@pytest.fixture
def desk(library: Library) -> SqlAnswers:
    return SqlAnswers(library.database)


@pytest.fixture
async def app(library: Library, workflows: StartedAnswers, settings: Settings) -> AsyncIterator[FastAPI]:
    conversations, answers = SqlConversations(library.database), SqlAnswers(library.database)
    questions = AskService(conversations, answers, workflows, has_model=True, now=library.clock)
    overrides = library.overrides() | {ask_service: lambda: questions}
    async with serving(library.resources, settings, [APP], overrides) as app:
        yield app


@pytest.fixture
async def anna(app: FastAPI) -> AsyncIterator[httpx.AsyncClient]:
    async with browsing(app, "anna", Role.ADMIN) as client:
        yield client


@pytest.fixture
async def ben(app: FastAPI, anna: httpx.AsyncClient) -> AsyncIterator[httpx.AsyncClient]:
    async with browsing(app, "ben") as client:
        yield client


async def asked(client: httpx.AsyncClient, question: str = "Is the bridge closed?", **more: int) -> tuple[int, int]:
    answer = await client.post(API, json={"question": question, **more})
    assert answer.status_code == 202, answer.text
    return answer.json()["id"], answer.json()["conversation_id"]


async def article(library: Library, reader: str = "anna") -> tuple[int, Passage]:
    async with library.database.unit_of_work() as work:
        user_id = await work.session.scalar(select(UserRow.id).where(UserRow.email == f"{reader}@example.org"))
    assert user_id is not None
    feed = await library.feed(user_id, title="The Herald")
    entry = (await written(library, feed, "Trouble at the river", TEXT, body=BODY)).entry_id
    return entry, replace(passage(1, TEXT[:33]), entry_id=entry, title="Trouble at the river", start=0, end=33)


ENDED = Ending(AnswerState.DONE, AnswerMethod.MODEL, "It is **closed** [1].\n\n- <b>really</b>", model="a model")


async def test_a_question_grows_into_an_answer_with_citations_that_open_the_passage(
    library: Library, anna: httpx.AsyncClient, desk: SqlAnswers, workflows: StartedAnswers
) -> None:
    entry, found = await article(library)
    sent = await anna.post("/reader/ask", data={"question": "Is the bridge closed?"})
    assert sent.status_code == 303
    address = sent.headers["location"]
    (answer_id,) = workflows.started
    page = (await anna.get(address)).text
    assert "Looking through what you read" in page
    assert f'data-follow="curator.answer:{answer_id}"' in page
    await desk.save_passages(answer_id, [found])
    await desk.save_text(answer_id, "It is closed")
    part = (await anna.get(f"/reader/ask/answers/{answer_id}/part")).text
    assert "It is closed" in part
    assert 'aria-busy="true"' in part
    await desk.finish(answer_id, ENDED, NOW)
    page = (await anna.get(address)).text
    assert "<strong>closed</strong>" in page
    assert "&lt;b&gt;really&lt;/b&gt;" in page
    assert "<b>really" not in page
    citation = f"/reader/entries/{entry}?passage=0-33&amp;cited={answer_id}-1#passage"
    assert citation in page
    opened = (await anna.get(citation.replace("&amp;", "&"))).text
    assert '<mark id="passage">The </mark><b><mark>old</mark></b><mark> bridge is closed &amp; empty</mark>' in opened


async def test_a_passage_that_is_no_longer_in_the_article_is_quoted_above_it(
    library: Library, anna: httpx.AsyncClient, desk: SqlAnswers
) -> None:
    entry, found = await article(library)
    answer_id, _ = await asked(anna)
    await desk.save_passages(answer_id, [replace(found, text="What it said before, <i>word for word</i>.")])
    opened = (await anna.get(f"/reader/entries/{entry}", params={"passage": "0-9", "cited": f"{answer_id}-1"})).text
    assert "What it said before, &lt;i&gt;word for word&lt;/i&gt;." in opened
    # Nonsense in the address is the article, as it is.
    for nonsense in (
        {"passage": "9-0"},
        {"passage": "x"},
        {"passage": "0-99999999"},
        {"passage": "999999999999990-999999999999999"},
        {"passage": "2147483646-2147483648"},
        {"passage": "0-5", "cited": "999999999999999-999999999999999"},
        {"passage": "0-5", "cited": "1-9"},
    ):
        assert (await anna.get(f"/reader/entries/{entry}", params=nonsense)).status_code == 200


async def test_one_persons_questions_are_nobody_elses(
    library: Library, anna: httpx.AsyncClient, ben: httpx.AsyncClient, desk: SqlAnswers
) -> None:
    entry, found = await article(library)
    answer_id, conversation = await asked(anna, entry_id=entry)
    await desk.save_passages(answer_id, [found])
    addresses = [
        f"/reader/ask/{conversation}",
        f"/reader/ask/{conversation}/export",
        f"/reader/ask/answers/{answer_id}/part",
        f"{API}/answers/{answer_id}",
        f"{API}/answers/{answer_id}/stream",
        f"{API}/conversations/{conversation}",
    ]
    for address in addresses:
        assert (await ben.get(address)).status_code == 404, address
    assert (await ben.post(f"{API}/answers/{answer_id}/stop")).status_code == 404
    assert (await ben.delete(f"{API}/conversations/{conversation}")).status_code == 404
    assert (await ben.post(API, json={"question": "And?", "conversation_id": conversation})).status_code == 404
    assert (await ben.post(API, json={"question": "What?", "entry_id": entry})).status_code == 404
    assert (await ben.get(f"{API}/conversations")).json() == []
    assert (await ben.get("/api/stream", params={"topics": "curator.answer"})).status_code == 422


async def test_questions_of_a_conversation_stand_in_order_and_remember_each_other(
    library: Library, anna: httpx.AsyncClient, desk: SqlAnswers
) -> None:
    entry, found = await article(library)
    first, conversation = await asked(anna, entry_id=entry)
    await desk.save_passages(first, [found])
    await desk.finish(first, ENDED, NOW)
    second, same = await asked(anna, "And who pays?", conversation_id=conversation)
    assert same == conversation
    task = await desk.load_task(second)
    assert task is not None
    assert [turn.question for turn in task.turns] == ["Is the bridge closed?"]
    assert task.entry_id == entry
    whole = (await anna.get(f"{API}/conversations/{conversation}")).json()
    assert [one["question"] for one in whole["answers"]] == ["Is the bridge closed?", "And who pays?"]
    assert whole["answers"][0]["passages"][0]["text"] == TEXT[:33]


async def test_the_history_can_be_opened_renamed_exported_and_deleted(
    library: Library, anna: httpx.AsyncClient, desk: SqlAnswers, workflows: StartedAnswers
) -> None:
    _, found = await article(library)
    answer_id, conversation = await asked(anna)
    await desk.save_passages(answer_id, [found])
    await desk.finish(answer_id, ENDED, NOW)
    library.now += timedelta(minutes=1)
    running, other = await asked(anna, "What else?")
    assert [line["id"] for line in (await anna.get(f"{API}/conversations")).json()] == [other, conversation]
    await anna.post(f"/reader/ask/{conversation}/act", data={"title": " The  bridge "})
    assert "The bridge" in (await anna.get("/reader/ask")).text
    exported = await anna.get(f"/reader/ask/{conversation}/export")
    assert exported.headers["content-type"].startswith("text/markdown")
    assert "# The bridge" in exported.text
    assert "1. Trouble at the river (The Herald, 2026-03-01) <https://example.org/1>" in exported.text
    await anna.post(f"/reader/ask/{other}/act", data={"delete": "1"})
    assert workflows.stopped == [running]
    assert [line["id"] for line in (await anna.get(f"{API}/conversations")).json()] == [conversation]
    assert not await desk.save_text(running, "Too late.")


async def test_a_question_can_be_stopped_and_asked_again(
    library: Library, anna: httpx.AsyncClient, desk: SqlAnswers, workflows: StartedAnswers
) -> None:
    answer_id, conversation = await asked(anna)
    await desk.save_text(answer_id, "It is")
    stopped = (await anna.post(f"{API}/answers/{answer_id}/stop")).json()
    assert (stopped["state"], stopped["text"], workflows.stopped) == ("stopped", "It is", [answer_id])
    # What comes late from a worker changes nothing.
    assert not await desk.save_text(answer_id, "It is closed.")
    assert not await desk.wait(answer_id, "The model is away.")
    assert not await desk.finish(answer_id, ENDED, NOW)
    assert "You stopped this." in (await anna.get(f"/reader/ask/{conversation}")).text
    assert (await anna.post(f"{API}/answers/{answer_id}/again")).json()["state"] == "searching"
    assert workflows.started == [answer_id, answer_id]
    assert (await anna.post(f"{API}/answers/{answer_id}/again")).status_code == 409


async def test_while_the_model_is_away_the_page_says_so_and_gives_the_passages(
    library: Library, anna: httpx.AsyncClient, desk: SqlAnswers
) -> None:
    _, found = await article(library)
    answer_id, conversation = await asked(anna)
    await desk.save_passages(answer_id, [found])
    await desk.wait(answer_id, "The token budget of the day is used up.")
    page = (await anna.get(f"/reader/ask/{conversation}")).text
    assert "The answer is waiting and will continue on its own." in page
    assert "The token budget of the day is used up." in page
    assert "<blockquote>The old bridge is closed &amp; empty.</blockquote>" in page


async def test_without_a_model_the_passages_are_the_answer_and_the_page_says_so(
    library: Library, anna: httpx.AsyncClient, desk: SqlAnswers
) -> None:
    _, found = await article(library)
    answer_id, conversation = await asked(anna)
    await desk.save_passages(answer_id, [found])
    await desk.finish(answer_id, Ending(AnswerState.DONE, AnswerMethod.PASSAGES), NOW)
    page = (await anna.get(f"/reader/ask/{conversation}")).text
    assert "There is no model to write answers." in page
    assert "<blockquote>The old bridge" in page


async def test_an_answer_without_a_source_and_a_question_without_an_answer_are_labelled(
    library: Library, anna: httpx.AsyncClient, desk: SqlAnswers
) -> None:
    unsupported, conversation = await asked(anna)
    await desk.save_passages(unsupported, [passage(1)])
    await desk.finish(unsupported, replace(ENDED, text="Believe me."), NOW)
    nothing, _ = await asked(anna, "What of Atlantis?", conversation_id=conversation)
    await desk.finish(nothing, Ending(AnswerState.DONE, AnswerMethod.PASSAGES), NOW)
    page = (await anna.get(f"/reader/ask/{conversation}")).text
    assert "This answer names no source." in page
    assert "Nothing you read mentions this." in page


async def test_a_question_that_cannot_be_begun_is_kept_with_the_reason(
    library: Library, anna: httpx.AsyncClient, workflows: StartedAnswers
) -> None:
    workflows.away = True
    sent = await anna.post("/reader/ask", data={"question": "Is it closed?"})
    page = (await anna.get(sent.headers["location"])).text
    assert "Temporal does not answer." in page
    assert "Ask again" in page


@pytest.mark.parametrize("question", ["  ", "x" * 2_001])
async def test_a_question_that_is_none_comes_back_with_what_is_wrong(anna: httpx.AsyncClient, question: str) -> None:
    sent = await anna.post("/reader/ask", data={"question": question})
    assert sent.status_code == 422
    assert question.strip() in sent.text
    assert (await anna.post(API, json={"question": question})).status_code == 422


async def test_the_stream_of_an_answer_tells_each_state_until_the_last(
    library: Library, anna: httpx.AsyncClient, desk: SqlAnswers
) -> None:
    answer_id, _ = await asked(anna)

    async def write() -> None:
        await desk.save_passages(answer_id, [passage(1)])
        await desk.save_text(answer_id, "It is")
        await desk.finish(answer_id, ENDED, NOW)

    writing = asyncio.create_task(write())
    told = (await anna.get(f"{API}/answers/{answer_id}/stream")).text
    await writing
    states = [json.loads(line.removeprefix("data: ")) for line in told.splitlines() if line.startswith("data: ")]
    assert states[-1]["state"] == "done"
    assert states[-1]["text"] == ENDED.text


async def test_what_was_asked_about_an_article_outlives_the_article(
    library: Library, anna: httpx.AsyncClient, desk: SqlAnswers
) -> None:
    entry, found = await article(library)
    answer_id, conversation = await asked(anna, entry_id=entry)
    await desk.save_passages(answer_id, [found])
    await desk.finish(answer_id, ENDED, NOW)
    async with library.database.unit_of_work() as work:
        await work.session.execute(delete(EntryRow).where(EntryRow.id == entry))
    whole = (await anna.get(f"{API}/conversations/{conversation}")).json()
    assert (whole["entry_id"], whole["answers"][0]["passages"][0]["text"]) == (None, TEXT[:33])
    assert (await anna.get(f"/reader/ask/{conversation}")).status_code == 200
