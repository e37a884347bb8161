"""What models cost, from the ledger in PostgreSQL, and what is left of the token budget."""

from collections.abc import Sequence
from datetime import datetime, timedelta

from sqlalchemy import Date, cast, func, select

from pressbox.core.clock import Clock, utc_now
from pressbox.core.db.database import Database
from pressbox.curator.library.domain.views import BudgetView, CostsView, CostView
from pressbox.curator.library.rows import FeedRow, ModelCallRow, SubscriptionRow
from pressbox.curator.models.domain import day_start, next_day_start
from pressbox.curator.models.ports import ModelLedger

COST_DAYS = 30
# Every page of the reader asks whether the budget is used up.
BUDGET_CACHED_FOR = timedelta(seconds=20)


class SqlCosts:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def by_day(self, user_id: int | None, since: datetime) -> Sequence[CostView]:
        """Costs of the person's feeds, newest day first; without a person those of all."""
        day = cast(func.timezone("UTC", ModelCallRow.at), Date)
        title = func.coalesce(func.nullif(FeedRow.title, ""), FeedRow.url, "")
        statement = (
            select(
                day,
                FeedRow.id,
                title,
                ModelCallRow.feature,
                ModelCallRow.model,
                func.count(),
                func.count().filter(~ModelCallRow.usable),
                func.sum(ModelCallRow.tokens_in),
                func.sum(ModelCallRow.tokens_out),
                func.sum(ModelCallRow.cost),
            )
            .select_from(ModelCallRow)
            .outerjoin(FeedRow, FeedRow.id == ModelCallRow.feed_id)
            .where(ModelCallRow.at >= since)
            .group_by(day, FeedRow.id, title, ModelCallRow.feature, ModelCallRow.model)
            .order_by(day.desc(), func.sum(ModelCallRow.cost).desc(), title, ModelCallRow.feature, ModelCallRow.model)
        )
        if user_id is not None:
            own = select(SubscriptionRow.feed_id).where(SubscriptionRow.user_id == user_id)
            statement = statement.where(ModelCallRow.feed_id.in_(own))
        async with self._database.unit_of_work() as work:
            return [CostView(*row) for row in (await work.session.execute(statement)).tuples()]


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
        return BudgetView(await self._ledger.tokens_today(now), self._tokens_per_day, next_day_start(now))

    async def spent_budget(self) -> BudgetView | None:
        """Return the budget when it is used up, as it was at most some seconds ago."""
        now = self._now()
        if self._cached is None or not now - BUDGET_CACHED_FOR < self._cached[0] <= now:
            self._cached = (now, await self.budget())
        budget = self._cached[1]
        return budget if budget.used_up else None
