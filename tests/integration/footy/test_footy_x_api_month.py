"""X's API bills every post: the posts of a month are limited for all processes together."""

import asyncio
import json
from datetime import UTC, datetime, timedelta

import pytest

from pressbox.core.db.database import Database
from pressbox.core.errors import RateLimitedError
from pressbox.core.health import HealthState
from pressbox.core.spending.ledger import SqlLedger
from pressbox.core.spending.till import Till
from pressbox.footy.adapters.sources.x_api import NAME, XApiSource
from pressbox.footy.ports.outside import SearchRequest
from pressbox.footy.web.health import month_part
from tests.fakes.recorded_http import Recorded, client_of
from tests.fakes.spending import PLENTY

NOW = datetime(2026, 12, 31, 23, 0, tzinfo=UTC)
POSTS = [{"id": str(number), "text": "Wirtz", "created_at": NOW.isoformat()} for number in range(10)]
PAGE = Recorded("ten posts", "", 200, json.dumps({"data": POSTS, "meta": {"result_count": 10}}).encode())


class Process:
    """What one worker process has of its own."""

    def __init__(self, database: Database, limit: int) -> None:
        self.now = NOW
        self.asked = 0
        self.ledger = SqlLedger(database)
        till = Till(self.ledger, PLENTY, lambda: self.now)
        self.source = XApiSource(
            client_of(self._answer), "t", "https://api.x.com", till, posts_per_month=limit, clock=lambda: self.now
        )

    def _answer(self, _: str) -> Recorded:
        self.asked += 1
        return PAGE

    async def search(self, query: str) -> bool:
        """Whether it was allowed to."""
        try:
            await self.source.search(SearchRequest(query, ("Wirtz",), (), 10, timedelta(minutes=3)))
        except RateLimitedError:
            return False
        return True


async def test_two_processes_share_the_posts_of_a_month(database: Database) -> None:
    one, other = Process(database, 45), Process(database, 45)
    allowed = await asyncio.gather(
        *(process.search(f"goal {number}") for number in range(6) for process in (one, other))
    )
    # Each search may bring ten posts, so the fifth would go beyond the limit.
    assert (sum(allowed), one.asked + other.asked) == (4, 4)
    assert await one.ledger.posts_this_month(NAME, NOW) == 40


async def test_a_new_month_has_new_posts_and_the_refusal_says_when(database: Database) -> None:
    process = Process(database, 10)
    assert await process.search("a goal")
    with pytest.raises(
        RateLimitedError, match=r"x-api: the 10 posts of this month are used up; .* 2027-01-01 00:00 UTC"
    ):
        await process.source.search(SearchRequest("another", ("Wirtz",), (), 10, timedelta(minutes=3)))
    process.now = NOW + timedelta(hours=2)
    assert await process.search("a goal of the new year")


def test_the_page_says_how_many_posts_are_used() -> None:
    part = month_part(1_240, 10_000, 0.005)
    assert (part.state, part.detail) == (
        HealthState.OK,
        "1,240 of 10,000 posts of this month are used, 6.20 at 0.005 each.",
    )
    over = month_part(9_995, 10_000, 0.0)
    assert over.state is HealthState.WARNING
    assert "not searched any more" in over.detail
    assert "PRESSBOX_FOOTY_X_API_POSTS_PER_MONTH" in over.fix
