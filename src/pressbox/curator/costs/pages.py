"""What models cost: the page with the budget of today, a chart of the last days and tables, and the same as JSON."""

from typing import Annotated

from fastapi import APIRouter, Depends, Query, Request
from fastapi.responses import HTMLResponse

from pressbox.core.web.pages.access import provide
from pressbox.core.web.rendering import render
from pressbox.curator.costs.charts import chart, sum_by_day, sum_by_feature, sum_by_feed
from pressbox.curator.models.costs import COST_DAYS, CostService
from pressbox.curator.models.domain import CostsView
from pressbox.curator.models.wiring import cost_service
from pressbox.curator.reading.access import PATH, Reader

router = APIRouter()
Costs = Annotated[CostService, Depends(provide(cost_service))]
# The dearest ones; the API has all.
FEEDS_SHOWN = 40


@router.get(f"{PATH}/costs", include_in_schema=False)
async def costs_page(request: Request, service: Costs, identity: Reader) -> HTMLResponse:
    costs = await service.costs(identity.user_id, administrator=identity.is_administrator)
    feeds, features = sum_by_feed(costs.days), sum_by_feature(costs.days)
    return render(
        request,
        "curator/costs.html",
        identity=identity,
        budget=costs.budget,
        chart=chart(costs.days, costs.today, COST_DAYS) if costs.days else None,
        features=features,
        has_characters=any(one.characters for one in features),
        has_posts=any(one.posts for one in features),
        feeds=feeds[:FEEDS_SHOWN],
        more_feeds=len(feeds) - FEEDS_SHOWN,
        days=sum_by_day(costs.days),
    )


@router.get(
    "/api/curator/costs",
    tags=["entries"],
    summary="What paid services cost, per day, feed and feature: of your feeds; administrators: of all",
)
async def costs(service: Costs, identity: Reader, days: Annotated[int, Query(ge=1, le=366)] = 30) -> CostsView:
    return await service.costs(identity.user_id, administrator=identity.is_administrator, days=days)
