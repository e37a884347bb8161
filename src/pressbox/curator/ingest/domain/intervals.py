"""When a feed is crawled again: its own rhythm, people's wishes, what the other side asks, and patience with failures.

Pure.
"""

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta

from pressbox.curator.feeds.domain import Crawl, ParsedFeed
from pressbox.curator.library.domain.feeds import CrawlOutcome
from pressbox.curator.library.domain.policy import CuratorPolicy

# Asked twice as often as it publishes, a feed is late by a quarter of its rhythm on average.
CRAWLS_PER_ENTRY = 2
# So many of the newest dates make the rhythm: enough to see one, few enough to notice a change.
DATES_THAT_COUNT = 12
# A feed that has been silent for eight days is asked once a day.
SILENCE_PER_CRAWL = 8
# Without dates all that is known is whether there was something: then come sooner next time.
SOONER = 2 / 3
# So that feeds which came together, by an import or a long night, do not stay together.
JITTER = 0.1

# Trouble that passes by itself is tried again soon; the others wait for somebody to act, so the rhythm is enough.
_PASSING = frozenset({CrawlOutcome.SERVER_ERROR, CrawlOutcome.UNREACHABLE})


@dataclass(frozen=True)
class KnownRhythm:
    """What is known of a feed before this crawl. `failures` counts those in a row, without this crawl."""

    feed_id: int
    interval: timedelta
    wanted: timedelta | None = None
    failures: int = 0
    last_new_at: datetime | None = None


@dataclass(frozen=True)
class NextCrawl:
    """`at` None: not crawled any more until somebody says so."""

    at: datetime | None
    interval: timedelta


def plan_next_crawl(known: KnownRhythm, crawl: Crawl, policy: CuratorPolicy, now: datetime) -> NextCrawl:
    """The interval stays as it was when the crawl failed: only the next time moves away."""
    if crawl.outcome is CrawlOutcome.GONE:
        return NextCrawl(None, known.interval)
    if crawl.outcome.failed:
        wait = _patience(known, crawl.outcome, policy)
        at = _not_before(now + wait, crawl.not_before, now + policy.longest_backoff)
        return NextCrawl(at, known.interval)
    if known.wanted is not None:
        interval = max(known.wanted, policy.shortest_interval)
        wait = interval
    else:
        interval = _within(_rhythm(known, crawl, now), policy)
        wait = interval * (1 + JITTER * _share(known.feed_id, 0))
    return NextCrawl(_not_before(now + wait, crawl.not_before, now + policy.longest_interval), interval)


def _rhythm(known: KnownRhythm, crawl: Crawl, now: datetime) -> timedelta:
    if crawl.outcome is CrawlOutcome.UNCHANGED or crawl.parsed is None:
        silence = now - known.last_new_at if known.last_new_at is not None else timedelta(0)
        return max(known.interval, silence / SILENCE_PER_CRAWL)
    asked = crawl.parsed.hub_interval or timedelta(0)
    return max(_published_every(crawl.parsed, now) or known.interval * SOONER, asked)


def _published_every(parsed: ParsedFeed, now: datetime) -> timedelta | None:
    dates = _newest(entry.published_at for entry in parsed.entries if entry.published_at is not None)
    # Announcements of tomorrow say nothing about the rhythm.
    past = [date for date in dates if date <= now]
    if len(past) < 2:
        return None
    # Up to now and not up to the newest: silence since then counts.
    return (now - past[-1]) / len(past) / CRAWLS_PER_ENTRY


def _newest(dates: Iterable[datetime]) -> list[datetime]:
    return sorted(dates, reverse=True)[:DATES_THAT_COUNT]


def _patience(known: KnownRhythm, outcome: CrawlOutcome, policy: CuratorPolicy) -> timedelta:
    first = policy.shortest_interval if outcome in _PASSING else _within(known.interval, policy)
    # The exponent is bounded because nobody needs the number: a month of failures is already the longest wait.
    wait = min(first * (1 << min(known.failures, 16)), policy.longest_backoff)
    return wait * (1 + JITTER * _share(known.feed_id, known.failures + 1))


def _within(interval: timedelta, policy: CuratorPolicy) -> timedelta:
    return max(policy.shortest_interval, min(interval, policy.longest_interval))


def _not_before(at: datetime, asked: datetime | None, latest: datetime) -> datetime:
    """What the other side asks is obeyed up to a bound: a header must not switch a feed off."""
    return at if asked is None else max(at, min(asked, latest))


def _share(feed_id: int, turn: int) -> float:
    """The same for the same feed and turn on every machine; spread evenly between 0 and 1."""
    digest = hashlib.blake2b(f"{feed_id}:{turn}".encode(), digest_size=4).digest()
    return int.from_bytes(digest, "big") / 2**32
