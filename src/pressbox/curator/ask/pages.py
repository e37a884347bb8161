"""Asking: the box with the history, a conversation that grows while it is read, and where its citations lead."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated

from fastapi import APIRouter, Depends, Form, Path, Query, Request
from fastapi.responses import HTMLResponse, RedirectResponse, Response

from pressbox.core.app import Resources
from pressbox.core.errors import InvalidInputError, NotFoundError
from pressbox.core.web.pages.access import provide
from pressbox.core.web.rendering import render
from pressbox.curator.ask.domain import AnswerMethod, AnswerState, AnswerView, Block, blocks, cited, markdown, title_of
from pressbox.curator.ask.service import AskService
from pressbox.curator.ask.wiring import ask_service
from pressbox.curator.evaluate.domain import SubjectScore
from pressbox.curator.evaluate.service import EvaluationService
from pressbox.curator.evaluate.wiring import evaluation_service
from pressbox.curator.library.domain import ANSWER_CHANGED, PERSON_CHANGED
from pressbox.curator.reading.access import LARGEST_ID, PATH, Reader, cursor, wants_part
from pressbox.curator.reading.extensions import ID
from pressbox.curator.reading.service import ReadingService
from pressbox.curator.reading.wiring import reading_service


def passage_address(answer: AnswerView, number: int) -> str:
    """Return where citation `number` leads, counted from one."""
    passage = answer.passages[number - 1]
    place = f"passage={passage.start}-{passage.end}&cited={answer.id}-{number}"
    return f"{PATH}/entries/{passage.entry_id}?{place}#{ID}"


async def find_passage(
    resources: Resources, user_id: int, entry_id: int, place: tuple[int, int], cited: tuple[int, int] | None
) -> str:
    """Return the passage as the answer quotes it, else what stands there now."""
    service = ask_service(resources)
    try:
        return await service.passage(user_id, entry_id, *place, cited)
    except NotFoundError:
        # The answer is gone; the article is still there to be read.
        return await service.passage(user_id, entry_id, *place)


router = APIRouter(include_in_schema=False)

Service = Annotated[AskService, Depends(provide(ask_service))]
Reading = Annotated[ReadingService, Depends(provide(reading_service))]
Evaluations = Annotated[EvaluationService, Depends(provide(evaluation_service))]

ASK_PATH = f"{PATH}/ask"
ConversationId = Annotated[int, Path(ge=1, le=LARGEST_ID)]
AnswerId = Annotated[int, Path(ge=1, le=LARGEST_ID)]
Said = Annotated[str, Form(max_length=20_000)]
Number = Annotated[int | None, Form(ge=1, le=LARGEST_ID)]
HISTORY_SHOWN = 30


@dataclass(frozen=True)
class ShownAnswer:
    """An answer as templates draw it."""

    answer: AnswerView
    scores: Sequence[SubjectScore] = ()

    @property
    def blocks(self) -> Sequence[Block]:
        return blocks(self.answer.text)

    @property
    def cited(self) -> Sequence[int]:
        return cited(self.answer.text)

    @property
    def shown_numbers(self) -> Sequence[int]:
        """The passages that it cites; all of them while it is written, and when it cites none."""
        every = range(1, len(self.answer.passages) + 1)
        used = sorted(number for number in self.cited if number in every)
        return every if self.is_open or not used else used

    @property
    def other_numbers(self) -> Sequence[int]:
        shown = set(self.shown_numbers)
        return [number for number in range(1, len(self.answer.passages) + 1) if number not in shown]

    @property
    def is_open(self) -> bool:
        return self.answer.state.is_open

    @property
    def is_unsupported(self) -> bool:
        """A model wrote it, and names no passage for any of it."""
        done = self.answer.state is AnswerState.DONE and self.answer.method is AnswerMethod.MODEL
        return done and not self.cited

    @property
    def only_passages(self) -> bool:
        """There is no text: the passages are what there is to read, for now or for good."""
        return not self.answer.text and bool(self.answer.passages)

    @property
    def topic(self) -> str:
        return f"{ANSWER_CHANGED}:{self.answer.id}"

    @property
    def part(self) -> str:
        return f"{ASK_PATH}/answers/{self.answer.id}/part"

    def place(self, number: int) -> str:
        return passage_address(self.answer, number)


@router.get(ASK_PATH)
async def ask_page(
    request: Request,
    service: Service,
    reading: Reading,
    identity: Reader,
    question: Annotated[str, Query(max_length=2_000)] = "",
    entry: Annotated[int | None, Query(ge=1, le=LARGEST_ID)] = None,
) -> HTMLResponse:
    """The box, with what was asked before. `entry` asks about one article."""
    at = await cursor(request)
    article = None if entry is None else await reading.load_item(identity.user_id, entry)
    history = await service.history(identity.user_id, limit=HISTORY_SHOWN)
    return render(
        request,
        "curator/ask.html",
        identity=identity,
        article=article,
        question=question,
        history=history,
        has_model=service.has_model,
        topic=f"{PERSON_CHANGED}:{identity.user_id}",
        cursor=at,
        error="",
    )


@router.post(ASK_PATH)
async def ask(
    request: Request,
    service: Service,
    reading: Reading,
    identity: Reader,
    question: Said = "",
    entry: Number = None,
    conversation: Number = None,
) -> Response:
    try:
        asked = await service.ask(
            identity.user_id, question, conversation_id=conversation, entry_id=None if conversation else entry
        )
    except InvalidInputError as error:
        return await _refused(request, service, reading, identity, question, entry, error)
    return RedirectResponse(f"{ASK_PATH}/{asked.conversation_id}#answer-{asked.id}", status_code=303)


@router.get(f"{ASK_PATH}/{{conversation_id}}")
async def conversation_page(
    request: Request, service: Service, evaluations: Evaluations, identity: Reader, conversation_id: ConversationId
) -> HTMLResponse:
    at = await cursor(request)
    found = await service.conversation(identity.user_id, conversation_id)
    scores = await _scores(evaluations, found.answers)
    return render(
        request,
        "curator/conversation.html",
        identity=identity,
        line=found,
        # A conversation that nobody named is called by its first question, which stands below.
        named=not found.answers or found.title != title_of(found.answers[0].question),
        answers=[ShownAnswer(answer, scores.get(answer.id, ())) for answer in found.answers],
        has_model=service.has_model,
        cursor=at,
    )


@router.get(f"{ASK_PATH}/{{conversation_id}}/export")
async def export(service: Service, identity: Reader, conversation_id: ConversationId) -> Response:
    found = await service.conversation(identity.user_id, conversation_id)
    headers = {"Content-Disposition": f'attachment; filename="pressbox-answers-{conversation_id}.md"'}
    return Response(markdown(found), media_type="text/markdown; charset=utf-8", headers=headers)


@router.post(f"{ASK_PATH}/{{conversation_id}}/act")
async def act(
    service: Service, identity: Reader, conversation_id: ConversationId, title: Said = "", delete: Said = ""
) -> Response:
    if delete:
        await service.delete(identity.user_id, conversation_id)
        return RedirectResponse(ASK_PATH, status_code=303)
    await service.rename(identity.user_id, conversation_id, title)
    return RedirectResponse(f"{ASK_PATH}/{conversation_id}", status_code=303)


@router.get(f"{ASK_PATH}/answers/{{answer_id}}/part")
async def answer_part(
    request: Request, service: Service, evaluations: Evaluations, identity: Reader, answer_id: AnswerId
) -> HTMLResponse:
    """One answer alone, as it is now."""
    at = await cursor(request)
    return await _drawn(request, service, evaluations, identity, answer_id, at)


@router.post(f"{ASK_PATH}/answers/{{answer_id}}/act")
async def act_on_answer(
    request: Request, service: Service, evaluations: Evaluations, identity: Reader, answer_id: AnswerId, what: Said = ""
) -> Response:
    """Stop it, or ask again what failed or was stopped."""
    changed = await (service.again if what == "again" else service.stop)(identity.user_id, answer_id)
    if wants_part(request):
        return await _drawn(request, service, evaluations, identity, answer_id, await cursor(request))
    return RedirectResponse(f"{ASK_PATH}/{changed.conversation_id}#answer-{answer_id}", status_code=303)


async def _drawn(
    request: Request, service: AskService, evaluations: EvaluationService, identity: Reader, answer_id: int, at: int
) -> HTMLResponse:
    answer = await service.answer(identity.user_id, answer_id)
    scores = await _scores(evaluations, [answer])
    return render(
        request,
        "curator/_answer.html",
        identity=identity,
        one=ShownAnswer(answer, scores.get(answer.id, ())),
        follows=True,
        cursor=at,
    )


async def _scores(
    evaluations: EvaluationService, answers: Sequence[AnswerView]
) -> Mapping[int, Sequence[SubjectScore]]:
    return await evaluations.of_answers([answer.id for answer in answers if answer.model])


async def _refused(
    request: Request,
    service: AskService,
    reading: ReadingService,
    identity: Reader,
    question: str,
    entry: int | None,
    error: InvalidInputError,
) -> HTMLResponse:
    """The page again, with what was typed and what is wrong with it."""
    article = None if entry is None else await reading.load_item(identity.user_id, entry)
    return render(
        request,
        "curator/ask.html",
        error.status,
        identity=identity,
        article=article,
        question=question,
        history=await service.history(identity.user_id, limit=HISTORY_SHOWN),
        has_model=service.has_model,
        topic=f"{PERSON_CHANGED}:{identity.user_id}",
        cursor=await cursor(request),
        error=error.message,
    )
