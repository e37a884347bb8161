"""When a feed is crawled again."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pressbox.curator.feeds.domain import Crawl, FeedEntry, ParsedFeed
from pressbox.curator.ingest.domain import CrawlRhythm, NextCrawl, plan_next_crawl
from pressbox.curator.library.domain import CrawlOutcome, CuratorPolicy

NOW = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
HOUR = timedelta(hours=1)
POLICY = CuratorPolicy()
KNOWN = CrawlRhythm(feed_id=7, interval=HOUR)


def read(*ages: timedelta, hub: timedelta | None = None, not_before: datetime | None = None) -> Crawl:
    entries = tuple(
        FeedEntry(guid=str(number), url="", title="", published_at=NOW - age) for number, age in enumerate(ages)
    )
    return Crawl(CrawlOutcome.NEW, ParsedFeed("Feed", entries=entries, hub_interval=hub), not_before=not_before)


def planned(crawl: Crawl, known: CrawlRhythm = KNOWN) -> NextCrawl:
    return plan_next_crawl(known, crawl, POLICY, NOW)


def wait(plan: NextCrawl) -> timedelta:
    assert plan.at is not None
    return plan.at - NOW


def test_a_feed_is_asked_twice_as_often_as_it_publishes() -> None:
    four_hourly = planned(read(*(HOUR * 4 * number for number in range(1, 11))))
    assert four_hourly.interval == 2 * HOUR
    assert 2 * HOUR <= wait(four_hourly) <= 2.2 * HOUR


def test_a_busy_feed_is_not_asked_more_often_than_the_shortest_interval() -> None:
    assert planned(read(*(timedelta(minutes=number) for number in range(30)))).interval == POLICY.shortest_interval


def test_a_rare_feed_is_asked_once_in_the_longest_interval() -> None:
    assert planned(read(*(timedelta(days=30 * number) for number in range(5)))).interval == POLICY.longest_interval


def test_silence_since_the_newest_entry_counts() -> None:
    hourly_until_last_week = [timedelta(days=7) + HOUR * number for number in range(12)]
    assert planned(read(*hourly_until_last_week)).interval > 6 * HOUR


def test_only_the_newest_entries_make_the_rhythm() -> None:
    recent = [HOUR * number for number in range(12)]
    assert planned(read(*recent, *(timedelta(days=number) for number in range(100, 200)))).interval < HOUR


def test_dates_of_tomorrow_say_nothing() -> None:
    assert planned(read(timedelta(days=-1), timedelta(days=-2), 4 * HOUR, 8 * HOUR)).interval == 2 * HOUR


def test_a_feed_without_dates_is_asked_sooner_while_it_has_news_and_later_while_it_is_silent() -> None:
    undated = Crawl(CrawlOutcome.NEW, ParsedFeed("Feed", entries=(FeedEntry("a", "", ""),)))
    assert planned(undated).interval == timedelta(minutes=40)
    silent = CrawlRhythm(7, HOUR, last_new_at=NOW - timedelta(days=4))
    assert planned(Crawl(CrawlOutcome.UNCHANGED), silent).interval == 12 * HOUR


def test_an_unchanged_feed_keeps_its_rhythm() -> None:
    recent = CrawlRhythm(7, HOUR, last_new_at=NOW - 2 * HOUR)
    assert planned(Crawl(CrawlOutcome.UNCHANGED), recent).interval == HOUR
    assert planned(Crawl(CrawlOutcome.UNCHANGED)).interval == HOUR


def test_what_the_feed_asks_for_lengthens_the_interval_within_bounds() -> None:
    often = [timedelta(minutes=20) * number for number in range(10)]
    assert planned(read(*often, hub=3 * HOUR)).interval == 3 * HOUR
    assert planned(read(*often, hub=timedelta(days=365))).interval == POLICY.longest_interval


def test_what_people_set_is_exact() -> None:
    weekly = CrawlRhythm(7, HOUR, wanted=timedelta(days=7))
    plan = planned(read(*(HOUR * number for number in range(10))), weekly)
    assert wait(plan) == plan.interval == timedelta(days=7)


def test_what_people_set_is_never_shorter_than_the_shortest_interval() -> None:
    eager = CrawlRhythm(7, HOUR, wanted=timedelta(seconds=1))
    assert planned(Crawl(CrawlOutcome.UNCHANGED), eager).interval == POLICY.shortest_interval


def test_the_other_side_is_not_asked_before_it_allows_but_cannot_switch_a_feed_off() -> None:
    tonight = NOW + 6 * HOUR
    assert planned(Crawl(CrawlOutcome.UNCHANGED, not_before=tonight)).at == tonight
    wanted = CrawlRhythm(7, HOUR, wanted=HOUR)
    assert planned(Crawl(CrawlOutcome.UNCHANGED, not_before=tonight), wanted).at == tonight
    never = NOW + timedelta(days=10_000)
    assert planned(Crawl(CrawlOutcome.UNCHANGED, not_before=never)).at == NOW + POLICY.longest_interval
    assert planned(Crawl(CrawlOutcome.RATE_LIMITED, not_before=never)).at == NOW + POLICY.longest_backoff


def test_an_allowance_in_the_past_changes_nothing() -> None:
    assert planned(Crawl(CrawlOutcome.UNCHANGED, not_before=NOW - HOUR)) == planned(Crawl(CrawlOutcome.UNCHANGED))


def test_a_feed_that_is_gone_is_not_asked_again() -> None:
    assert planned(Crawl(CrawlOutcome.GONE)) == NextCrawl(None, HOUR)


def test_passing_trouble_is_tried_again_soon_then_ever_later() -> None:
    waits = [
        wait(planned(Crawl(CrawlOutcome.SERVER_ERROR), CrawlRhythm(7, 12 * HOUR, failures=failures)))
        for failures in range(12)
    ]
    assert POLICY.shortest_interval <= waits[0] <= 1.1 * POLICY.shortest_interval
    assert waits[4] > 3 * HOUR
    assert all(wait <= 1.1 * POLICY.longest_backoff for wait in waits)
    assert waits[-1] >= POLICY.longest_backoff


@pytest.mark.parametrize("outcome", [CrawlOutcome.NOT_A_FEED, CrawlOutcome.REFUSED, CrawlOutcome.RATE_LIMITED])
def test_trouble_that_somebody_must_mend_waits_for_the_usual_turn(outcome: CrawlOutcome) -> None:
    plan = planned(Crawl(outcome), CrawlRhythm(7, 12 * HOUR))
    assert 12 * HOUR <= wait(plan) <= 13.2 * HOUR
    assert plan.interval == 12 * HOUR


def test_feeds_that_came_together_do_not_stay_together() -> None:
    times = {planned(Crawl(CrawlOutcome.UNCHANGED), CrawlRhythm(number, HOUR)).at for number in range(200)}
    assert len(times) > 190


def test_the_same_crawl_is_planned_the_same_anywhere() -> None:
    assert planned(Crawl(CrawlOutcome.UNCHANGED)) == planned(Crawl(CrawlOutcome.UNCHANGED))


@given(
    outcome=st.sampled_from([outcome for outcome in CrawlOutcome if outcome is not CrawlOutcome.GONE]),
    failures=st.integers(0, 10_000),
    interval=st.timedeltas(timedelta(0), timedelta(days=400)),
    not_before=st.none() | st.datetimes(timezones=st.just(UTC)),
    last_new_at=st.none() | st.datetimes(max_value=NOW.replace(tzinfo=None), timezones=st.just(UTC)),
)
def test_the_next_crawl_is_always_ahead_and_within_the_bounds(
    outcome: CrawlOutcome,
    failures: int,
    interval: timedelta,
    not_before: datetime | None,
    last_new_at: datetime | None,
) -> None:
    known = CrawlRhythm(7, interval, failures=failures, last_new_at=last_new_at)
    plan = planned(Crawl(outcome, not_before=not_before), known)
    assert POLICY.shortest_interval <= wait(plan) <= 1.1 * POLICY.longest_backoff
