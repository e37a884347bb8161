"""What is left of the day's budget, for pages and the status."""

from datetime import datetime, timedelta

from pressbox.core.clock import Clock, utc_now
from pressbox.core.health import HealthState, PartHealth
from pressbox.core.spending.domain import Budget, BudgetView, next_day_start
from pressbox.core.spending.ports import Ledger
from pressbox.core.spending.till import COST_SETTING, TOKENS_SETTING

# Every page of the reader asks whether the budget is used up.
CACHED_FOR = timedelta(seconds=20)
PART = "spending"


class BudgetStatus:
    def __init__(self, ledger: Ledger, budget: Budget, now: Clock = utc_now) -> None:
        self._ledger = ledger
        self._budget = budget
        self._now = now
        self._cached: tuple[datetime, BudgetView] | None = None

    async def load(self) -> BudgetView:
        now, budget = self._now(), self._budget
        spent = await self._ledger.spent_today(now)
        return BudgetView(
            spent.tokens,
            budget.tokens_per_day,
            budget.is_used_up(spent),
            next_day_start(now),
            spent.cost,
            budget.cost_per_day,
        )

    async def load_lately(self) -> BudgetView:
        """Return the budget as it was at most some seconds ago."""
        now = self._now()
        if self._cached is None or not now - CACHED_FOR < self._cached[0] <= now:
            self._cached = (now, await self.load())
        return self._cached[1]

    async def load_used_up(self) -> BudgetView | None:
        """Return the budget when it is used up, as it was at most some seconds ago."""
        budget = await self.load_lately()
        return budget if budget.used_up else None


def budget_part(budget: BudgetView) -> PartHealth:
    """Nothing is broken when it is used up: it was meant so, and somebody may wonder what everything waits for."""
    used = f"{budget.tokens_today:,} of {budget.tokens_per_day:,} tokens of today are used"
    if budget.cost_per_day is not None:
        used += f", at a cost of {budget.cost_today:.2f} of {budget.cost_per_day:.2f}"
    if not budget.used_up:
        return PartHealth(PART, HealthState.OK, f"{used}.")
    detail = (
        f"{used}: the budget is used up. Models, translators and paid searches wait until "
        f"{budget.resumes_at:%H:%M} UTC and then go on by themselves."
    )
    settings = TOKENS_SETTING if budget.cost_per_day is None else f"{TOKENS_SETTING} or {COST_SETTING}"
    fix = f"Wait, or set {settings} to more and restart; `/reader/costs` shows what used it."
    return PartHealth(PART, HealthState.WARNING, detail, fix)
