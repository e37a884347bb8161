"""Sums and bars of what models cost, and what the status page says of the budget."""

from datetime import UTC, date, datetime, timedelta

import pytest

from pressbox.core.health import HealthState
from pressbox.core.spending.domain import BudgetView, Prices, day_start, estimate_tokens, next_day_start
from pressbox.core.spending.status import budget_part
from pressbox.curator.costs.pages import chart, sum_by_day, sum_by_feature, sum_by_feed
from pressbox.curator.models.domain import CostView

TODAY = date(2026, 5, 4)
YESTERDAY = TODAY - timedelta(days=1)


def line(day: date, feature: str, cost: float, feed: int | None = 1, tokens: int = 100, useless: int = 0) -> CostView:
    return CostView(
        day, feed, f"Feed {feed}" if feed else "", feature, "model", 2, useless, tokens, 10, cost, weight=tokens + 10
    )


LINES = (
    line(TODAY, "distil", 0.5),
    line(TODAY, "answer", 0.25, None, useless=1),
    line(YESTERDAY, "distil", 1.0, 2),
    line(YESTERDAY, "distil", 0.5, 1),
)


def test_costs_are_added_up_by_day_feature_and_source() -> None:
    assert [(one.key, one.calls, one.cost) for one in sum_by_day(LINES)] == [(TODAY, 4, 0.75), (YESTERDAY, 4, 1.5)]
    assert [(one.name, one.cost, one.useless) for one in sum_by_feature(LINES)] == [
        ("distil", 2.0, 0),
        ("answer", 0.25, 1),
    ]
    assert [(one.key, one.name, one.cost) for one in sum_by_feed(LINES)] == [
        (1, "Feed 1", 1.0),
        (2, "Feed 2", 1.0),
        (None, "", 0.25),
    ]


def test_every_day_has_a_bar_and_the_dearest_day_fills_the_height() -> None:
    drawn = chart(LINES, TODAY, 30)
    assert [bar.day for bar in drawn.bars] == [TODAY - timedelta(days=29 - number) for number in range(30)]
    assert (drawn.most, drawn.total, drawn.in_money, drawn.busiest.day) == (1.5, 2.25, True, YESTERDAY)
    assert [(part.feature, part.top, part.height) for part in drawn.bars[-2].segments] == [("distil", 0.0, 1.0)]
    # Stacked from the foot, the dearest feature first, without a gap.
    first, second = drawn.bars[-1].segments
    assert (first.feature, second.feature) == ("distil", "answer")
    assert first.top + first.height == pytest.approx(1.0)
    assert second.top + second.height == pytest.approx(first.top)
    assert all(not bar.segments for bar in drawn.bars[:-2])


def test_without_prices_the_plot_shows_tokens() -> None:
    drawn = chart([line(TODAY, "graph", 0.0, tokens=90)], TODAY, 2)
    assert (drawn.in_money, drawn.most, drawn.bars[0].total) == (False, 100.0, 0.0)


def test_prices_are_per_million_tokens_and_a_day_begins_at_midnight_in_utc() -> None:
    assert Prices(2.0, 8.0).cost(500_000, 250_000) == 3.0
    assert estimate_tokens("abcd", "efghijkl") == 3
    evening = datetime(2026, 5, 4, 23, 30, tzinfo=UTC)
    assert next_day_start(evening) - day_start(evening) == timedelta(days=1)
    # Where people already write the next day.
    assert next_day_start(evening.astimezone(tz=None)) == datetime(2026, 5, 5, tzinfo=UTC)


def test_a_used_up_budget_is_said_with_what_to_do() -> None:
    midnight = datetime(2026, 5, 5, tzinfo=UTC)
    fine, full = budget_part(BudgetView(10, 1000, False, midnight)), budget_part(BudgetView(1000, 1000, True, midnight))
    assert (fine.state, fine.detail) == (HealthState.OK, "10 of 1,000 tokens of today are used.")
    assert full.state is HealthState.WARNING
    assert "wait until 00:00 UTC" in full.detail
    assert "PRESSBOX_SPENDING_TOKENS_PER_DAY" in full.fix
