"""How feeds are: what the status page says of them, and what the metrics measure."""

from collections.abc import Sequence

from pressbox.core.app import Resources
from pressbox.core.health import HealthState, PartHealth
from pressbox.core.measures import Measure
from pressbox.curator.sources.domain import FeedView
from pressbox.curator.sources.store import SqlSubscriptions


async def check_feeds(resources: Resources) -> Sequence[PartHealth]:
    return (feeds_part(await SqlSubscriptions(resources.database).everything()),)


def feeds_part(feeds: Sequence[FeedView]) -> PartHealth:
    """Other people's servers: that some fail is usual. Their names are for their readers, on the page of sources."""
    failing = [feed for feed in feeds if feed.health.failing and feed.paused_at is None]
    if not failing:
        return PartHealth("feeds", HealthState.OK, f"{len(feeds)} feeds, all of them answer." if feeds else "No feeds.")
    since = min((feed.health.failing_since for feed in failing if feed.health.failing_since), default=None)
    detail = f"{len(failing)} of {len(feeds)} feeds fail."
    fix = "The page of sources says of yours why and when each is tried again; `pressbox feeds health` lists all."
    return PartHealth("feeds", HealthState.WARNING, detail, fix, since=since)


MEASURES = (
    Measure(
        "pressbox_feed_lag_seconds",
        "How long the feed that waits longest has been due.",
        "SELECT '', extract(epoch FROM now() - min(state.next_crawl_at)) FROM curator.feed_state AS state "
        "JOIN curator.feeds AS feed ON feed.id = state.feed_id "
        "WHERE state.next_crawl_at <= now() AND feed.paused_at IS NULL",
    ),
    Measure(
        "pressbox_feeds_due",
        "Feeds that are due.",
        "SELECT '', count(*) FROM curator.feed_state AS state JOIN curator.feeds AS feed ON feed.id = state.feed_id "
        "WHERE state.next_crawl_at <= now() AND feed.paused_at IS NULL",
    ),
)
