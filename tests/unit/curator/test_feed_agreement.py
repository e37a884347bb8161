"""On real feeds where they are at hand, and on those of the demo's newspapers, we read what feedparser reads."""

import html
import io
import re
from calendar import timegm
from datetime import UTC, datetime

import feedparser  # type: ignore[import-untyped]
import pytest

from pressbox.curator.feeds.parser import parse_feed
from pressbox.demo.news.library import articles
from pressbox.demo.simulators.news_feeds import Channel, Form, Item, write_feed
from tests.shared_data import shared

URL = "https://example.org/feed"
EARLIEST = datetime(1990, 1, 1, tzinfo=UTC).timestamp()


def feeds() -> dict[str, bytes]:
    folder = shared("feeds")
    real = {path.name: path.read_bytes() for path in sorted(folder.iterdir())} if folder else {}
    assert len(real) in (0, 30)
    items = [
        Item(
            title=one.title,
            guid=one.slug,
            url=f"https://example.org/{one.slug}",
            author=one.author,
            published_at=datetime(2026, 1, place + 1, 8, 30, tzinfo=UTC),
            summary=one.summary,
            content=one.html,
        )
        for place, one in enumerate(articles())
    ]
    channel = Channel("The Town Paper & its Supplement", "https://example.org/", "en", "All that happens.")
    return real | {form.value: write_feed(form, channel, items) for form in (Form.RSS, Form.ATOM)}


def words(text: str) -> str:
    return re.sub(r"\W+", "", html.unescape(re.sub(r"<[^>]*>", "", text)))


@pytest.mark.parametrize("content", [pytest.param(content, id=name) for name, content in feeds().items()])
def test_a_feed_has_the_same_entries_links_titles_dates_and_enclosures(content: bytes) -> None:
    ours = parse_feed(content, "", URL)
    theirs = feedparser.parse(io.BytesIO(content), response_headers={"content-location": URL}, sanitize_html=False)
    assert words(ours.title) == words(theirs.feed.title)
    assert len(ours.entries) == len(theirs.entries)
    assert ours.entries
    for entry, other in zip(ours.entries, theirs.entries, strict=True):
        assert entry.url == other.get("link", "")
        assert words(entry.title) == words(other.get("title", "")) or not other.get("title")
        assert [file.url for file in entry.enclosures] == [file.href for file in other.get("enclosures", [])]
        date = timegm(other.published_parsed or other.updated_parsed) if "published" in other else None
        if date is not None and date > EARLIEST and entry.published_at is not None:
            assert entry.published_at.timestamp() == date
