"""The page of what models cost: the budget of today, a plot of the last days, and tables of the same."""

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse

from pressbox.core.web.rendering import render
from pressbox.curator.operations.costs import by_day, by_feature, by_feed, plot
from pressbox.curator.operations.service import COST_DAYS
from pressbox.curator.reading.access import PATH, Reader, Service

router = APIRouter(include_in_schema=False)

# The dearest of them; all are in the API.
FEEDS_SHOWN = 40


@router.get(f"{PATH}/costs")
async def costs_page(request: Request, service: Service, identity: Reader) -> HTMLResponse:
    costs = await service.work.costs(identity.user_id, administrator=identity.is_administrator)
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
