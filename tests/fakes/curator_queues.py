"""The curator's queues in memory: rows of the small world that wait, and whom they are leased to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from pressbox.core.clock import utc_now
from pressbox.curator.distil.activities import ClaimedText, DistilScope
from pressbox.curator.feeds.domain import FeedToCrawl, Validators
from pressbox.curator.ingest.ports import ClaimedEntry, EntrySource, FetchedEntry, FetchScope, SuspectFeed
from pressbox.curator.library.contracts import EntryProgressState
from pressbox.curator.library.domain import Distilled, DistilState, FetchState, ToDistil
from pressbox.curator.library.leases import Lease, NextTurn, was_alone
from pressbox.curator.library.urls import host_of

if TYPE_CHECKING:
    from tests.fakes.curator import FakeEntry, FakeFeed, FakeWorld


class Leases:
    """Who has what; nothing lapses, as no test here waits so long."""

    def __init__(self) -> None:
        self.owners: dict[int, str] = {}
        self.begun: dict[int, int] = {}

    def take(self, lease: Lease, key: int) -> int:
        self.owners[key] = lease.owner
        self.begun[key] = self.begun.get(key, 0) + 1
        return self.begun[key]

    def is_free(self, lease: Lease, key: int) -> bool:
        owner = self.owners.get(key)
        return owner is None or (owner.startswith(f"{lease.work}/") and owner < lease.owner)

    def end(self, key: int) -> None:
        self.owners.pop(key, None)
        self.begun.pop(key, None)


class FakeCrawlQueue:
    def __init__(self, world: FakeWorld) -> None:
        self._world = world
        self.leases = Leases()
        self.postponed: dict[int, datetime] = {}

    def due(self, lease: Lease) -> list[FakeFeed]:
        return [feed for feed in self._world.feeds.values() if feed.due and self.leases.is_free(lease, feed.feed_id)]

    async def claim(self, lease: Lease, limit: int) -> Sequence[FeedToCrawl]:
        claimed = [feed for feed in self.due(lease) if feed.feed_id not in self.leases.owners][:limit]
        for feed in claimed:
            self.leases.take(lease, feed.feed_id)
        return [FeedToCrawl(feed.feed_id, feed.url, Validators()) for feed in claimed]

    async def claim_suspect(self, lease: Lease) -> SuspectFeed | None:
        left = (feed for feed in self.due(lease) if feed.feed_id in self.leases.owners)
        feed = next(left, None)
        if feed is None:
            return None
        killed, alone = was_alone(self.leases.owners[feed.feed_id]), replace(lease, alone=True)
        self.leases.take(alone, feed.feed_id)
        return SuspectFeed(FeedToCrawl(feed.feed_id, feed.url, Validators()), killed, alone)

    async def find_next(self, lease: Lease, patience: timedelta) -> NextTurn:
        soon = [at for at in self.postponed.values() if at <= utc_now() + patience]
        return NextTurn(len(self.due(lease)) + len(soon), utc_now())

    async def make_all_due(self) -> None:
        for feed in self._world.feeds.values():
            feed.due = True

    async def renew(self, lease: Lease, feed_ids: Sequence[int]) -> None: ...

    async def release(self, lease: Lease, feed_ids: Sequence[int], postponed: Mapping[int, datetime]) -> None:
        self.postponed.update(postponed)
        for feed_id in feed_ids:
            if feed_id in postponed:
                self._world.feeds[feed_id].due = False
            self.leases.end(feed_id)


class FakeFetchQueue:
    def __init__(self, world: FakeWorld) -> None:
        self._world = world
        self.leases = Leases()

    def _waiting(self, lease: Lease, scope: FetchScope) -> list[FakeEntry]:
        feeds = [scope.feed_id] if scope.feed_id is not None else list(self._world.feeds)
        found = [entry for feed_id in feeds for entry in self._world.waiting(feed_id)]
        return [entry for entry in found if self.leases.is_free(lease, entry.entry_id)]

    async def claim(self, lease: Lease, scope: FetchScope, limit: int, *, suspects: bool) -> Sequence[ClaimedEntry]:
        entries = [
            entry
            for entry in self._waiting(lease, scope)
            if (self.leases.begun.get(entry.entry_id, 0) > 0) == suspects
            and self._world.rate_limits.paused.get(host_of(entry.url), utc_now()) <= utc_now()
        ][:limit]
        return [
            ClaimedEntry(
                EntrySource(
                    entry.entry_id,
                    entry.feed_id,
                    entry.url,
                    "",
                    (),
                    self._world.feeds[entry.feed_id].full_text,
                    entry.title,
                    entry.tries,
                ),
                begun=self.leases.take(lease, entry.entry_id),
            )
            for entry in entries
        ]

    async def find_next(self, lease: Lease, scope: FetchScope, patience: timedelta) -> NextTurn:
        soon = utc_now() + patience
        pauses = self._world.rate_limits.paused
        waiting = [entry for entry in self._waiting(lease, scope) if pauses.get(host_of(entry.url), soon) <= soon]
        return NextTurn(len(waiting), utc_now() if waiting else None)

    async def renew(self, lease: Lease, entry_ids: Sequence[int]) -> None: ...

    async def record(self, lease: Lease, fetched: Sequence[FetchedEntry]) -> Sequence[int]:
        recorded = [one for one in fetched if self.leases.owners.get(one.entry_id) == lease.owner]
        for one in recorded:
            if one.article is not None:
                store = self._world.entry_store
                await store.save_article(one.entry_id, one.article, one.at, from_feed=one.from_feed)
            else:
                await self._world.entry_store.record_failure(one.entry_id, one.reason, one.next_try, one.at)
            self.leases.end(one.entry_id)
        return [one.entry_id for one in recorded]


class FakeDistilQueue:
    def __init__(self, world: FakeWorld) -> None:
        self._world = world
        self.leases = Leases()

    def _waiting(self, lease: Lease, scope: DistilScope) -> list[FakeEntry]:
        return [
            entry
            for entry in self._world.entries.values()
            if entry.distil_state is DistilState.WAITING
            and (not scope.entry_ids or entry.entry_id in scope.entry_ids)
            and scope.feed_id in (None, entry.feed_id)
            and self.leases.is_free(lease, entry.entry_id)
        ]

    async def claim(self, lease: Lease, scope: DistilScope, limit: int, *, suspects: bool) -> Sequence[ClaimedText]:
        ready = [
            entry
            for entry in self._waiting(lease, scope)
            if entry.fetch_state is not FetchState.WAITING
            and (self.leases.begun.get(entry.entry_id, 0) > 0) == suspects
        ]
        return [
            ClaimedText(
                ToDistil(entry.entry_id, entry.title, entry.text, "en", entry.content_hash),
                self.leases.take(lease, entry.entry_id),
            )
            for entry in ready[:limit]
        ]

    async def find_next(self, lease: Lease, scope: DistilScope) -> NextTurn:
        waiting = self._waiting(lease, scope)
        ready = [entry for entry in waiting if entry.fetch_state is not FetchState.WAITING]
        due = [entry for entry in waiting if entry.next_fetch_at is None or entry.next_fetch_at <= utc_now()]
        return NextTurn(len(ready), coming=sum(entry.fetch_state is FetchState.WAITING for entry in due))

    async def renew(self, lease: Lease, entry_ids: Sequence[int]) -> None: ...

    async def release(self, lease: Lease, entry_ids: Sequence[int]) -> None:
        for entry_id in entry_ids:
            if self.leases.owners.get(entry_id) == lease.owner:
                self.leases.end(entry_id)

    async def record(
        self, lease: Lease, distilled: Sequence[Distilled], failed: Sequence[EntryProgressState], now: datetime
    ) -> Sequence[int]:
        ours = [answer for answer in distilled if self.leases.owners.get(answer.entry_id) == lease.owner]
        saved = await self._world.entry_store.save_distilled(ours, now)
        for entry in failed:
            if self.leases.owners.get(entry.entry_id) == lease.owner:
                await self._world.entry_store.note_distil_failure(entry.entry_id, entry.error, now)
        for entry_id in (*(answer.entry_id for answer in ours), *(entry.entry_id for entry in failed)):
            self.leases.end(entry_id)
        return saved
