"""Scores of answers and summaries over time: the page with its plots, and the same as JSON."""

from collections.abc import Sequence
from typing import Annotated

from fastapi import APIRouter, Depends, Query, Request
from fastapi.responses import HTMLResponse
from pydantic import Field

from pressbox.core.web.api_models import ResponseModel
from pressbox.core.web.joining import join_routers
from pressbox.core.web.pages.access import provide
from pressbox.core.web.rendering import render
from pressbox.curator.evaluate.domain import ScoreLine
from pressbox.curator.evaluate.service import EvaluationService
from pressbox.curator.evaluate.wiring import evaluation_service
from pressbox.curator.reading.access import PATH, Reader

Service = Annotated[EvaluationService, Depends(provide(evaluation_service))]
pages = APIRouter(include_in_schema=False)
api = APIRouter(prefix="/api/curator", tags=["evaluations"])

SPANS = (30, 90, 365)
# The table shows the newest; the plots show all.
MOST_LINES = 100
Days = Annotated[int, Query(ge=1, le=366)]


class ScoresResponse(ResponseModel):
    enabled: bool = Field(description="Whether new answers and summaries are judged.")
    evaluator: str
    lines: Sequence[ScoreLine]


@pages.get(f"{PATH}/evaluations")
async def evaluations_page(request: Request, service: Service, identity: Reader, days: Days = 30) -> HTMLResponse:
    shown = days if days in SPANS else SPANS[0]
    scores = await service.over_time(identity.user_id, administrator=identity.is_administrator, days=shown)
    return render(
        request,
        "curator/evaluations.html",
        identity=identity,
        scores=scores,
        newest=scores.lines[::-1][:MOST_LINES],
        spans=SPANS,
    )


@api.get("/evaluations", summary="How good texts of models are, per day: yours, for an administrator all")
async def evaluations(service: Service, identity: Reader, days: Days = 30) -> ScoresResponse:
    found = await service.over_time(identity.user_id, administrator=identity.is_administrator, days=days)
    return ScoresResponse.model_validate(found)


router = join_routers(pages, api)
