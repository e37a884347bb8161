"""What paid services cost, and what is left of the day's budget."""

from datetime import timedelta

from pressbox.core.clock import Clock, utc_now
from pressbox.core.spending.domain import BudgetView, day_start
from pressbox.core.spending.status import BudgetStatus
from pressbox.curator.models.domain import CostsView
from pressbox.curator.models.store import SqlCosts

COST_DAYS = 30


class CostService:
    """Costs as a person or an administrator sees them, and the budget of today."""

    def __init__(self, costs: SqlCosts, status: BudgetStatus, now: Clock = utc_now) -> None:
        self._costs = costs
        self._status = status
        self._now = now

    async def costs(self, user_id: int, *, administrator: bool = False, days: int = COST_DAYS) -> CostsView:
        """Costs per day of UTC, feed and feature: of the person's feeds, for an administrator of all."""
        since = day_start(self._now()) - timedelta(days=days - 1)
        spent = await self._costs.by_day(user_id, since, of_all=administrator)
        return CostsView(tuple(spent), await self._status.load(), since.date() + timedelta(days=days - 1))

    async def spent_budget(self) -> BudgetView | None:
        """Return the budget when it is used up, as it was at most some seconds ago."""
        return await self._status.load_used_up()
