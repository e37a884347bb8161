"""One conditional request for one feed, and what its answer means."""

import hashlib
from dataclasses import replace
from datetime import datetime

from pressbox.core.clock import Clock, utc_now
from pressbox.core.errors import InvalidInputError, PressboxError, RefusedAddressError
from pressbox.core.http.client import GuardedClient, Response
from pressbox.core.http.decoding import AnswerTooLargeError, UnreadableAnswerError
from pressbox.curator.feeds.freshness import fresh_until, retry_after
from pressbox.curator.feeds.parser import LoginPageError, NotAFeedError
from pressbox.curator.feeds.reader import FeedReader
from pressbox.curator.library.domain.feeds import Crawl, CrawlOutcome, FeedToCrawl, Validators
from pressbox.curator.library.domain.policy import CuratorPolicy

ACCEPT = (
    "application/atom+xml, application/rss+xml, application/feed+json, application/rdf+xml;q=0.9, "
    "application/xml;q=0.8, text/xml;q=0.8, */*;q=0.5"
)
LONGEST_VALIDATOR = 1000
_NOT_MODIFIED = 304

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
    """What the other side does is a Crawl, never an exception. Only our own cancellation passes through."""

    def __init__(self, client: GuardedClient, reader: FeedReader, policy: CuratorPolicy, now: Clock = utc_now) -> None:
        self._client = client
        self._reader = reader
        self._policy = policy
        self._now = now

    async def crawl(self, feed: FeedToCrawl) -> Crawl:
        try:
            answer = await self._client.get(
                feed.url, headers=_asking(feed.validators), max_bytes=self._policy.feed_bytes
            )
        except PressboxError as error:
            return _not_answered(error)
        crawl = await self._understood(feed, answer)
        # Where a failure was redirected to says nothing about the feed.
        return crawl if crawl.outcome.failed else replace(crawl, moved_to=answer.moved_to)

    async def _understood(self, feed: FeedToCrawl, answer: Response) -> Crawl:
        asked_if_changed = bool(feed.validators.etag or feed.validators.last_modified)
        if answer.status == _NOT_MODIFIED and asked_if_changed:
            kept = replace(_validators(answer), content_hash=feed.validators.content_hash)
            return self._unchanged(answer, _filled(kept, feed.validators))
        if not 200 <= answer.status < 300:
            return self._failed(answer)
        digest = hashlib.sha256(answer.body).hexdigest()
        validators = replace(_validators(answer), content_hash=digest)
        if digest == feed.validators.content_hash:
            return self._unchanged(answer, validators)
        try:
            parsed = await self._reader.read(
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
        outcome, reason = _meaning(answer.status)
        return Crawl(outcome, reason=reason, status=answer.status, not_before=self._asked_to_wait(answer, outcome))

    def _asked_to_wait(self, answer: Response, outcome: CrawlOutcome) -> datetime | None:
        if outcome not in (CrawlOutcome.RATE_LIMITED, CrawlOutcome.SERVER_ERROR):
            return None
        return retry_after(answer.headers, self._now())

    def _limit(self, feed: FeedToCrawl) -> int:
        return min(feed.entry_limit or self._policy.entries_per_crawl, self._policy.entries_per_crawl)


def _asking(validators: Validators) -> dict[str, str]:
    # A host has one feed or two and is asked again in an hour. Kept, hundreds of idle connections would be looked
    # through for every request.
    headers = {"Accept": ACCEPT, "Connection": "close"}
    if validators.etag:
        headers["If-None-Match"] = validators.etag
    if validators.last_modified:
        headers["If-Modified-Since"] = validators.last_modified
    return headers


def _validators(answer: Response) -> Validators:
    return Validators(_usable(answer.headers.get("etag", "")), _usable(answer.headers.get("last-modified", "")))


def _usable(value: str) -> str:
    """What we could not send back is none."""
    return value if len(value) <= LONGEST_VALIDATOR and value.isascii() and value.isprintable() else ""


def _filled(new: Validators, old: Validators) -> Validators:
    """A short "not modified" may leave them out: then those that were asked with still hold."""
    return replace(new, etag=new.etag or old.etag, last_modified=new.last_modified or old.last_modified)


def _meaning(status: int) -> tuple[CrawlOutcome, str]:
    if status in _STATUSES:
        return _STATUSES[status]
    if status >= 500:
        return CrawlOutcome.SERVER_ERROR, f"The site has a fault of its own (status {status})."
    if status >= 400:
        return CrawlOutcome.REFUSED, f"The site does not accept our request (status {status})."
    return CrawlOutcome.SERVER_ERROR, f"The site answers with status {status}, which makes no sense here."


def _not_answered(error: PressboxError) -> Crawl:
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
