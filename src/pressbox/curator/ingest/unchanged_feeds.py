"""Notes that a whole page of feeds had nothing new: three statements, however many feeds."""

from collections.abc import Sequence
from datetime import datetime, timedelta

from sqlalchemy import bindparam, select, text
from sqlalchemy.dialects.postgresql import ARRAY
from sqlalchemy.types import BigInteger, DateTime, Integer, Text

from pressbox.core.db.database import UnitOfWork
from pressbox.curator.feeds.domain import Crawl, FeedToCrawl
from pressbox.curator.ingest.domain.intervals import KnownRhythm, plan_next_crawl
from pressbox.curator.library.domain.changes import FEED_CHANGED
from pressbox.curator.library.domain.feeds import CrawlOutcome
from pressbox.curator.library.domain.policy import CuratorPolicy
from pressbox.curator.library.rows import FeedRow, FeedStateRow
from pressbox.curator.text.plain_text import make_storable

# A crawl that stored something newer meanwhile keeps its validators.
_UPDATE = text("""
    UPDATE curator.feed_state AS s SET
        last_crawl_at = :now, last_success_at = :now, outcome = :outcome, failures = 0, reason = '',
        status = n.status, next_crawl_at = n.next_crawl_at, interval_seconds = n.interval_seconds,
        etag = CASE WHEN n.etag <> '' AND s.content_hash = n.asked_hash THEN n.etag ELSE s.etag END,
        last_modified = CASE
            WHEN n.last_modified <> '' AND s.content_hash = n.asked_hash THEN n.last_modified ELSE s.last_modified
        END
    FROM unnest(:ids, :statuses, :nexts, :intervals, :etags, :modified, :hashes)
        AS n (feed_id, status, next_crawl_at, interval_seconds, etag, last_modified, asked_hash)
    WHERE s.feed_id = n.feed_id
""").bindparams(
    bindparam("ids", type_=ARRAY(BigInteger)),
    bindparam("statuses", type_=ARRAY(Integer)),
    bindparam("nexts", type_=ARRAY(DateTime(timezone=True))),
    bindparam("intervals", type_=ARRAY(Integer)),
    bindparam("etags", type_=ARRAY(Text)),
    bindparam("modified", type_=ARRAY(Text)),
    bindparam("hashes", type_=ARRAY(Text)),
)


async def note_unchanged(
    work: UnitOfWork, crawls: Sequence[tuple[FeedToCrawl, Crawl]], policy: CuratorPolicy, now: datetime
) -> None:
    known = await _rhythms(work, [feed.feed_id for feed, _ in crawls])
    present = [(feed, crawl) for feed, crawl in crawls if feed.feed_id in known]
    if not present:
        return
    plans = [plan_next_crawl(known[feed.feed_id], crawl, policy, now) for feed, crawl in present]
    values = {
        "now": now,
        "outcome": CrawlOutcome.UNCHANGED.value,
        "ids": [feed.feed_id for feed, _ in present],
        "statuses": [crawl.status for _, crawl in present],
        "nexts": [plan.at for plan in plans],
        "intervals": [max(1, round(plan.interval.total_seconds())) for plan in plans],
        "etags": [make_storable(crawl.validators.etag) for _, crawl in present],
        "modified": [make_storable(crawl.validators.last_modified) for _, crawl in present],
        "hashes": [feed.validators.content_hash for feed, _ in present],
    }
    await work.session.execute(_UPDATE, values)
    for feed, _ in present:
        # Nobody's page looks different because nothing was new again.
        if known[feed.feed_id].failures:
            work.changed(FEED_CHANGED, str(feed.feed_id))


async def _rhythms(work: UnitOfWork, feed_ids: Sequence[int]) -> dict[int, KnownRhythm]:
    statement = (
        select(
            FeedStateRow.feed_id,
            FeedStateRow.interval_seconds,
            FeedRow.interval_seconds,
            FeedStateRow.failures,
            FeedStateRow.last_new_at,
        )
        .join(FeedRow)
        .where(FeedStateRow.feed_id.in_(feed_ids))
        .order_by(FeedStateRow.feed_id)
        .with_for_update(of=FeedStateRow)
    )
    return {
        feed_id: KnownRhythm(
            feed_id,
            timedelta(seconds=interval),
            None if wanted is None else timedelta(seconds=wanted),
            failures,
            last_new_at,
        )
        for feed_id, interval, wanted, failures, last_new_at in (await work.session.execute(statement)).tuples()
    }
