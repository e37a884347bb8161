"""How good answers and summaries are: the page with its plots, and the same as JSON."""

from datetime import date
from typing import Annotated

from fastapi import APIRouter, Query, Request
from fastapi.responses import HTMLResponse
from pydantic import Field

from pressbox.core.web.api_models import ResponseModel
from pressbox.core.web.rendering import render
from pressbox.curator.evaluate.domain.evaluation import SubjectKind
from pressbox.curator.reading.access import PATH, Reader, Service

router = APIRouter()
pages = APIRouter(include_in_schema=False)
api = APIRouter(prefix="/api/curator", tags=["evaluations"])

SPANS = (30, 90, 365)
# As many days as a page can show in a table; the plots show all.
MOST_LINES = 100
Days = Annotated[int, Query(ge=1, le=366)]


class ScoreAnswer(ResponseModel):
    day: date = Field(description="A day of UTC.")
    kind: SubjectKind
    metric: str = Field(description="faithfulness, answer_relevancy; estimates end in _estimate.")
    evaluator: str
    model: str = Field(description="Who wrote what was judged.")
    prompt_version: str
    score: float = Field(description="The average of the day, from 0 to 1.")
    count: int


class ScoresAnswer(ResponseModel):
    enabled: bool = Field(description="Whether new answers and summaries are judged.")
    evaluator: str
    lines: list[ScoreAnswer]


@pages.get(f"{PATH}/evaluations")
async def evaluations_page(request: Request, service: Service, identity: Reader, days: Days = 30) -> HTMLResponse:
    shown = days if days in SPANS else SPANS[0]
    scores = await service.evaluations.over_time(identity.user_id, administrator=identity.is_administrator, days=shown)
    return render(
        request,
        "curator/evaluations.html",
        identity=identity,
        scores=scores,
        newest=scores.lines[::-1][:MOST_LINES],
        spans=SPANS,
    )


@api.get("/evaluations", summary="How good texts of models are, per day: yours, for an administrator all")
async def evaluations(service: Service, identity: Reader, days: Days = 30) -> ScoresAnswer:
    found = await service.evaluations.over_time(identity.user_id, administrator=identity.is_administrator, days=days)
    return ScoresAnswer.model_validate(found)


for part in (pages, api):
    router.include_router(part)
