"""What models cost: the page with the budget of today, a chart of the last days and tables, and the same as JSON."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Annotated

from fastapi import APIRouter, Depends, Query, Request
from fastapi.responses import HTMLResponse

from pressbox.core.web.pages.access import provide
from pressbox.core.web.rendering import render
from pressbox.curator.models.domain import CostsView, CostView
from pressbox.curator.models.store import COST_DAYS, CostService
from pressbox.curator.models.wiring import cost_service
from pressbox.curator.reading.access import PATH, Reader

# The share of a day's width that its bar takes; the rest keeps the bars apart.
BAR_WIDTH = 0.72


@dataclass(frozen=True)
class Sum:
    """The costs of one day, feature or source, which is the `key`."""

    key: date | str | int | None
    name: str
    calls: int
    useless: int
    tokens_in: int
    tokens_out: int
    cost: float
    characters: int
    posts: int
    weight: int


@dataclass(frozen=True)
class Segment:
    """A part of a bar, as fractions of the chart's height from its top."""

    feature: str
    top: float
    height: float


@dataclass(frozen=True)
class Bar:
    day: date
    left: float
    total: float
    segments: tuple[Segment, ...]


@dataclass(frozen=True)
class Chart:
    """One bar for each day, the oldest first. `in_money` is False where no price was set: then tokens are drawn."""

    bars: tuple[Bar, ...]
    most: float
    in_money: bool

    @property
    def busiest(self) -> Bar:
        return max(self.bars, key=lambda bar: bar.total)

    @property
    def total(self) -> float:
        return sum(bar.total for bar in self.bars)

    @property
    def width(self) -> float:
        return BAR_WIDTH


def sum_by_day(lines: Sequence[CostView]) -> tuple[Sum, ...]:
    """Sum up the days, newest first."""
    days = _sums(lines, lambda line: (line.day, ""))
    return tuple(sorted(days, key=lambda one: str(one.key), reverse=True))


def sum_by_feature(lines: Sequence[CostView]) -> tuple[Sum, ...]:
    """Sum up the features, dearest first."""
    return _sort_by_cost(_sums(lines, lambda line: (line.feature, line.feature)))


def sum_by_feed(lines: Sequence[CostView]) -> tuple[Sum, ...]:
    """Sum up the sources, dearest first; costs of no source have no key."""
    return _sort_by_cost(_sums(lines, lambda line: (line.feed_id, line.feed_title)))


def chart(lines: Sequence[CostView], today: date, days: int) -> Chart:
    in_money = any(line.cost for line in lines)
    order = [one.name for one in sum_by_feature(lines)]
    wanted = [today - timedelta(days=days - 1 - number) for number in range(days)]
    parts = {day: [_weight(lines, day, feature, in_money=in_money) for feature in order] for day in wanted}
    most = max((sum(weights) for weights in parts.values()), default=0.0)
    bars = tuple(
        Bar(day, number + (1 - BAR_WIDTH) / 2, sum(parts[day]), _stack(order, parts[day], most))
        for number, day in enumerate(wanted)
    )
    return Chart(bars, most, in_money)


def _stack(features: Sequence[str], weights: Sequence[float], most: float) -> tuple[Segment, ...]:
    """Put the dearest feature at the bottom, so that it can be compared from day to day."""
    segments, top = [], 1.0
    for feature, weight in zip(features, weights, strict=True):
        if weight:
            top -= weight / most
            segments.append(Segment(feature, max(top, 0.0), weight / most))
    return tuple(segments)


def _weight(lines: Sequence[CostView], day: date, feature: str, *, in_money: bool) -> float:
    own = [line for line in lines if line.day == day and line.feature == feature]
    return sum(line.cost if in_money else float(line.weight) for line in own)


def _sort_by_cost(sums: Sequence[Sum]) -> tuple[Sum, ...]:
    return tuple(sorted(sums, key=lambda one: (-one.cost, -one.weight, one.name)))


def _sums(
    lines: Sequence[CostView], group: Callable[[CostView], tuple[date | str | int | None, str]]
) -> tuple[Sum, ...]:
    groups: dict[tuple[date | str | int | None, str], list[CostView]] = {}
    for line in lines:
        groups.setdefault(group(line), []).append(line)
    return tuple(
        Sum(
            key,
            name,
            sum(line.calls for line in own),
            sum(line.useless for line in own),
            sum(line.tokens_in for line in own),
            sum(line.tokens_out for line in own),
            sum(line.cost for line in own),
            sum(line.characters for line in own),
            sum(line.posts for line in own),
            sum(line.weight for line in own),
        )
        for (key, name), own in groups.items()
    )


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
