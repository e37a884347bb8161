"""Sources and articles as the stores leave them: rows and the notes that wake browsers, without any worker."""

import hashlib
import itertools
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from sqlalchemy import delete, update

from pressbox.core.app import Resources
from pressbox.core.spending.rows import PaidRequestRow
from pressbox.curator.library.domain import ENTRY_CHANGED, FEED_CHANGED, PERSON_CHANGED, DistilState, FetchState
from pressbox.curator.library.rows import (
    CategoryRow,
    EntryBodyRow,
    EntryEmbeddingRow,
    EntryRow,
    FeedErrorRow,
    FeedRow,
    FeedStateRow,
    LabelRow,
    StoryRow,
    SubscriptionRow,
)

# What publishers write, all of it in one article.
RICH = """
<p>The ferry to the outer islands left at <a href="https://example.org/timetable">six in the morning</a>, as it has
every day since 1921.<sup><a href="#note-1">1</a></sup> Nobody was on it but the post, two crates of lemons and a dog
that travels alone.</p>
<h2>What it carries</h2>
<figure><img src="data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' width='1200' height='500'%3E%3Crect
width='1200' height='500' fill='%23789'/%3E%3C/svg%3E" alt="The ferry at the pier" width="1200" height="500"
loading="lazy"><figcaption>The ferry at the pier, before the rebuilding.</figcaption></figure>
<table><thead><tr><th>Year</th><th>Passengers</th><th>Parcels</th><th>Lemons, in crates</th><th>Dogs that travelled
alone</th><th>Days without a crossing because of the weather</th><th>Captain</th></tr></thead><tbody><tr><td>2023</td>
<td>12,204</td><td>88,120</td><td>1,400</td><td>1</td><td>17</td><td>example one</td></tr><tr><td>2024</td>
<td>11,870</td><td>91,002</td><td>1,388</td><td>1</td><td>21</td><td>example two</td></tr></tbody></table>
<blockquote><p>You learn to wait. The sea has no timetable.</p></blockquote>
<ol><li>The post goes first.</li><li>Then the lemons, which must not get wet, because wet lemons go soft before they
reach the market.</li></ol>
<pre><code>def crossing(minutes: int, wind: float) -> str:
    return "late" if minutes * wind > 500 else "on time"  # far longer than the page is wide, so that it has to scroll
</code></pre>
<p>The film of the crossing: <a href="https://example.org/watch">a video, four minutes</a>.</p>
<hr>
<p id="note-1">1. With a break from 1940 to 1946. Averylongwordwithoutanybreakthatapublishermightwriteinanaddressorname
wouldnotbreakthepage.</p>
"""


@dataclass
class Newsstand:
    """Plants and changes what the reader shows. Every change tells the browsers, as the stores do."""

    resources: Resources
    user_id: int
    now: datetime = field(default_factory=lambda: datetime.now(UTC))
    _numbers: "itertools.count[int]" = field(default_factory=lambda: itertools.count(1))

    async def clear(self) -> None:
        async with self.resources.database.unit_of_work() as work:
            for row in (FeedRow, CategoryRow, LabelRow, StoryRow, PaidRequestRow):
                await work.session.execute(delete(row))

    async def category(self, name: str) -> int:
        async with self.resources.database.unit_of_work() as work:
            row = CategoryRow(user_id=self.user_id, name=name)
            work.session.add(row)
            await work.session.flush()
            return row.id

    async def feed(self, title: str, *, category_id: int | None = None, state: dict[str, Any] | None = None) -> int:
        number = next(self._numbers)
        address = f"https://example.org/{number}"
        async with self.resources.database.unit_of_work() as work:
            row = FeedRow(url=f"{address}/feed.xml", site_url=address, title=title)
            work.session.add(row)
            await work.session.flush()
            known = {
                "outcome": "new",
                "next_crawl_at": self.now + timedelta(minutes=40),
                "last_crawl_at": self.now - timedelta(minutes=20),
                "last_success_at": self.now - timedelta(minutes=20),
                "last_new_at": self.now - timedelta(hours=3),
            }
            work.session.add(FeedStateRow(feed_id=row.id, **(known | (state or {}))))
            work.session.add(SubscriptionRow(user_id=self.user_id, feed_id=row.id, category_id=category_id))
            work.changed(FEED_CHANGED, str(row.id))
            work.changed(PERSON_CHANGED, str(self.user_id))
            return row.id

    async def subscribe(self, user_id: int, feed_id: int) -> None:
        async with self.resources.database.unit_of_work() as work:
            work.session.add(SubscriptionRow(user_id=user_id, feed_id=feed_id))

    async def failure(self, feed_id: int, outcome: str, reason: str, status: int | None = None) -> None:
        async with self.resources.database.unit_of_work() as work:
            stated = {"outcome": outcome, "reason": reason, "status": status, "failures": 3}
            await work.session.execute(update(FeedStateRow).where(FeedStateRow.feed_id == feed_id).values(**stated))
            error = FeedErrorRow(feed_id=feed_id, at=self.now, outcome=outcome, status=status, reason=reason)
            work.session.add(error)
            work.changed(FEED_CHANGED, str(feed_id))

    async def entry(self, feed_id: int, title: str, body: str = "<p>One line.</p>", **values: Any) -> int:
        """The later planted, the older: lists show them in the order they were planted."""
        number = next(self._numbers)
        url = f"https://example.org/articles/{number}"
        known: dict[str, Any] = {
            "guid": url,
            "url": url,
            "canonical_url": url,
            "title": title,
            "published_at": self.now - timedelta(minutes=10 * number),
            "first_seen_at": self.now,
            "updated_at": self.now,
            "summary": f"What matters in {title}.",
            "words": 640,
            "fetch_state": FetchState.FETCHED.value,
            "distil_state": DistilState.DISTILLED.value,
            "distil_model": "extractive",
            "shown_hash": hashlib.sha256(url.encode()).hexdigest(),
        }
        async with self.resources.database.unit_of_work() as work:
            row = EntryRow(feed_id=feed_id, **(known | values))
            work.session.add(row)
            await work.session.flush()
            work.session.add(EntryBodyRow(entry_id=row.id, full_content=body))
            work.changed(FEED_CHANGED, str(feed_id))
            return row.id

    async def story(self, url: str) -> int:
        async with self.resources.database.unit_of_work() as work:
            row = StoryRow(canonical_url=url)
            work.session.add(row)
            await work.session.flush()
            return row.id

    async def vector(self, entry_id: int, model: str, *values: float) -> None:
        async with self.resources.database.unit_of_work() as work:
            work.session.add(
                EntryEmbeddingRow(entry_id=entry_id, model=model, embedding=list(values), shown_hash="any")
            )

    async def change(self, entry_id: int, **values: Any) -> None:
        async with self.resources.database.unit_of_work() as work:
            changed = update(EntryRow).where(EntryRow.id == entry_id).values(**values).returning(EntryRow.feed_id)
            feed_id = await work.session.scalar(changed)
            work.changed(ENTRY_CHANGED, str(entry_id))
            work.changed(FEED_CHANGED, str(feed_id))

    async def paid(
        self, feed_id: int | None, tokens: int, *, feature: str = "distil", at: datetime | None = None
    ) -> None:
        async with self.resources.database.unit_of_work() as work:
            work.session.add(
                PaidRequestRow(
                    content_hash=str(next(self._numbers)),
                    prompt_version="1",
                    model="example-model",
                    feature=feature,
                    source_id=feed_id,
                    outcome="answered",
                    answer="{}",
                    tokens_in=tokens,
                    tokens_out=tokens // 10,
                    weight=tokens + tokens // 10,
                    cost=tokens / 1_000_000,
                    at=at or self.now,
                )
            )
