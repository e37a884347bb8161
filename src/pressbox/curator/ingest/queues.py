"""What all workers share in PostgreSQL: queues of due feeds and of waiting entries, and the rate limits of hosts."""

import asyncio
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from sqlalchemy import bindparam, select, text
from sqlalchemy.dialects.postgresql import ARRAY
from sqlalchemy.types import BigInteger, DateTime, Interval, Text

from pressbox.core.db.database import Database
from pressbox.curator.feeds.domain import FeedToCrawl, Validators
from pressbox.curator.ingest.domain import is_video
from pressbox.curator.ingest.fetch_store import announce, put_article, put_failure
from pressbox.curator.ingest.fetcher import LONGEST_WAIT
from pressbox.curator.ingest.ports import ClaimedEntry, EntrySource, FetchedEntry, FetchScope, SuspectFeed
from pressbox.curator.ingest.turns import TurnRequest, hand_out
from pressbox.curator.library.domain import load_rules
from pressbox.curator.library.leases import Lease, NextTurn, is_free, was_alone
from pressbox.curator.library.rows import EntryBodyRow, EntryRow
from pressbox.curator.library.store import SqlStore, refresh_shown_hash

# Statements are put together from constants only, hence S608.
# Without a state the feed was never crawled. A feed that is gone has no next time until somebody makes it due.
_WANTED = "f.paused_at IS NULL AND EXISTS (SELECT FROM curator.subscriptions AS r WHERE r.feed_id = f.id)"
# Whoever ends in peace gives its feeds back, so an owner that is left over died with its feeds or was cut off.
_CLAIM_FEEDS = text(f"""
    WITH chosen AS (
        SELECT f.id, f.lease_owner AS former
        FROM curator.feeds AS f LEFT JOIN curator.feed_state AS s ON s.feed_id = f.id
        WHERE {_WANTED} AND (s.feed_id IS NULL OR s.next_crawl_at <= now()) AND {is_free("f")}
            AND (f.lease_owner IS NOT NULL) = :suspects
        ORDER BY s.next_crawl_at NULLS FIRST, f.id LIMIT :limit FOR UPDATE OF f SKIP LOCKED
    )
    UPDATE curator.feeds AS f SET lease_owner = :taker, lease_until = now() + :lease
    FROM chosen AS c LEFT JOIN curator.feed_state AS s ON s.feed_id = c.id WHERE f.id = c.id
    RETURNING f.id, f.url, f.interval_seconds, f.entry_limit, s.etag, s.last_modified, s.content_hash, s.last_read_at,
        s.last_crawl_at, coalesce(c.former, '')
""").bindparams(bindparam("lease", type_=Interval))  # noqa: S608
_NEXT_FEED = text(f"""
    SELECT count(*), min(coalesce(s.next_crawl_at, now()))
    FROM curator.feeds AS f LEFT JOIN curator.feed_state AS s ON s.feed_id = f.id
    WHERE {_WANTED} AND (s.feed_id IS NULL OR s.next_crawl_at <= now() + :patience) AND {is_free("f")}
""").bindparams(bindparam("patience", type_=Interval))  # noqa: S608
# Whoever asks for all feeds does not ask for those whose sites want to be left alone for now.
_MAKE_DUE = text("""
    UPDATE curator.feed_state SET next_crawl_at = now()
    WHERE next_crawl_at > now() AND outcome <> 'rate limited' AND status IS DISTINCT FROM 503
""")
_RENEW_FEEDS = text("""
    UPDATE curator.feeds SET lease_until = now() + :lease WHERE id = ANY(:ids) AND lease_owner = :owner
""").bindparams(bindparam("ids", type_=ARRAY(BigInteger)), bindparam("lease", type_=Interval))
_RELEASE = text("""
    UPDATE curator.feeds SET lease_owner = NULL, lease_until = NULL WHERE id = ANY(:ids) AND lease_owner = :owner
""").bindparams(bindparam("ids", type_=ARRAY(BigInteger)))
_POSTPONE = text("""
    INSERT INTO curator.feed_state AS s (feed_id, next_crawl_at)
    SELECT n.id, n.at FROM unnest(:ids, :times) AS n (id, at)
    JOIN curator.feeds AS f ON f.id = n.id AND f.lease_owner = :owner ORDER BY n.id
    ON CONFLICT (feed_id) DO UPDATE SET next_crawl_at = excluded.next_crawl_at
""").bindparams(bindparam("ids", type_=ARRAY(BigInteger)), bindparam("times", type_=ARRAY(DateTime(timezone=True))))


class SqlCrawlQueue(SqlStore):
    async def claim(self, lease: Lease, limit: int) -> Sequence[FeedToCrawl]:
        return [feed for feed, _ in await self._claim(lease, lease, limit, suspects=False)]

    async def claim_suspect(self, lease: Lease) -> SuspectFeed | None:
        alone = replace(lease, alone=True)
        claimed = await self._claim(lease, alone, 1, suspects=True)
        return next((SuspectFeed(feed, was_alone(former), alone) for feed, former in claimed), None)

    async def _claim(
        self, lease: Lease, taker: Lease, limit: int, *, suspects: bool
    ) -> Sequence[tuple[FeedToCrawl, str]]:
        """Claim feeds for the taker, with their former owners."""
        values = lease.values | {"taker": taker.owner, "limit": limit, "suspects": suspects}
        async with self._database.unit_of_work() as work:
            rows = (await work.session.execute(_CLAIM_FEEDS, values)).tuples().all()
        # Of feeds of one host the one that waits the longest has the first turn.
        fairly = sorted(rows, key=lambda row: (row[-2] is not None, row[-2], row[0]))
        found = [
            FeedToCrawl(
                feed_id=feed_id,
                url=url,
                validators=Validators(etag or "", last_modified or "", content_hash or ""),
                last_read_at=last_read_at,
                interval=None if seconds is None else timedelta(seconds=seconds),
                entry_limit=entry_limit,
            )
            for feed_id, url, seconds, entry_limit, etag, last_modified, content_hash, last_read_at, *_ in fairly
        ]
        return list(zip(found, (row[-1] for row in fairly), strict=True))

    async def find_next(self, lease: Lease, patience: timedelta) -> NextTurn:
        values = {"work": lease.values["work"], "owner": lease.owner, "patience": patience}
        async with self._database.unit_of_work() as work:
            return NextTurn(*(await work.session.execute(_NEXT_FEED, values)).tuples().one())

    async def make_all_due(self) -> None:
        async with self._database.unit_of_work() as work:
            await work.session.execute(_MAKE_DUE)

    async def renew(self, lease: Lease, feed_ids: Sequence[int]) -> None:
        async with self._database.unit_of_work() as work:
            await work.session.execute(
                _RENEW_FEEDS, {"ids": list(feed_ids), "owner": lease.owner, "lease": lease.length}
            )

    async def release(self, lease: Lease, feed_ids: Sequence[int], postponed: Mapping[int, datetime]) -> None:
        async with self._database.unit_of_work() as work:
            if postponed:
                values = {"ids": list(postponed), "times": list(postponed.values()), "owner": lease.owner}
                await work.session.execute(_POSTPONE, values)
            await work.session.execute(_RELEASE, {"ids": list(feed_ids), "owner": lease.owner})


# Statements are put together from constants only, hence S608.
_SCOPE = """
    e.fetch_state = 'waiting'
    AND (CAST(:feed_id AS bigint) IS NULL OR e.feed_id = :feed_id)
    AND (CAST(:feed_id AS bigint) IS NOT NULL OR EXISTS (
        SELECT FROM curator.feeds AS f WHERE f.id = e.feed_id AND f.paused_at IS NULL))
"""
# A domain with a pace of its own takes its turns together with all of its hosts.
_DUE = f"""
    SELECT e.id, e.published_at, e.next_fetch_at, coalesce(p.domain, e.host) AS turn,
        CASE WHEN :paced AND e.host <> '' THEN coalesce(p.delay, :delay) ELSE interval '0' END AS delay
    FROM curator.entries AS e LEFT JOIN LATERAL (
        SELECT domain, delay FROM unnest(:domains, :delays) AS p (domain, delay)
        WHERE e.host = domain OR right(e.host, length(domain) + 1) = '.' || domain LIMIT 1
    ) AS p ON true
    WHERE {_SCOPE} AND {is_free("e")}
"""  # noqa: S608
# One statement hands out entries, leases them, and takes the turns of their hosts. A host has one page at a time: the
# next may be asked for when the delay is over and the answer is here. Whoever comes at the same moment sees the turn
# taken by then, and gets nothing of this host.
_CLAIM_SQL = f"""
    WITH due AS ({_DUE}
        AND (e.next_fetch_at IS NULL OR e.next_fetch_at <= now()) AND (e.lease_tries > 0) = :suspects
    ), first AS (
        SELECT DISTINCT ON (CASE WHEN delay > interval '0' THEN turn ELSE id::text END) id, turn, delay
        FROM due ORDER BY CASE WHEN delay > interval '0' THEN turn ELSE id::text END, published_at DESC, id DESC
    ), chosen AS (
        SELECT e.id, first.turn, first.delay FROM curator.entries AS e JOIN first ON first.id = e.id
        LEFT JOIN curator.host_turns AS t ON first.delay > interval '0' AND t.host = first.turn
        WHERE e.fetch_state = 'waiting' AND {is_free("e")}
            AND (t.host IS NULL OR greatest(t.next_at, t.busy_until) <= now())
        ORDER BY e.published_at DESC, e.id DESC LIMIT :limit FOR UPDATE OF e SKIP LOCKED
    ), taken AS (
        INSERT INTO curator.host_turns AS t (host, next_at, busy_until)
        SELECT turn, now() + delay, now() + :lease FROM chosen WHERE delay > interval '0' ORDER BY turn
        ON CONFLICT (host) DO UPDATE SET next_at = excluded.next_at, busy_until = excluded.busy_until
        WHERE greatest(t.next_at, t.busy_until) <= now()
        RETURNING host
    )
    UPDATE curator.entries AS e
    SET lease_owner = :owner, lease_until = now() + :lease, lease_tries = e.lease_tries + 1
    FROM chosen AS c, curator.entry_bodies AS b, curator.feeds AS f
    WHERE e.id = c.id AND b.entry_id = c.id AND f.id = e.feed_id
        AND (c.delay = interval '0' OR c.turn IN (SELECT host FROM taken))
    RETURNING e.id, e.feed_id, e.url, b.feed_content, f.extraction_rules, f.full_text, e.enclosures, e.title,
        e.fetch_tries, e.lease_tries, CASE WHEN c.delay > interval '0' THEN c.turn ELSE '' END
"""  # noqa: S608
_NEXT_ENTRY = f"""
    SELECT count(*), min(greatest(d.next_fetch_at, CASE WHEN d.delay > interval '0' THEN t.next_at END, now()))
    FROM ({_DUE} AND (e.next_fetch_at IS NULL OR e.next_fetch_at <= now() + :patience)) AS d
    LEFT JOIN curator.host_turns AS t ON t.host = d.turn
    WHERE d.delay = interval '0' OR t.host IS NULL OR t.next_at <= now() + :patience
"""  # noqa: S608
_RELEASE_HOSTS = text("""
    WITH held AS (SELECT host FROM curator.host_turns WHERE host = ANY(:hosts) ORDER BY host FOR UPDATE)
    UPDATE curator.host_turns AS t SET busy_until = NULL FROM held WHERE t.host = held.host
""").bindparams(bindparam("hosts", type_=ARRAY(Text)))
_RENEW_ENTRIES = text("""
    UPDATE curator.entries SET lease_until = now() + :lease WHERE id = ANY(:ids) AND lease_owner = :owner
""").bindparams(bindparam("ids", type_=ARRAY(BigInteger)), bindparam("lease", type_=Interval))
_TYPES = (
    bindparam("feed_id", type_=BigInteger),
    bindparam("domains", type_=ARRAY(Text)),
    bindparam("delays", type_=ARRAY(Interval)),
    bindparam("delay", type_=Interval),
)
_CLAIM_ENTRIES = text(_CLAIM_SQL).bindparams(*_TYPES, bindparam("lease", type_=Interval))
_FIND_NEXT = text(_NEXT_ENTRY).bindparams(*_TYPES, bindparam("patience", type_=Interval))


class SqlFetchQueue(SqlStore):
    """`paces` are the delays of domains that want another one than the rest."""

    def __init__(self, database: Database, paces: Mapping[str, timedelta] | None = None) -> None:
        super().__init__(database)
        self._paces = dict(paces or {})

    async def claim(self, lease: Lease, scope: FetchScope, limit: int, *, suspects: bool) -> Sequence[ClaimedEntry]:
        values = self._values(scope) | lease.values | {"limit": limit, "suspects": suspects}
        async with self._database.unit_of_work() as work:
            rows = (await work.session.execute(_CLAIM_ENTRIES, values)).tuples().all()
        return [
            ClaimedEntry(
                source=EntrySource(
                    entry_id=entry_id,
                    feed_id=feed_id,
                    url=url,
                    feed_html=feed_html,
                    rules=load_rules(rules),
                    full_text=full_text
                    and not is_video(url)
                    and url not in {enclosure["url"] for enclosure in enclosures},
                    title=title,
                    tries=tries,
                ),
                turn=turn,
                begun=begun,
            )
            for entry_id, feed_id, url, feed_html, rules, full_text, enclosures, title, tries, begun, turn in rows
        ]

    async def find_next(self, lease: Lease, scope: FetchScope, patience: timedelta) -> NextTurn:
        values = self._values(scope) | {"work": lease.values["work"], "owner": lease.owner, "patience": patience}
        async with self._database.unit_of_work() as work:
            waiting, at = (await work.session.execute(_FIND_NEXT, values)).tuples().one()
        return NextTurn(waiting, at)

    async def renew(self, lease: Lease, entry_ids: Sequence[int]) -> None:
        async with self._database.unit_of_work() as work:
            await work.session.execute(
                _RENEW_ENTRIES, {"ids": list(entry_ids), "owner": lease.owner, "lease": lease.length}
            )

    async def record(self, lease: Lease, fetched: Sequence[FetchedEntry]) -> Sequence[int]:
        results = {one.entry_id: one for one in fetched}
        statement = (
            select(EntryRow, EntryBodyRow)
            .join(EntryBodyRow, EntryBodyRow.entry_id == EntryRow.id)
            .where(EntryRow.id.in_(results), EntryRow.lease_owner == lease.owner)
            .order_by(EntryRow.id)
            .with_for_update()
        )
        recorded: list[int] = []
        async with self._database.unit_of_work() as work:
            for entry, body in (await work.session.execute(statement)).tuples():
                one = results[entry.id]
                if one.article is not None:
                    put_article(entry, body, one.article, one.at, from_feed=one.from_feed)
                else:
                    put_failure(entry, one.reason, one.next_try)
                entry.lease_owner, entry.lease_until, entry.lease_tries = None, None, 0
                recorded.append(entry.id)
                announce(work, entry)
            await work.session.flush()
            if recorded:
                await refresh_shown_hash(work.session, recorded)
            hosts = [one.turn for one in fetched if one.turn]
            if hosts:
                await work.session.execute(_RELEASE_HOSTS, {"hosts": hosts})
        return recorded

    def _values(self, scope: FetchScope) -> dict[str, object]:
        return {
            "feed_id": scope.feed_id,
            "paced": scope.paced,
            "delay": scope.delay,
            "domains": list(self._paces),
            "delays": list(self._paces.values()),
        }


# The lock of the row is the queue: a request at the same moment gets the next slot. Ordered by host, so that two
# workers never wait for each other.
_HOLD_HOSTS = text("""
    INSERT INTO curator.host_turns AS turn (host, next_at)
    SELECT host, :now FROM unnest(:hosts) AS asked (host) ORDER BY host
    ON CONFLICT (host) DO UPDATE SET next_at = turn.next_at
    RETURNING host, next_at
""").bindparams(bindparam("now", type_=DateTime(timezone=True)), bindparam("hosts", type_=ARRAY(Text)))
_TAKE_TURNS = text("""
    UPDATE curator.host_turns AS turn SET next_at = taken.free_at
    FROM unnest(:hosts, :times) AS taken (host, free_at) WHERE turn.host = taken.host
""").bindparams(bindparam("hosts", type_=ARRAY(Text)), bindparam("times", type_=ARRAY(DateTime(timezone=True))))
_PAUSE = text("""
    INSERT INTO curator.host_turns AS turn (host, next_at) VALUES (:host, :until)
    ON CONFLICT (host) DO UPDATE SET next_at = greatest(turn.next_at, excluded.next_at)
""")


@dataclass(frozen=True, eq=False)
class _Request:
    host: str
    wanted: TurnRequest
    now: datetime
    slot: "asyncio.Future[datetime]"


class SqlHostRateLimits:
    """Requests of one process at the same time are one statement: a page of feeds costs one, not a hundred."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._waiting: list[_Request] = []
        self._worker: asyncio.Task[None] | None = None

    async def reserve(self, host: str, delay: timedelta, now: datetime, longest: timedelta = LONGEST_WAIT) -> datetime:
        request = _Request(host, TurnRequest(delay, now + longest), now, asyncio.get_running_loop().create_future())
        self._waiting.append(request)
        if self._worker is None or self._worker.done():
            self._worker = asyncio.create_task(self._serve_all())
        return await request.slot

    async def pause(self, host: str, until: datetime) -> None:
        async with self._database.unit_of_work() as work:
            await work.session.execute(_PAUSE, {"host": host, "until": until})

    async def _serve_all(self) -> None:
        """Serve requests until none waits; those that come during a statement are the next batch."""
        while self._waiting:
            batch, self._waiting = self._waiting, []
            try:
                slots = await self._reserve_batch(batch)
            # Every error is handed to the requests that wait: nobody else awaits this task.
            except BaseException as error:
                _fail(batch if isinstance(error, Exception) else batch + self._waiting, error)
                if not isinstance(error, Exception):
                    raise
                continue
            for request, slot in zip(batch, slots, strict=True):
                if not request.slot.done():
                    request.slot.set_result(slot)

    async def _reserve_batch(self, batch: Sequence[_Request]) -> Sequence[datetime]:
        now = max(request.now for request in batch)
        by_host: dict[str, list[_Request]] = defaultdict(list)
        for request in batch:
            by_host[request.host].append(request)
        slots: dict[_Request, datetime] = {}
        free: dict[str, datetime] = {}
        async with self._database.unit_of_work() as work:
            rows = await work.session.execute(_HOLD_HOSTS, {"now": now, "hosts": list(by_host)})
            for host, free_at in rows.tuples():
                requests = by_host[host]
                times, free_then = hand_out([request.wanted for request in requests], free_at, now)
                slots |= dict(zip(requests, times, strict=True))
                if free_then is not None:
                    free[host] = free_then
            if free:
                await work.session.execute(_TAKE_TURNS, {"hosts": list(free), "times": list(free.values())})
        return [slots[request] for request in batch]


def _fail(requests: Sequence[_Request], error: BaseException) -> None:
    for request in requests:
        if request.slot.done():
            continue
        if isinstance(error, Exception):
            request.slot.set_exception(error)
        else:
            request.slot.cancel()
