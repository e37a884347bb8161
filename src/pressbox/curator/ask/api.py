"""JSON: questions, their answers, and an answer as it grows."""

import asyncio
from collections.abc import AsyncIterator
from datetime import datetime
from typing import Annotated

from fastapi import APIRouter, Path, Query, Request
from fastapi.responses import StreamingResponse
from pydantic import Field

from pressbox.core.live.feed import ChangeFeed
from pressbox.core.live.messages import event, parse_topics
from pressbox.core.web.api_models import RequestBody, ResponseModel
from pressbox.curator.ask.domain.answers import AnswerMethod, AnswerState, AnswerView, ConversationView
from pressbox.curator.ask.service import AskService
from pressbox.curator.library.domain.changes import ANSWER_CHANGED
from pressbox.curator.reading.access import LARGEST_ID, Reader, Service
from pressbox.curator.search.domain.questions import LONGEST_QUESTION
from pressbox.curator.search.domain.retrieval import FoundBy

router = APIRouter(prefix="/api/curator/ask", tags=["ask"])

Id = Annotated[int, Path(ge=1, le=LARGEST_ID)]
# Without a word of change the answer is looked at all the same, and the line is kept open.
LOOK_SECONDS = 15.0
LIFE_SECONDS = 600.0


class QuestionBody(RequestBody):
    question: str = Field(min_length=1, max_length=LONGEST_QUESTION)
    conversation_id: int | None = Field(None, ge=1, le=LARGEST_ID, description="To ask further in a conversation.")
    entry_id: int | None = Field(None, ge=1, le=LARGEST_ID, description="To ask about one entry; else about all.")


class TitleBody(RequestBody):
    title: str = Field(min_length=1, max_length=200)


class PassageAnswer(ResponseModel):
    entry_id: int
    feed_id: int
    title: str
    feed_title: str
    url: str
    published_at: datetime
    start: int = Field(description="First character in the entry's text.")
    end: int
    text: str
    score: float
    found_by: tuple[FoundBy, ...]


class AnswerAnswer(ResponseModel):
    id: int
    conversation_id: int
    question: str
    state: AnswerState
    method: AnswerMethod | None = Field(description="llm, or passages when these are the answer.")
    model: str
    text: str = Field(description="With [n] for the passages it stands on, counted from one.")
    passages: list[PassageAnswer]
    reason: str = Field(description="Why it waits or failed.")
    created_at: datetime
    finished_at: datetime | None


class ConversationAnswer(ResponseModel):
    id: int
    title: str
    entry_id: int | None
    entry_title: str
    updated_at: datetime
    questions: int


class WholeConversationAnswer(ConversationAnswer):
    answers: list[AnswerAnswer]

    @classmethod
    def of(cls, view: ConversationView) -> "WholeConversationAnswer":
        line = ConversationAnswer.model_validate(view.line)
        answers = [AnswerAnswer.model_validate(answer) for answer in view.answers]
        return cls(**line.model_dump(), answers=answers)


@router.post("", status_code=202, summary="Ask; the answer follows under its id")
async def ask(service: Service, identity: Reader, body: QuestionBody) -> AnswerAnswer:
    asked = await service.asking.ask(
        identity.user_id, body.question, conversation_id=body.conversation_id, entry_id=body.entry_id
    )
    return AnswerAnswer.model_validate(asked)


@router.get("/conversations", summary="What was asked before, the newest first")
async def conversations(
    service: Service, identity: Reader, limit: Annotated[int, Query(ge=1, le=200)] = 50
) -> list[ConversationAnswer]:
    found = await service.asking.history(identity.user_id, limit=limit)
    return [ConversationAnswer.model_validate(line) for line in found]


@router.get("/conversations/{conversation_id}", summary="One conversation with its answers")
async def conversation(service: Service, identity: Reader, conversation_id: Id) -> WholeConversationAnswer:
    return WholeConversationAnswer.of(await service.asking.conversation(identity.user_id, conversation_id))


@router.put("/conversations/{conversation_id}", status_code=204, summary="Rename a conversation")
async def rename(service: Service, identity: Reader, conversation_id: Id, body: TitleBody) -> None:
    await service.asking.rename(identity.user_id, conversation_id, body.title)


@router.delete("/conversations/{conversation_id}", status_code=204, summary="Delete a conversation")
async def delete(service: Service, identity: Reader, conversation_id: Id) -> None:
    await service.asking.delete(identity.user_id, conversation_id)


@router.get("/answers/{answer_id}", summary="One answer, as it is now")
async def answer(service: Service, identity: Reader, answer_id: Id) -> AnswerAnswer:
    return AnswerAnswer.model_validate(await service.asking.answer(identity.user_id, answer_id))


@router.post("/answers/{answer_id}/stop", summary="Stop an answer; what was written stays")
async def stop(service: Service, identity: Reader, answer_id: Id) -> AnswerAnswer:
    return AnswerAnswer.model_validate(await service.asking.stop(identity.user_id, answer_id))


@router.post("/answers/{answer_id}/again", status_code=202, summary="Ask again what failed or was stopped")
async def again(service: Service, identity: Reader, answer_id: Id) -> AnswerAnswer:
    return AnswerAnswer.model_validate(await service.asking.again(identity.user_id, answer_id))


@router.get(
    "/answers/{answer_id}/stream",
    summary="An answer while it is written, as server-sent events",
    response_class=StreamingResponse,
    responses={200: {"content": {"text/event-stream": {}}, "description": "Events: answer, until it has ended."}},
)
async def stream(request: Request, service: Service, identity: Reader, answer_id: Id) -> StreamingResponse:
    first = await service.asking.answer(identity.user_id, answer_id)
    growing = _growing(request.app.state.feed, service.asking, identity.user_id, first)
    return StreamingResponse(growing, media_type="text/event-stream", headers={"X-Accel-Buffering": "no"})


async def _growing(feed: ChangeFeed, asking: AskService, user_id: int, first: AnswerView) -> AsyncIterator[bytes]:
    wish = parse_topics(f"{ANSWER_CHANGED}:{first.id}", feed.topics.keys(), {ANSWER_CHANGED})
    until = asyncio.get_running_loop().time() + LIFE_SECONDS
    with feed.listen(wish) as listener:
        # Asked again, because it may have changed before somebody listened.
        known, now = None, await asking.answer(user_id, first.id)
        while True:
            if now != known:
                yield event("answer", AnswerAnswer.model_validate(now).model_dump(mode="json"))
            if not now.state.is_open or asyncio.get_running_loop().time() > until:
                return
            known = now
            try:
                async with asyncio.timeout(LOOK_SECONDS):
                    await listener.next()
            except TimeoutError:
                yield b": keep-alive\n\n"
            now = await asking.answer(user_id, first.id)
