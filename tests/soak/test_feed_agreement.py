"""On real feeds, which only some machines have, we read what feedparser reads."""

import html
import io
import re
from calendar import timegm
from datetime import UTC, datetime
from pathlib import Path

import feedparser  # type: ignore[import-untyped]
import pytest

from pressbox.curator.feeds.parser import parse_feed

# Their contents belong to their publishers, so they are not part of the repository.
FEEDS = Path(__file__).parents[3] / "shared" / "data" / "feeds"
URL = "https://example.org/feed"
EARLIEST = datetime(1990, 1, 1, tzinfo=UTC).timestamp()

pytestmark = pytest.mark.skipif(not FEEDS.is_dir(), reason="the real feeds are not on this machine")


def words(text: str) -> str:
    return re.sub(r"\W+", "", html.unescape(re.sub(r"<[^>]*>", "", text)))


def test_real_feeds_have_the_same_entries_links_titles_dates_and_enclosures() -> None:
    compared = 0
    for path in sorted(FEEDS.iterdir()):
        content = path.read_bytes()
        ours = parse_feed(content, "", URL)
        theirs = feedparser.parse(io.BytesIO(content), response_headers={"content-location": URL}, sanitize_html=False)
        assert words(ours.title) == words(theirs.feed.title)
        assert len(ours.entries) == len(theirs.entries)
        for entry, other in zip(ours.entries, theirs.entries, strict=True):
            assert entry.url == other.get("link", "")
            assert words(entry.title) == words(other.get("title", "")) or not other.get("title")
            assert [file.url for file in entry.enclosures] == [file.href for file in other.get("enclosures", [])]
            date = timegm(other.published_parsed or other.updated_parsed) if "published" in other else None
            if date is not None and date > EARLIEST and entry.published_at is not None:
                assert entry.published_at.timestamp() == date
            compared += 1
    assert compared > 500
