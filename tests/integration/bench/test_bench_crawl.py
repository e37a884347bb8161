"""`pressbox bench crawl`, small."""

import pytest

from pressbox.bench.crawl import Scale, run_crawl
from pressbox.bench.feed_host import write_feed
from pressbox.curator.feeds.parser import parse_feed


def test_a_new_version_of_a_measured_feed_has_one_new_entry() -> None:
    old, new = (parse_feed(write_feed(7, version, 20), "", "http://feed7.example/") for version in (0, 1))
    assert len(old.entries) == len(new.entries) == 20
    assert len({entry.guid for entry in new.entries} - {entry.guid for entry in old.entries}) == 1


@pytest.mark.slow
def test_every_feed_is_asked_and_only_the_changed_ones_bring_news() -> None:
    report = run_crawl(lambda _: None, Scale(feeds=41, sampled=2, delay=0.001))
    figures = {figure.name: figure for figure in report.figures}
    assert figures["unconditional requests after the first round"].value == 0
    assert figures["new entries missed"].value == 0
    assert figures["41 feeds, one in 20 changed"].note == "3 new entries"
    assert figures["41 unchanged feeds"].peer
