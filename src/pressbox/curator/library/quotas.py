"""How much one person may have and do here. Who makes a thing demands its quota in the same transaction."""

from collections.abc import Awaitable, Callable

from sqlalchemy import func, select
from sqlalchemy.ext.asyncio import AsyncSession
from sqlalchemy.orm import InstrumentedAttribute

from pressbox.core.quotas.quota import DAY, HOUR, Quota
from pressbox.curator.library.rows import CategoryRow, LabelRow, SubscriptionRow


def count_own(owner: InstrumentedAttribute[int]) -> Callable[[AsyncSession, int], Awaitable[int]]:
    """Counts the rows of a person by the column that names their owner."""

    async def count(session: AsyncSession, user_id: int) -> int:
        return await session.scalar(select(func.count()).where(owner == user_id)) or 0

    return count


FEEDS = Quota("feeds", "Feeds", 2000, count=count_own(SubscriptionRow.user_id))
# Each new feed is fetched at once: leaving and joining again is work as well.
FEEDS_ADDED = Quota("feeds_added", "Feeds added", 5000, window=DAY)
CATEGORIES = Quota("categories", "Categories", 500, count=count_own(CategoryRow.user_id))
LABELS = Quota("labels", "Labels", 500, count=count_own(LabelRow.user_id))
LOOKED_UP_SITES = Quota("sites", "Sites looked at for feeds", 300, window=HOUR)
PREVIEWS = Quota("previews", "Previews of extraction rules", 120, window=HOUR)
REFRESHES = Quota("refreshes", "Feeds and entries read again by hand", 600, window=HOUR)
ENRICHMENTS = Quota("enrichments", "Translations and backgrounds asked for", 300, window=DAY)
QUESTIONS = Quota("questions", "Questions", 200, window=DAY)
RESEARCH = Quota("research", "Research", 20, window=DAY)
QUOTAS = (
    FEEDS,
    FEEDS_ADDED,
    CATEGORIES,
    LABELS,
    LOOKED_UP_SITES,
    PREVIEWS,
    REFRESHES,
    QUESTIONS,
    RESEARCH,
    ENRICHMENTS,
)
