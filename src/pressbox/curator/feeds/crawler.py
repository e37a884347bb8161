"""Asks for one feed by a conditional request, and tells what the answer means."""

import hashlib
import re
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime

import httpx

from pressbox.core.clock import Clock, utc_now
from pressbox.core.errors import InvalidInputError, PressboxError, RefusedAddressError
from pressbox.core.http.client import GuardedClient, Response
from pressbox.core.http.decoding import AnswerTooLargeError, UnreadableAnswerError
from pressbox.core.http.pauses import pause
from pressbox.curator.feeds.domain import Crawl, FeedToCrawl, Validators
from pressbox.curator.feeds.parser import FeedParser, LoginPageError, NotAFeedError
from pressbox.curator.library.domain import CrawlOutcome, CuratorPolicy
from pressbox.curator.library.urls import is_too_long

ACCEPT = (
    "application/atom+xml, application/rss+xml, application/feed+json, application/rdf+xml;q=0.9, "
    "application/xml;q=0.8, text/xml;q=0.8, */*;q=0.5"
)
LONGEST_VALIDATOR = 1000
_NOT_MODIFIED = 304
_MAX_AGE = re.compile(r"(?:^|[\s,])max-age\s*=\s*\"?(\d{1,9})", re.IGNORECASE)
_NEVER_FRESH = re.compile(r"(?:^|[\s,])(?:no-cache|no-store)\b", re.IGNORECASE)
_LONGEST = timedelta(days=366)

_STATUSES = {
    401: (CrawlOutcome.REFUSED, "The site wants a name and a password for this feed."),
    402: (CrawlOutcome.REFUSED, "The site wants to be paid for this feed."),
    403: (CrawlOutcome.REFUSED, "The site refuses us this feed. It may block readers, or want you to sign in."),
    404: (CrawlOutcome.NOT_FOUND, "There is no feed at this address any more. Look for its new address on the site."),
    408: (CrawlOutcome.UNREACHABLE, "The site gave up waiting for our request."),
    410: (CrawlOutcome.GONE, "The site says that this feed is gone for good. It is not asked again."),
    429: (CrawlOutcome.RATE_LIMITED, "The site asks us to come back later."),
    451: (CrawlOutcome.REFUSED, "The site may not show this feed for legal reasons."),
}


class FeedCrawler:
    """Returns a Crawl whatever the site does. Only a cancellation, and that no parser of ours runs, is raised."""

    def __init__(self, client: GuardedClient, parser: FeedParser, policy: CuratorPolicy, now: Clock = utc_now) -> None:
        self._client = client
        self._parser = parser
        self._policy = policy
        self._now = now

    async def crawl(self, feed: FeedToCrawl) -> Crawl:
        validators = self._choose_validators(feed)
        try:
            answer = await self._client.get(
                feed.url, headers=_request_headers(validators), max_bytes=self._policy.feed_bytes
            )
        except PressboxError as error:
            return _failure(error)
        crawl = await self._interpret(replace(feed, validators=validators), answer)
        # The target of a redirect that failed says nothing about the feed.
        return crawl if crawl.outcome.failed or not answer.moved_to else _move(crawl, answer.moved_to)

    def _choose_validators(self, feed: FeedToCrawl) -> Validators:
        """Now and then ask for the whole feed: some servers say for ever that nothing changed."""
        read_at = feed.last_read_at
        trusted = read_at is None or self._now() - read_at < self._policy.trust_in_validators
        return feed.validators if trusted else Validators(content_hash=feed.validators.content_hash)

    async def _interpret(self, feed: FeedToCrawl, answer: Response) -> Crawl:
        asked_if_changed = bool(feed.validators.etag or feed.validators.last_modified)
        if answer.status == _NOT_MODIFIED and asked_if_changed:
            kept = replace(_validators(answer), content_hash=feed.validators.content_hash)
            return self._unchanged(answer, _fill_gaps(kept, feed.validators))
        if not 200 <= answer.status < 300:
            return self._failed(answer)
        digest = hashlib.sha256(answer.body).hexdigest()
        validators = replace(_validators(answer), content_hash=digest)
        if digest == feed.validators.content_hash:
            return self._unchanged(answer, validators)
        try:
            parsed = await self._parser.parse(
                answer.body, answer.headers.get("content-type", ""), answer.url, self._limit(feed)
            )
        except LoginPageError as error:
            return Crawl(CrawlOutcome.REFUSED, reason=error.message, status=answer.status)
        except NotAFeedError as error:
            return Crawl(CrawlOutcome.NOT_A_FEED, reason=error.message, status=answer.status)
        return Crawl(
            CrawlOutcome.NEW,
            parsed,
            validators,
            status=answer.status,
            not_before=fresh_until(answer.headers, self._now()),
        )

    def _unchanged(self, answer: Response, validators: Validators) -> Crawl:
        until = fresh_until(answer.headers, self._now())
        return Crawl(CrawlOutcome.UNCHANGED, validators=validators, status=answer.status, not_before=until)

    def _failed(self, answer: Response) -> Crawl:
        outcome, reason = _explain_status(answer.status)
        return Crawl(outcome, reason=reason, status=answer.status, not_before=self._retry_time(answer, outcome))

    def _retry_time(self, answer: Response, outcome: CrawlOutcome) -> datetime | None:
        if outcome not in (CrawlOutcome.RATE_LIMITED, CrawlOutcome.SERVER_ERROR):
            return None
        return retry_after(answer.headers, self._now())

    def _limit(self, feed: FeedToCrawl) -> int:
        return feed.entry_limit or self._policy.entries_per_crawl


def _move(crawl: Crawl, address: str) -> Crawl:
    if not is_too_long(address):
        return replace(crawl, moved_to=address)
    if crawl.parsed is None:
        return crawl
    problem = f"It moved to an address of {len(address):,} characters, which is too long; it is read by the old one."
    return replace(crawl, parsed=replace(crawl.parsed, problems=(problem, *crawl.parsed.problems)))


def _request_headers(validators: Validators) -> dict[str, str]:
    # A host has one or two feeds and is asked again in an hour. If connections were kept, every request would have to
    # look through hundreds of idle ones.
    headers = {"Accept": ACCEPT, "Connection": "close"}
    if validators.etag:
        headers["If-None-Match"] = validators.etag
    if validators.last_modified:
        headers["If-Modified-Since"] = validators.last_modified
    return headers


def _validators(answer: Response) -> Validators:
    return Validators(_read_validator(answer, "etag"), _read_validator(answer, "last-modified"))


def _read_validator(answer: Response, header: str) -> str:
    """Leave out what could not be sent back."""
    value = answer.headers.get(header, "")
    return value if len(value) <= LONGEST_VALIDATOR and value.isascii() and value.isprintable() else ""


def _fill_gaps(new: Validators, old: Validators) -> Validators:
    """Keep the old validators where a "not modified" leaves them out."""
    return replace(new, etag=new.etag or old.etag, last_modified=new.last_modified or old.last_modified)


def _explain_status(status: int) -> tuple[CrawlOutcome, str]:
    if status in _STATUSES:
        return _STATUSES[status]
    if status >= 500:
        return CrawlOutcome.SERVER_ERROR, f"The site has a fault of its own (status {status})."
    if status >= 400:
        return CrawlOutcome.REFUSED, f"The site does not accept our request (status {status})."
    return CrawlOutcome.SERVER_ERROR, f"The site answers with status {status}, which makes no sense here."


def _failure(error: PressboxError) -> Crawl:
    match error:
        case RefusedAddressError() | InvalidInputError():
            outcome = CrawlOutcome.REFUSED_ADDRESS
        case AnswerTooLargeError():
            outcome = CrawlOutcome.TOO_LARGE
        case UnreadableAnswerError():
            outcome = CrawlOutcome.SERVER_ERROR
        case _:
            outcome = CrawlOutcome.UNREACHABLE
    return Crawl(outcome, reason=error.message)


def fresh_until(headers: Mapping[str, str], now: datetime) -> datetime | None:
    """Until when the same answer would come again, by Cache-Control and Expires; None when nothing is said."""
    control = headers.get("cache-control", "")
    if _NEVER_FRESH.search(control):
        return None
    found = _MAX_AGE.search(control)
    if found is not None:
        age = _seconds(headers.get("age", "")) or timedelta(0)
        return _later(now, timedelta(seconds=int(found.group(1))) - age)
    expires = _date(headers.get("expires", ""))
    if expires is None:
        return None
    # Relative to the site's own clock, which need not be right.
    return _later(now, expires - (_date(headers.get("date", "")) or now))


def retry_after(headers: Mapping[str, str], now: datetime) -> datetime | None:
    """The time of Retry-After, which is given in seconds or as a date, or of another header that means the same."""
    # A date is relative to the site's own clock, which need not be right.
    wait = pause(httpx.Headers(headers), _date(headers.get("date", "")) or now)
    return None if wait is None else _later(now, wait)


def _later(now: datetime, wait: timedelta) -> datetime | None:
    return now + min(wait, _LONGEST) if wait > timedelta(0) else None


def _seconds(text: str) -> timedelta | None:
    stripped = text.strip()
    return timedelta(seconds=int(stripped[:9])) if stripped.isascii() and stripped.isdigit() else None


def _date(text: str) -> datetime | None:
    try:
        date = parsedate_to_datetime(text.strip())
    except (ValueError, TypeError, OverflowError):
        # "0" and "-1" mean "at once", as anything does that is not a date.
        return None
    return date if date.tzinfo else date.replace(tzinfo=UTC)
