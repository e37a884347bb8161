"""Pages of due feeds and of waiting articles: every worker takes the next one from the rows that wait."""

import asyncio
from collections import defaultdict
from collections.abc import Sequence
from contextlib import suppress
from datetime import timedelta

from temporalio import activity

from pressbox.core.clock import Clock, utc_now
from pressbox.core.errors import TransientError
from pressbox.core.temporal.calls import call_with
from pressbox.core.temporal.heartbeat import ResumableHeartbeat
from pressbox.core.temporal.options import PAGES
from pressbox.curator.feeds.domain import FeedToCrawl
from pressbox.curator.ingest.contracts import CrawledPage, CrawlPageInput, FetchedPage, FetchPageInput
from pressbox.curator.ingest.fetcher import SET_ASIDE, ArticleFetcher, FeedProber, FetchFailure, Probed
from pressbox.curator.ingest.ports import ClaimedEntry, CrawlQueue, FetchedEntry, FetchQueue, FetchScope
from pressbox.curator.library.contracts import heavy_queue
from pressbox.curator.library.domain import CuratorPolicy
from pressbox.curator.library.leases import LEASE, Lease, current_lease, has_worked_for, kept, pause_until

# Connections of one process, for all its pages together.
PAGES_AT_ONCE = 64
# Results that arrive within this are one transaction; a slow page never keeps the others from being stored.
GATHERED_SECONDS = 0.3
# Begun so often and never ended: the page kills its process, so the feed's own text has to do; then that does too.
TRIES_BY_PAGE = 3
TRIES_AT_ALL = 6
KILLS = "This article made the worker crash several times."


class CrawlPages:
    def __init__(self, queue: CrawlQueue, prober: FeedProber, now: Clock = utc_now) -> None:
        self._queue = queue
        self._prober = prober
        self._now = now

    @activity.defn
    @call_with(PAGES)
    async def crawl_due_feeds(self, input: CrawlPageInput) -> CrawledPage:
        """Crawl pages of feeds until none is due, or until it is time to tell how far it is."""
        lease = current_lease(input.shard)
        async with ResumableHeartbeat(CrawledPage(turns_until=input.turns_until)) as heartbeat:
            while True:
                if await self._crawl_page(lease, input, heartbeat) and not has_worked_for(input.policy.report_every):
                    continue
                page, now = heartbeat.cursor, self._now()
                until = page.turns_until if page.turns_until and page.turns_until > now else None
                patience = max(input.policy.feed_patience, until - now if until else timedelta())
                turn = await self._queue.find_next(lease, patience)
                # Who waits for turns has something to tell only when there was one.
                quiet = until is not None and not page.crawled
                told = has_worked_for(input.policy.report_every) and not quiet
                if not turn.waiting or not (input.lingers or until) or told:
                    return page.model_copy(update={"waiting": turn.waiting, "turns_until": until})
                raise pause_until(turn)

    async def _crawl_page(
        self, lease: Lease, input: CrawlPageInput, heartbeat: ResumableHeartbeat[CrawledPage]
    ) -> bool:
        feeds: Sequence[FeedToCrawl] = await self._queue.claim(lease, input.limit)
        killed = False
        # Of all shards one tries suspects, one after the other: what dies with a suspect must not be another suspect.
        if not feeds and input.lingers:
            suspect = await self._queue.claim_suspect(lease)
            if suspect is not None:
                lease, feeds, killed = suspect.lease, [suspect.feed], suspect.killed
        if not feeds:
            return False
        ids = [feed.feed_id for feed in feeds]
        try:
            async with kept(lease, ids, self._queue.renew):
                probed = await self._probe(feeds, input.policy, lease, killed=killed)
        # Whoever lives to see it end was not killed by it.
        except BaseException as error:
            # What no other try mends waits, and the next page is not to blame.
            hopeless = isinstance(error, Exception) and not isinstance(error, TransientError)
            with suppress(TransientError):
                await self._queue.release(lease, ids, dict.fromkeys(ids, utc_now() + LEASE) if hopeless else {})
            raise
        # One that could not be stored at all would be claimed again at once: it waits until its lease is over.
        given_back = [feed_id for feed_id in ids if feed_id not in probed.unstored]
        await self._queue.release(lease, given_back, probed.postponed)
        known = heartbeat.cursor
        turns = [at for at in probed.postponed.values() if input.until and at < input.until]
        heartbeat.advance(
            CrawledPage(
                turns_until=max([*turns, *([known.turns_until] if known.turns_until else [])], default=None),
                crawled=known.crawled + len(feeds) - len(probed.postponed),
                failed=known.failed + sum(feed.outcome.failed for feed in probed.stored),
                created=known.created + sum(feed.created for feed in probed.stored),
                updated=known.updated + sum(feed.updated for feed in probed.stored),
            )
        )
        return True

    async def _probe(
        self, feeds: Sequence[FeedToCrawl], policy: CuratorPolicy, lease: Lease, *, killed: bool
    ) -> Probed:
        if killed:
            return Probed([await self._prober.store(feed, SET_ASIDE, policy, lease) for feed in feeds], 0, {})
        return await self._prober.probe(feeds, policy, lease)


class FetchPages:
    def __init__(self, queue: FetchQueue, fetcher: ArticleFetcher, now: Clock = utc_now) -> None:
        self._queue = queue
        self._fetcher = fetcher
        self._now = now
        self._at_once = asyncio.Semaphore(PAGES_AT_ONCE)

    @activity.defn
    @call_with(PAGES, queue=heavy_queue)
    async def fetch_due_contents(self, input: FetchPageInput) -> FetchedPage:
        """Fetch articles whose host has its turn, until none waits or it is time to tell how far it is.

        It never waits for a turn here: then the attempt ends, and the next one begins when there is a turn.
        """
        lease = current_lease()
        scope = FetchScope(input.feed_id, paced=not input.from_feed, delay=input.policy.host_delay)
        async with ResumableHeartbeat(FetchedPage()) as heartbeat:
            while True:
                claimed = await self._claim(lease, scope, input.limit)
                if claimed:
                    await self._fetch_page(lease, claimed, input, heartbeat)
                    if not has_worked_for(input.policy.report_every):
                        continue
                turn = await self._queue.find_next(lease, scope, input.policy.turn_patience)
                if not turn.waiting or not input.lingers or _has_news(heartbeat.cursor, input.policy):
                    return heartbeat.cursor.model_copy(update={"waiting": turn.waiting})
                raise pause_until(turn)

    async def _claim(self, lease: Lease, scope: FetchScope, limit: int) -> Sequence[ClaimedEntry]:
        """Claim a page, or one suspect alone: if it kills the process, it must not take others with it."""
        fresh = await self._queue.claim(lease, scope, limit, suspects=False)
        return fresh or await self._queue.claim(lease, scope, 1, suspects=True)

    async def _fetch_page(
        self,
        lease: Lease,
        claimed: Sequence[ClaimedEntry],
        input: FetchPageInput,
        heartbeat: ResumableHeartbeat[FetchedPage],
    ) -> None:
        by_host: dict[str, list[ClaimedEntry]] = defaultdict(list)
        for entry in claimed:
            by_host[entry.host].append(entry)
        done: asyncio.Queue[FetchedEntry] = asyncio.Queue()
        ids = [entry.source.entry_id for entry in claimed]
        fetching = [asyncio.create_task(self._fetch_from_host(entries, input, done)) for entries in by_host.values()]
        try:
            async with kept(lease, ids, self._queue.renew):
                await self._record_all(lease, len(claimed), done, heartbeat)
        finally:
            for task in fetching:
                task.cancel()
            await asyncio.gather(*fetching, return_exceptions=True)

    async def _record_all(
        self,
        lease: Lease,
        missing: int,
        done: "asyncio.Queue[FetchedEntry]",
        heartbeat: ResumableHeartbeat[FetchedPage],
    ) -> None:
        while missing:
            fetched = [await done.get()]
            if missing > 1:
                await asyncio.sleep(GATHERED_SECONDS)
            while not done.empty():
                fetched.append(done.get_nowait())
            missing -= len(fetched)
            await self._record(lease, fetched, heartbeat)

    async def _fetch_from_host(
        self, entries: Sequence[ClaimedEntry], input: FetchPageInput, done: "asyncio.Queue[FetchedEntry]"
    ) -> None:
        for entry in entries:
            async with self._at_once:
                await done.put(await self._fetch(entry, input.from_feed, input.policy))

    async def _fetch(self, entry: ClaimedEntry, from_feed: bool, policy: CuratorPolicy) -> FetchedEntry:
        source = entry.source
        own = from_feed or not source.has_page or entry.begun > TRIES_BY_PAGE
        result = FetchedEntry(source.entry_id, self._now(), entry.turn, from_feed=own)
        if entry.begun > TRIES_AT_ALL:
            return result.with_failure(KILLS, None)
        try:
            # Without a turn it needs none, or an older release did not write its host down.
            found = await self._fetcher.fetch(source, policy, from_feed=own, has_turn=bool(entry.turn))
        # A stranger's page chooses the error, and the other articles wait.
        except Exception as error:  # noqa: BLE001
            activity.logger.exception("The article of entry %s could not be read", source.entry_id)
            return result.with_failure(f"The article could not be read ({type(error).__name__}).", None)
        if isinstance(found, FetchFailure):
            return result.with_failure(found.reason, found.next_try)
        return result.with_article(found)

    async def _record(
        self, lease: Lease, fetched: Sequence[FetchedEntry], heartbeat: ResumableHeartbeat[FetchedPage]
    ) -> None:
        recorded = set(await self._record_safely(lease, fetched))
        articles = sum(one.article is not None for one in fetched if one.entry_id in recorded)
        known = heartbeat.cursor
        heartbeat.advance(FetchedPage(fetched=known.fetched + articles, failed=known.failed + len(recorded) - articles))

    async def _record_safely(self, lease: Lease, fetched: Sequence[FetchedEntry]) -> Sequence[int]:
        """Record all at once, and one by one when that fails: what cannot be stored is a failure of its entry alone."""
        try:
            return await self._queue.record(lease, fetched)
        except TransientError:
            raise
        # What an article holds chooses the error, and the others wait.
        except Exception as error:  # noqa: BLE001
            activity.logger.exception("%s articles could not be stored together", len(fetched))
            if len(fetched) > 1:
                return [entry_id for one in fetched for entry_id in await self._record_safely(lease, [one])]
            reason = f"The article could not be stored ({type(error).__name__})."
            return await self._queue.record(lease, [fetched[0].with_failure(reason, None)])


def _has_news(page: FetchedPage, policy: CuratorPolicy) -> bool:
    return bool(page.fetched or page.failed) and has_worked_for(policy.report_every)
