"""Plans when a feed is crawled again, tells entries apart, and finds those of a crawl among the stored ones. Pure."""

import hashlib
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from pressbox.curator.feeds.domain import Crawl, FeedEntry, ParsedFeed
from pressbox.curator.library.domain import CrawlOutcome, CuratorPolicy, hash_texts
from pressbox.curator.library.urls import host_of, is_too_long
from pressbox.curator.text.plain_text import make_storable

# Crawled twice as often as it publishes, a feed is late by a quarter of its rhythm on average.
CRAWLS_PER_ENTRY = 2
# How many of the newest dates make the rhythm: enough to see one, few enough to notice a change.
COUNTED_DATES = 12
# A feed that has been silent for eight days is crawled once a day.
SILENCE_PER_CRAWL = 8
# For a feed without dates, how much sooner it is crawled after it had something new.
SOONER = 2 / 3
# Feeds that came together, by an import or after a night off, must not stay together.
JITTER = 0.1

# Failures that pass by themselves are tried again soon; for the others the usual rhythm is enough.
_TEMPORARY = frozenset({CrawlOutcome.SERVER_ERROR, CrawlOutcome.UNREACHABLE})


@dataclass(frozen=True)
class CrawlRhythm:
    """What is known of a feed before this crawl. `failures` counts those in a row, without this crawl."""

    feed_id: int
    interval: timedelta
    wanted: timedelta | None = None
    failures: int = 0
    last_new_at: datetime | None = None


@dataclass(frozen=True)
class NextCrawl:
    """`at` is None for a feed that is not crawled until somebody asks for it."""

    at: datetime | None
    interval: timedelta


def plan_next_crawl(known: CrawlRhythm, crawl: Crawl, policy: CuratorPolicy, now: datetime) -> NextCrawl:
    """Plan the next crawl. After a failure the interval stays, and only the next time moves."""
    if crawl.outcome is CrawlOutcome.GONE or crawl.set_aside:
        return NextCrawl(None, known.interval)
    if crawl.outcome.failed:
        wait = _backoff(known, crawl.outcome, policy)
        at = _respect_request(now + wait, crawl.not_before, now + policy.longest_backoff)
        return NextCrawl(at, known.interval)
    if known.wanted is not None:
        interval = max(known.wanted, policy.shortest_interval)
        wait = interval
    else:
        interval = _clamp(_adaptive_interval(known, crawl, now), policy)
        wait = interval * (1 + JITTER * _jitter(known.feed_id, 0))
    return NextCrawl(_respect_request(now + wait, crawl.not_before, now + policy.longest_interval), interval)


def _adaptive_interval(known: CrawlRhythm, crawl: Crawl, now: datetime) -> timedelta:
    if crawl.outcome is CrawlOutcome.UNCHANGED or crawl.parsed is None:
        silence = now - known.last_new_at if known.last_new_at is not None else timedelta(0)
        return max(known.interval, silence / SILENCE_PER_CRAWL)
    asked = crawl.parsed.hub_interval or timedelta(0)
    return max(_publishing_interval(crawl.parsed, now) or known.interval * SOONER, asked)


def _publishing_interval(parsed: ParsedFeed, now: datetime) -> timedelta | None:
    dates = _newest(entry.published_at for entry in parsed.entries if entry.published_at is not None)
    # Dates in the future say nothing about the rhythm.
    past = [date for date in dates if date <= now]
    if len(past) < 2:
        return None
    # Up to now and not up to the newest: the silence since then counts.
    return (now - past[-1]) / len(past) / CRAWLS_PER_ENTRY


def _newest(dates: Iterable[datetime]) -> list[datetime]:
    return sorted(dates, reverse=True)[:COUNTED_DATES]


def _backoff(known: CrawlRhythm, outcome: CrawlOutcome, policy: CuratorPolicy) -> timedelta:
    first = policy.shortest_interval if outcome in _TEMPORARY else _clamp(known.interval, policy)
    # The exponent is limited: long before that, the longest wait is reached.
    wait = min(first * (1 << min(known.failures, 16)), policy.longest_backoff)
    return wait * (1 + JITTER * _jitter(known.feed_id, known.failures + 1))


def _clamp(interval: timedelta, policy: CuratorPolicy) -> timedelta:
    return max(policy.shortest_interval, min(interval, policy.longest_interval))


def _respect_request(at: datetime, asked: datetime | None, latest: datetime) -> datetime:
    """Respect what the site asks up to a limit: a header must not switch a feed off."""
    return at if asked is None else max(at, min(asked, latest))


def _jitter(feed_id: int, attempt: int) -> float:
    """Return an even spread between 0 and 1 that is the same for a feed and attempt on every machine."""
    digest = hashlib.blake2b(f"{feed_id}:{attempt}".encode(), digest_size=4).digest()
    return int.from_bytes(digest, "big") / 2**32


def count_shards(waiting: int, page: int, most: int) -> int:
    """How many pages of rows are worked on at once: one for each page that there is, up to the most that is allowed."""
    return min(math.ceil(waiting / max(page, 1)), most)


def find_new_address(address: str, moved_to: str) -> str:
    """Where a feed lives after a permanent redirect; empty when it stays, or when the new address is too long."""
    place = make_storable(moved_to.partition("#")[0])
    return "" if place == address or is_too_long(place) else place


def is_secure_spelling(address: str, other: str) -> bool:
    """Whether the other is the same place by https: one host answers for both, so it stays the same feed."""
    return address.startswith("http://") and other == f"https://{address.removeprefix('http://')}"


# An index of the database takes no more, and no more is needed to tell entries apart.
LONGEST_GUID = 500
# Their feeds hold the text, and they allow hardly a request for a page.
_HOSTS_WITHOUT_PAGES = frozenset({"reddit.com", "www.reddit.com", "old.reddit.com"})
_VIDEO_HOSTS = frozenset({"youtube.com", "www.youtube.com", "m.youtube.com", "youtu.be", "www.youtube-nocookie.com"})


def shorten_guid(guid: str) -> str:
    """A guid as it is stored: an index of the database takes no more."""
    text = make_storable(guid.strip())
    return text if len(text) <= LONGEST_GUID else "hash:" + hash_texts(text)


def has_page(entry: FeedEntry) -> bool:
    """Whether there is an article to fetch: not for videos and talk, and not for files that are the entry."""
    if not entry.url or host_of(entry.url) in _HOSTS_WITHOUT_PAGES:
        return False
    return not is_video(entry.url) and entry.url not in {enclosure.url for enclosure in entry.enclosures}


def is_video(url: str) -> bool:
    return host_of(url) in _VIDEO_HOSTS


def feed_hash(entry: FeedEntry) -> str:
    """Hash all that is stored of an entry: with the same hash there is nothing to write."""
    enclosures = [f"{enclosure.url} {enclosure.type} {enclosure.length}" for enclosure in entry.enclosures]
    texts = (entry.title, entry.url, entry.author, entry.content, entry.summary, entry.language, entry.thumbnail_url)
    return hash_texts(*texts, *enclosures)


@dataclass(frozen=True)
class StoredEntry:
    """What is compared of a stored entry. `published_at` is None for an undated one."""

    id: int
    guid: str
    url: str
    title: str
    feed_hash: str
    published_at: datetime | None


def all_guids(guid: str, entry: FeedEntry) -> tuple[str, ...]:
    return tuple(dict.fromkeys((guid, *map(shorten_guid, (*entry.narrower_guids, *entry.wider_guids)))))


def match_entries(wanted: Mapping[str, FeedEntry], stored: Mapping[str, StoredEntry]) -> dict[str, StoredEntry]:
    """Return what is known of the wanted entries, both by guid. A stored entry is one of them at most."""
    found: dict[str, StoredEntry] = {}
    taken: set[int] = set()
    for guid, entry in wanted.items():
        names = (guid, *map(shorten_guid, entry.narrower_guids))
        row = next((stored[name] for name in names if name in stored and stored[name].id not in taken), None)
        if row is not None:
            found[guid] = row
            taken.add(row.id)
    for guid, entry in wanted.items():
        if guid in found:
            continue
        rows = (stored[name] for name in map(shorten_guid, entry.wider_guids) if name in stored)
        same = next((row for row in rows if row.id not in taken and _is_same(row, entry)), None)
        if same is not None:
            found[guid] = same
            taken.add(same.id)
    return found


def find_renamed(known: Mapping[str, StoredEntry], wanted: Mapping[str, FeedEntry]) -> dict[int, str]:
    """Return the new guids of entries that were stored under a wider one, so that it cannot stand for another."""
    wide = {guid: set(map(shorten_guid, wanted[guid].wider_guids)) for guid in known}
    return {row.id: guid for guid, row in known.items() if row.guid in wide[guid]}


def is_removed(guid: str, entry: FeedEntry, removed: Mapping[str, datetime]) -> bool:
    """Whether an entry was cleaned up: under its own name, or by its date under one that it shared with others."""
    if any(name in removed for name in (guid, *map(shorten_guid, entry.narrower_guids))):
        return True
    shared = [removed[name] for name in map(shorten_guid, entry.wider_guids) if name in removed]
    return entry.published_at is not None and any(entry.published_at <= at for at in shared)


def _is_same(row: StoredEntry, entry: FeedEntry) -> bool:
    if row.feed_hash == feed_hash(entry):
        return True
    same_words = (row.title, row.url) == (make_storable(entry.title), make_storable(entry.url))
    return same_words and (None in (row.published_at, entry.published_at) or row.published_at == entry.published_at)
