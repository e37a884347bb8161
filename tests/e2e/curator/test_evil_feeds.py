"""Every feed that misbehaves has a defined, visible outcome, and no other feed notices. All of them at once."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from temporalio.client import Client

from pressbox.core.config import HttpSettings, Settings
from pressbox.core.db.database import Database
from pressbox.curator.library.domain import CrawlOutcome
from pressbox.curator.settings import CuratorSettings
from pressbox.demo.simulators.news_evil import RETRY_SECONDS, SCRIPT, Evil, EvilPage
from pressbox.demo.simulators.news_pages import CHROME
from pressbox.demo.simulators.news_site import PUBLICATIONS, NewsSite
from tests.conftest import TEST_KEY
from tests.patience import patience
from tests.reading_room import ReadingRoom, open_room, reading_resources, working

# Longer than any good answer takes on a busy machine; the silent one is waited for.
PATIENCE_SECONDS = patience(15)


@dataclass(frozen=True)
class Told:
    """What is stored and shown of a feed: its outcome, words of the reason, the status, how many entries it brought."""

    outcome: CrawlOutcome
    reason: str = ""
    status: int | None = None
    entries: int = 0


def arrived(entries: int, problem: str = "") -> Told:
    return Told(CrawlOutcome.NEW, problem, 200, entries)


EXPECTED: Mapping[Evil, Told] = {
    Evil.NOT_MODIFIED: arrived(2),
    Evil.ALWAYS_NOT_MODIFIED: Told(CrawlOutcome.SERVER_ERROR, "makes no sense", 304),
    Evil.MOVED: arrived(2),
    Evil.MOVED_FOR_NOW: arrived(2),
    Evil.LOOP: Told(CrawlOutcome.UNREACHABLE, "redirects"),
    Evil.GONE: Told(CrawlOutcome.GONE, "gone for good", 410),
    Evil.NOT_FOUND: Told(CrawlOutcome.NOT_FOUND, "no feed at this address", 404),
    Evil.FORBIDDEN: Told(CrawlOutcome.REFUSED, "refuses", 403),
    Evil.BUSY: Told(CrawlOutcome.RATE_LIMITED, "come back later", 429),
    Evil.UNAVAILABLE: Told(CrawlOutcome.SERVER_ERROR, "fault of its own", 503),
    Evil.FAILING: Told(CrawlOutcome.SERVER_ERROR, "fault of its own", 500),
    Evil.LOGIN: Told(CrawlOutcome.REFUSED, "sign in", 200),
    Evil.HUGE: Told(CrawlOutcome.TOO_LARGE, "larger than"),
    Evil.BOMB: Told(CrawlOutcome.TOO_LARGE, "larger than"),
    Evil.PRIVATE: Told(CrawlOutcome.REFUSED_ADDRESS, "127.0.0.1 is not on the public internet"),
    Evil.METADATA: Told(CrawlOutcome.REFUSED_ADDRESS, "169.254.169.254 is not on the public internet"),
    Evil.INVALID_XML: arrived(2, "repaired"),
    Evil.NOT_A_FEED: Told(CrawlOutcome.NOT_A_FEED, "neither RSS nor Atom", 200),
    Evil.EMPTY: Told(CrawlOutcome.NOT_A_FEED, "empty", 200),
    Evil.NO_ENTRIES: arrived(0),
    Evil.CHARSET: arrived(1, "not UTF-8"),
    Evil.BARE: arrived(5, "without a link"),
    Evil.TWICE: arrived(2, "guid of another one"),
    Evil.DATES: arrived(2, "count as undated"),
    Evil.SCRIPTS: arrived(2),
    Evil.SILENT: Told(CrawlOutcome.UNREACHABLE, "did not answer"),
    Evil.TRUNCATED: Told(CrawlOutcome.UNREACHABLE, "broke off"),
    Evil.BROKEN_PAGES: arrived(7),
}
GOOD = ("harbour", "workshop", "umland", "yokocho", "digest", "videos")


def test_every_evil_feed_has_an_expected_outcome() -> None:
    assert set(EXPECTED) == set(Evil)


class Press:
    """Good papers on one host, evil ones on another, and those that ask for a pause on hosts of their own."""

    def __init__(self) -> None:
        self.good = NewsSite()
        self.evil = NewsSite(host="127.0.0.2")
        self.busy = NewsSite(host="127.0.0.3")
        self.unavailable = NewsSite(host="127.0.0.4")

    @property
    def sites(self) -> tuple[NewsSite, ...]:
        return self.good, self.evil, self.busy, self.unavailable

    def evil_url(self, name: Evil) -> str:
        return {Evil.BUSY: self.busy, Evil.UNAVAILABLE: self.unavailable}.get(name, self.evil).evil_url(name)

    @property
    def new_home(self) -> str:
        return f"{self.evil.url}/evil/new-home"

    def urls(self) -> list[str]:
        return [*(self.good.feed_url(name) for name in GOOD), *(self.evil_url(name) for name in Evil)]


@pytest.mark.slow
@pytest.mark.limit(900)
async def test_each_evil_feed_has_a_defined_visible_outcome_and_no_other_feed_notices(
    database: Database, temporal: Client, tmp_path: Path
) -> None:
    press = Press()
    good, evil, busy, unavailable = press.sites
    async with good, evil, busy, unavailable:
        settings = Settings(
            home=tmp_path,
            secret_key=TEST_KEY,
            http=HttpSettings(
                allow=tuple(site.url.removeprefix("http://") for site in press.sites), timeout_seconds=PATIENCE_SECONDS
            ),
            applications=(CuratorSettings(host_delay_seconds=0.01),),
        )
        async with reading_resources(settings, database, temporal) as resources:
            room = await open_room(resources)
            ids = await room.subscribe(press.urls())
            began = datetime.now(UTC)
            async with working(resources):
                await room.ingest()
                ids = await follow_the_move(room, press, ids)
                await judge_outcomes(room, press, ids, began)
                await judge_entries(room, press, ids)
                await judge_good_feeds(room, press, ids)
                # Once is enough to wait for who never answers.
                await room.pause(ids[press.evil_url(Evil.SILENT)])
                await room.ingest()
            await judge_second_round(room, press, ids)


async def follow_the_move(room: ReadingRoom, press: Press, ids: Mapping[str, int]) -> dict[str, int]:
    """The reader of the feed that moved for good is found in its new home. Nothing was left in the old one."""
    homes = {row.url: row.id for row in await room.feeds()}
    moved = press.evil_url(Evil.MOVED)
    assert homes.keys() == (ids.keys() - {moved}) | {press.new_home}
    assert homes[press.new_home] != ids[moved], "the feed of another address is another feed"
    return {**ids, moved: homes[press.new_home]}


async def judge_outcomes(room: ReadingRoom, press: Press, ids: Mapping[str, int], began: datetime) -> None:
    by_id = {row.id: row for row in await room.feeds()}
    found = {name: by_id[ids[press.evil_url(name)]] for name in Evil}
    assert {name: row.outcome for name, row in found.items()} == {
        name: told.outcome.value for name, told in EXPECTED.items()
    }
    for name, told in EXPECTED.items():
        row = found[name]
        assert bool(row.reason) == bool(told.reason), (name, row.reason)
        assert told.reason in row.reason, (name, row.reason)
        assert row.status == told.status, name
        assert row.errors == (1 if told.outcome.failed else 0), name
        assert (row.next_crawl_at is None) == (told.outcome is CrawlOutcome.GONE), name
    asked_for = began + timedelta(seconds=RETRY_SECONDS)
    assert found[Evil.BUSY].next_crawl_at >= asked_for
    assert found[Evil.UNAVAILABLE].next_crawl_at >= asked_for - timedelta(seconds=2)
    assert found[Evil.MOVED].url == press.new_home
    assert found[Evil.MOVED_FOR_NOW].url == press.evil_url(Evil.MOVED_FOR_NOW)


async def judge_entries(room: ReadingRoom, press: Press, ids: Mapping[str, int]) -> None:
    entries = await room.entries()
    by_name: dict[Evil, list[Any]] = {
        name: [row for row in entries if row.feed_id == ids[press.evil_url(name)]] for name in Evil
    }
    assert {name: len(rows) for name, rows in by_name.items()} == {
        name: told.entries for name, told in EXPECTED.items()
    }
    assert {row.fetch_state for row in by_name[Evil.MOVED]} == {"fetched"}
    (charset,) = by_name[Evil.CHARSET]
    assert charset.title == "Größenwahn im Café"
    bare = {row.title: row for row in by_name[Evil.BARE]}
    assert [row.dated for _, row in sorted(bare.items())] == [True, False, True, True, False]
    assert all(row.published_at == row.first_seen_at for row in bare.values() if not row.dated)
    assert bare["Bare story 4"].fetch_state == "from feed"
    assert [row.title for row in by_name[Evil.TWICE]].count("Twice story 2") == 1
    # Nobody published in 1970, or in 2099: both have the time at which they were seen.
    assert all(not row.dated and row.published_at == row.first_seen_at for row in by_name[Evil.DATES])
    scripts = " ".join(f"{row.full_content} {row.feed_content} {row.summary}" for row in by_name[Evil.SCRIPTS])
    assert "Harmless words." in scripts
    assert SCRIPT not in scripts
    assert not any(evil in scripts for evil in ("<script", "onclick", "onerror", "javascript:", "<iframe", "<form"))
    judge_broken_pages({row.guid.removeprefix("page-"): row for row in by_name[Evil.BROKEN_PAGES]})


def judge_broken_pages(pages: Mapping[str, Any]) -> None:
    assert pages[EvilPage.GOOD.value].fetch_state == "fetched"
    # A page to sign in is no article: the feed's own words stand until there is one.
    assert "sign-in" in pages[EvilPage.LOGIN.value].fetch_reason
    for kind in sorted(set(EvilPage) - {EvilPage.GOOD}):
        row = pages[kind.value]
        assert row.fetch_state in ("waiting", "failed"), (kind, row.fetch_state)
        assert row.fetch_reason, kind


async def judge_good_feeds(room: ReadingRoom, press: Press, ids: Mapping[str, int]) -> None:
    """As if nothing had happened: all articles in full, summarised, searchable, the same in two feeds once."""
    by_id = {row.id: row for row in await room.feeds()}
    entries = await room.entries()
    stories: dict[str, set[int]] = {}
    for name in GOOD:
        feed_id = ids[press.good.feed_url(name)]
        assert (by_id[feed_id].outcome, by_id[feed_id].reason) == ("new", ""), name
        own = [row for row in entries if row.feed_id == feed_id]
        if name == "videos":
            assert {row.fetch_state for row in own} == {"skipped"}
            continue
        articles = {article.title: article for article in press.good.published(name)}
        assert {row.title for row in own} == set(articles)
        for row in own:
            assert row.fetch_state in ("fetched", "from feed"), (name, row.title, row.fetch_reason)
            assert row.distil_state == "distilled", (name, row.title)
            assert row.summary
            assert row.indexed
            assert row.embedded
            assert not any(sentence in row.full_content for sentence in CHROME), (name, row.title)
            stories.setdefault(row.title, set()).add(row.story_id)
    assert PUBLICATIONS.keys() == set(GOOD)
    assert all(len(found) == 1 for found in stories.values()), "an article in two feeds is one story"


async def judge_second_round(room: ReadingRoom, press: Press, ids: Mapping[str, int]) -> None:
    """Nothing new anywhere: whoever can be asked conditionally is, and nothing is stored twice."""
    by_id = {row.id: row for row in await room.feeds()}
    for url in (press.evil_url(Evil.NOT_MODIFIED), *(press.good.feed_url(name) for name in GOOD)):
        assert by_id[ids[url]].outcome == "unchanged", url
    for name in GOOD:
        first, *later = press.good.asked_for(press.good.feed_url(name).removeprefix(press.good.url))
        assert not first.conditional
        assert later
        assert all(one.conditional and one.status == 304 for one in later)
    # Who moved for good is asked at the new address alone; who moved for now is asked at both.
    assert len(press.evil.asked_for(f"/evil/{Evil.MOVED.value}")) == 1
    assert len(press.evil.asked_for(f"/evil/{Evil.MOVED_FOR_NOW.value}")) == 2
    assert len(press.evil.asked_for("/evil/new-home")) == 4
    # 410 means never again, until somebody says so.
    assert len(press.evil.asked_for(f"/evil/{Evil.GONE.value}")) == 1
    assert by_id[ids[press.evil_url(Evil.FAILING)]].failures == 2
    assert by_id[ids[press.evil_url(Evil.FAILING)]].errors == 2
    assert len(await room.entries()) == sum(told.entries for told in EXPECTED.values()) + sum(
        2 if name == "videos" else len(press.good.published(name)) for name in GOOD
    )
