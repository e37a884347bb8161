"""What paid services cost, from the ledger."""

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import Date, and_, cast, func, select

from pressbox.core.spending.domain import Outcome
from pressbox.core.spending.rows import PaidRequestRow
from pressbox.curator.library.feed_names import feed_name
from pressbox.curator.library.rows import FeedRow, SubscriptionRow
from pressbox.curator.library.store import SqlStore
from pressbox.curator.models.domain import CostView
from pressbox.curator.models.ports import Feature


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
