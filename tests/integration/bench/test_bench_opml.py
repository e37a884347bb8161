"""`pressbox bench opml` on a few feeds: that it measures what it says, not how fast."""

from pathlib import Path

import pytest

from pressbox.bench.feed_host import write_feed
from pressbox.bench.opml import run_opml


@pytest.mark.slow
@pytest.mark.limit(900)
def test_every_feed_of_the_file_is_shown_and_read_or_says_why_not(tmp_path: Path) -> None:
    (tmp_path / "1").write_bytes(write_feed(1, 0, 25))
    (tmp_path / "2").write_bytes(write_feed(2, 0, 4))
    (tmp_path / "3").write_bytes(b"<html><body>No feed at all.</body></html>")
    report = run_opml(lambda _: None, tmp_path, feeds=6)
    figures = {figure.name: figure.value for figure in report.figures}
    assert figures["feeds shown"] == 6
    assert figures["feeds that say why they cannot be read"] == 2
    # Ten of twenty-five, and all four, of two feeds each.
    assert figures["unread"] == 2 * 10 + 2 * 4
    assert 0 < figures["import answered"] < figures["first article to read"] <= figures["all 6 feeds read"]
