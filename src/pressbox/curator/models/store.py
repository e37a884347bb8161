"""What paid services cost, from the ledger, and what is left of the day's budget."""

from collections.abc import Sequence
from datetime import datetime, timedelta

from sqlalchemy import Date, and_, cast, func, select

from pressbox.core.clock import Clock, utc_now
from pressbox.core.spending.domain import BudgetView, Outcome, day_start
from pressbox.core.spending.rows import PaidRequestRow
from pressbox.core.spending.status import BudgetStatus
from pressbox.curator.library.rows import FeedRow, SubscriptionRow
from pressbox.curator.library.store import SqlStore, feed_name
from pressbox.curator.models.domain import CostsView, CostView, Feature


class SqlCosts(SqlStore):
    async def by_day(self, user_id: int, since: datetime, *, of_all: bool = False) -> Sequence[CostView]:
        """Costs by day, feed, feature and model: of the person's feeds, or of all applications.

        Feeds of others are not named.
        """
        paid = PaidRequestRow
        day = cast(func.timezone("UTC", paid.at), Date)
        title = feed_name()
        own = select(SubscriptionRow.feed_id).where(SubscriptionRow.user_id == user_id)
        # Other applications have ids of their own.
        of_feed = and_(FeedRow.id == paid.source_id, paid.feature.in_(tuple(Feature)), FeedRow.id.in_(own))
        sums = (paid.tokens_in, paid.tokens_out, paid.cost, paid.characters, paid.posts, paid.weight)
        statement = (
            select(
                day,
                FeedRow.id,
                title,
                paid.feature,
                paid.model,
                func.count(),
                func.count().filter(paid.outcome.not_in((Outcome.ANSWERED, Outcome.RUNNING))),
                *(func.sum(column) for column in sums),
            )
            .select_from(paid)
            .outerjoin(FeedRow, of_feed)
            .where(paid.at >= since)
            .group_by(day, FeedRow.id, title, paid.feature, paid.model)
            .order_by(day.desc(), func.sum(paid.cost).desc(), title, paid.feature, paid.model)
        )
        if not of_all:
            statement = statement.where(FeedRow.id.is_not(None))
        async with self._database.unit_of_work() as work:
            return [CostView(*row) for row in (await work.session.execute(statement)).tuples()]


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
