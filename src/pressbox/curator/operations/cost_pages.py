"""The page of what models cost: the budget of today, a plot of the last days, and tables of the same."""

from typing import Annotated

from fastapi import APIRouter, Depends, Request
from fastapi.responses import HTMLResponse

from pressbox.core.web.pages.access import provide
from pressbox.core.web.rendering import render
from pressbox.curator.models.costs import COST_DAYS, CostService
from pressbox.curator.models.wiring import cost_service
from pressbox.curator.operations.costs import by_day, by_feature, by_feed, plot
from pressbox.curator.reading.access import PATH, Reader

router = APIRouter(include_in_schema=False)

Costs = Annotated[CostService, Depends(provide(cost_service))]
# The dearest of them; all are in the API.
FEEDS_SHOWN = 40


@router.get(f"{PATH}/costs")
async def costs_page(request: Request, service: Costs, identity: Reader) -> HTMLResponse:
    costs = await service.costs(identity.user_id, administrator=identity.is_administrator)
    feeds = by_feed(costs.days)
    return render(
        request,
        "curator/costs.html",
        identity=identity,
        budget=costs.budget,
        plot=plot(costs.days, costs.today, COST_DAYS) if costs.days else None,
        features=by_feature(costs.days),
        feeds=feeds[:FEEDS_SHOWN],
        more_feeds=len(feeds) - FEEDS_SHOWN,
        days=by_day(costs.days),
    )
