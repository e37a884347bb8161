"""What models cost, from the ledger in PostgreSQL."""

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import Date, cast, func, select

from pressbox.core.db.database import Database
from pressbox.curator.library.domain.views import CostView
from pressbox.curator.library.rows import FeedRow, ModelCallRow, SubscriptionRow


class SqlCosts:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def by_day(self, user_id: int | None, since: datetime) -> Sequence[CostView]:
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
