"""What models cost, and what is left of the token budget."""

from datetime import datetime, timedelta

from pressbox.core.clock import Clock, utc_now
from pressbox.curator.models.domain import BudgetView, CostsView, day_start, next_day_start
from pressbox.curator.models.ports import ModelLedger
from pressbox.curator.models.store import SqlCosts

COST_DAYS = 30
# Every page of the reader asks whether the budget is used up.
BUDGET_CACHED_FOR = timedelta(seconds=20)


class CostService:
    """Costs as a person or an administrator sees them, and the token budget of today."""

    def __init__(self, costs: SqlCosts, ledger: ModelLedger, tokens_per_day: int, now: Clock = utc_now) -> None:
        self._costs = costs
        self._ledger = ledger
        self._tokens_per_day = tokens_per_day
        self._now = now
        self._cached: tuple[datetime, BudgetView] | None = None

    async def costs(self, user_id: int, *, administrator: bool = False, days: int = COST_DAYS) -> CostsView:
        """Costs per day of UTC, feed and feature: of the person's feeds, for an administrator of all."""
        since = day_start(self._now()) - timedelta(days=days - 1)
        spent = await self._costs.by_day(None if administrator else user_id, since)
        return CostsView(tuple(spent), await self.budget(), since.date() + timedelta(days=days - 1))

    async def budget(self) -> BudgetView:
        now = self._now()
        used = await self._ledger.tokens_today(now)
        return BudgetView(used, self._tokens_per_day, used >= self._tokens_per_day, next_day_start(now))

    async def spent_budget(self) -> BudgetView | None:
        """Return the budget when it is used up, as it was at most some seconds ago."""
        now = self._now()
        if self._cached is None or not now - BUDGET_CACHED_FOR < self._cached[0] <= now:
            self._cached = (now, await self.budget())
        budget = self._cached[1]
        return budget if budget.used_up else None
