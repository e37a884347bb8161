"""JSON: questions, their answers, and an answer while it is written."""

import asyncio
from collections.abc import AsyncGenerator, Sequence
from functools import partial
from typing import Annotated

from fastapi import APIRouter, Depends, Path, Query, Request
from pydantic import Field, TypeAdapter
from starlette.responses import Response

from pressbox.core.audiences.members import Viewer
from pressbox.core.live.feed import ChangeFeed
from pressbox.core.live.messages import event, parse_topics
from pressbox.core.web.api_models import RequestBody
from pressbox.core.web.pages.access import provide
from pressbox.core.web.stream import EventStream, stream_slot
from pressbox.curator.ask.domain import AnswerView, ConversationLine, ConversationView
from pressbox.curator.ask.service import AskService
from pressbox.curator.ask.wiring import ask_service
from pressbox.curator.library.domain import ANSWER_CHANGED
from pressbox.curator.reading.access import LARGEST_ID, Reader
from pressbox.curator.search.domain.query import LONGEST_QUESTION

router = APIRouter(prefix="/api/curator/ask", tags=["ask"])

Service = Annotated[AskService, Depends(provide(ask_service))]

Id = Annotated[int, Path(ge=1, le=LARGEST_ID)]
# The answer is loaded this often even without a change, which also keeps the connection open.
LOOK_SECONDS = 15.0
ANSWER_VIEW = TypeAdapter(AnswerView)


class QuestionBody(RequestBody):
    question: str = Field(min_length=1, max_length=LONGEST_QUESTION)
    conversation_id: int | None = Field(None, ge=1, le=LARGEST_ID, description="To ask further in a conversation.")
    entry_id: int | None = Field(None, ge=1, le=LARGEST_ID, description="To ask about one entry; else about all.")


class TitleBody(RequestBody):
    title: str = Field(min_length=1, max_length=200)


@router.post("", status_code=202, summary="Ask; the answer follows under its id")
async def ask(service: Service, identity: Reader, body: QuestionBody) -> AnswerView:
    return await service.ask(
        identity.user_id, body.question, conversation_id=body.conversation_id, entry_id=body.entry_id
    )


@router.get("/conversations", summary="What was asked before, the newest first")
async def conversations(
    service: Service, identity: Reader, limit: Annotated[int, Query(ge=1, le=200)] = 50
) -> Sequence[ConversationLine]:
    return await service.history(identity.user_id, limit=limit)


@router.get("/conversations/{conversation_id}", summary="One conversation with its answers")
async def conversation(service: Service, identity: Reader, conversation_id: Id) -> ConversationView:
    return await service.conversation(identity.user_id, conversation_id)


@router.put("/conversations/{conversation_id}", status_code=204, summary="Rename a conversation")
async def rename(service: Service, identity: Reader, conversation_id: Id, body: TitleBody) -> None:
    await service.rename(identity.user_id, conversation_id, body.title)


@router.delete("/conversations/{conversation_id}", status_code=204, summary="Delete a conversation")
async def delete(service: Service, identity: Reader, conversation_id: Id) -> None:
    await service.delete(identity.user_id, conversation_id)


@router.get("/answers/{answer_id}", summary="One answer, as it is now")
async def answer(service: Service, identity: Reader, answer_id: Id) -> AnswerView:
    return await service.answer(identity.user_id, answer_id)


@router.post("/answers/{answer_id}/stop", summary="Stop an answer; what was written stays")
async def stop(service: Service, identity: Reader, answer_id: Id) -> AnswerView:
    return await service.stop(identity.user_id, answer_id)


@router.post("/answers/{answer_id}/again", status_code=202, summary="Ask again what failed or was stopped")
async def again(service: Service, identity: Reader, answer_id: Id) -> AnswerView:
    return await service.again(identity.user_id, answer_id)


@router.get(
    "/answers/{answer_id}/stream",
    summary="An answer while it is written, as server-sent events",
    response_class=Response,
    responses={200: {"content": {"text/event-stream": {}}, "description": "Events: answer, until it has ended."}},
)
async def stream(request: Request, service: Service, identity: Reader, answer_id: Id) -> Response:
    first = await service.answer(identity.user_id, answer_id)
    events = partial(_follow, request.app.state.feed, service, identity.user_id, first)
    return EventStream(events, await stream_slot(request, identity))


async def _follow(feed: ChangeFeed, asking: AskService, user_id: int, first: AnswerView) -> AsyncGenerator[bytes, None]:
    wish = parse_topics(f"{ANSWER_CHANGED}:{first.id}", feed.topics.keys(), {ANSWER_CHANGED})
    with feed.listen(wish, Viewer(user_id)) as listener:
        # Loaded again, because it may have changed before we listened.
        known, now = None, await asking.answer(user_id, first.id)
        while True:
            if now != known:
                yield event("answer", ANSWER_VIEW.dump_python(now, mode="json"))
            if not now.state.is_open:
                return
            known = now
            try:
                async with asyncio.timeout(LOOK_SECONDS):
                    await listener.next()
            except TimeoutError:
                yield b": keep-alive\n\n"
            now = await asking.answer(user_id, first.id)
