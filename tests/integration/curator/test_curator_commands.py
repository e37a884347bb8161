"""`pressbox feeds`, `trigger` and `schedule` against a real database and a real Temporal."""

import asyncio
import json
import re
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import cast

import pytest
from pydantic import SecretStr
from structlog.testing import capture_logs
from temporalio.client import Client, ScheduleActionStartWorkflow
from temporalio.service import RPCError
from typer.testing import CliRunner, Result

from pressbox.core.accounts.models import User
from pressbox.core.accounts.service import AccountService
from pressbox.core.app import Resources, ScheduleDeclaration
from pressbox.core.commands import build_group
from pressbox.core.config import DatabaseSettings, Settings, TemporalSettings
from pressbox.core.errors import InvalidInputError, NotFoundError, TransientError
from pressbox.curator.cleanup.contracts import EntriesCleanupInput
from pressbox.curator.commands import build_commands
from pressbox.curator.feeds.discovery import FeedDiscovery
from pressbox.curator.library.domain import CrawlOutcome
from pressbox.curator.names import CLEANUP_SCHEDULE, INGEST_SCHEDULE
from pressbox.curator.settings import CuratorSettings
from pressbox.entry.wiring import open_resources
from tests.conftest import Parts
from tests.fakes.reader import Library, Web
from tests.fakes.temporal import RecordedTemporal

Run = Callable[..., Result]
OPML = (
    "<opml version='2.0'><body><outline text='Science'>"
    "<outline type='rss' text='One' xmlUrl='https://example.org/1.xml'/>"
    "<outline type='rss' text='Broken'/></outline></body></opml>"
)


@pytest.fixture
def settings(parts: Parts, database_url: str, tmp_path: Path) -> Settings:
    return Settings(
        home=tmp_path,
        secret_key=SecretStr("the instance key of this test"),
        database=DatabaseSettings(url=SecretStr(database_url)),
        temporal=TemporalSettings(address=parts.temporal_address),
    )


@pytest.fixture
def temporal_record() -> RecordedTemporal:
    return RecordedTemporal()


DECLARED_INPUT = EntriesCleanupInput(unread_older_than_days=99, routine=True)


def declared(_: Settings) -> list[ScheduleDeclaration]:
    return [
        ScheduleDeclaration(
            id=schedule_id,
            workflow="Nothing",
            workflow_id=schedule_id,
            task_queue="nobody-polls",
            input=DECLARED_INPUT,
            summary="Does nothing",
            every=timedelta(days=365),
        )
        for schedule_id in (INGEST_SCHEDULE, CLEANUP_SCHEDULE)
    ]


@pytest.fixture
def run(settings: Settings, temporal_record: RecordedTemporal, monkeypatch: pytest.MonkeyPatch) -> Run:
    web = Web()
    monkeypatch.setattr(FeedDiscovery, "discover", lambda _, url, owner: web.discover(url, owner))
    return run_with(settings, temporal_record)


def run_with(settings: Settings, temporal_record: RecordedTemporal) -> Run:
    commands = build_group(build_commands(declared))

    @asynccontextmanager
    async def opened() -> AsyncIterator[Resources]:
        async with open_resources(settings) as resources:
            temporal_record.real = resources.temporal
            yield replace(resources, temporal=temporal_record.client)

    def invoke(*arguments: str, typed: str | None = None) -> Result:
        with capture_logs():
            return CliRunner().invoke(commands, arguments, obj=opened, input=typed)

    return invoke


def add_person(settings: Settings, name: str) -> User:
    async def add() -> User:
        async with open_resources(settings) as resources:
            return await AccountService(resources.database, settings).add_user(
                f"{name}@example.org", "four words in a row"
            )

    return asyncio.run(add())


def crawled(
    settings: Settings, feed_id: int, outcome: CrawlOutcome, reason: str = "", status: int | None = None
) -> None:
    async def crawl() -> None:
        async with open_resources(settings) as resources:
            await Library(resources).crawled(feed_id, outcome, reason, status)

    asyncio.run(crawl())


def test_a_feed_from_its_address_to_its_health(run: Run, settings: Settings, temporal_record: RecordedTemporal) -> None:
    assert isinstance(run("feeds", "add", "https://example.org/feed.xml").exception, InvalidInputError)
    add_person(settings, "anna")
    added = run("feeds", "add", "https://example.org/feed.xml", "--title", "News", "--category", "World", "--json")
    assert added.exit_code == 0, added.exception
    feed = json.loads(added.stdout)
    assert (feed["title"], feed["category"]) == ("News", "World")
    assert temporal_record.ids == [f"ingest-feed-{feed['id']}"]
    assert "https://example.org/feed.xml" in run("feeds", "list").stdout
    assert run("trigger", "ingest-feed", str(feed["id"])).exit_code == 0
    assert temporal_record.ids[1:] == [f"ingest-feed-{feed['id']}"]
    assert isinstance(run("trigger", "ingest-feed", "4711").exception, NotFoundError)
    assert "News" in run("feeds", "list", "--user", "anna@example.org").stdout
    assert run("feeds", "health").stdout == ""
    assert re.search(r"^\d+ +not read yet +A feed +https://example", run("feeds", "list").stdout)
    crawled(settings, feed["id"], CrawlOutcome.NEW)
    # In the word of the pages: for whoever reads it, there is no difference to a feed that had nothing new.
    assert re.search(r"^\d+ +fine +A feed +https://example", run("feeds", "list").stdout)
    crawled(settings, feed["id"], CrawlOutcome.SERVER_ERROR, "The server answered 500.", 500)
    assert re.search(r"^\d+ +server error +A feed +https://example", run("feeds", "list").stdout)
    told = run("feeds", "health").stdout
    assert "The server answered 500." in told
    assert re.search(r"tried again \d{4}-\d\d-\d\d \d\d:\d\d UTC", told)
    assert json.loads(run("feeds", "health", "--json").stdout)[0]["outcome"] == "server error"
    add_person(settings, "bert")
    assert isinstance(run("feeds", "add", "https://example.org/feed.xml").exception, InvalidInputError)
    assert isinstance(run("feeds", "list", "--user", "nobody@example.org").exception, NotFoundError)


def test_outlines_come_in_from_a_file_or_a_pipe_and_go_out(run: Run, settings: Settings, tmp_path: Path) -> None:
    add_person(settings, "anna")
    file = tmp_path / "feeds.opml"
    file.write_text(OPML)
    taken = run("feeds", "import", str(file))
    assert "New feeds: 1. There already: 0. Of no use: 1." in taken.stdout
    assert "Broken" in taken.stdout
    again = json.loads(run("feeds", "import", "-", "--json", typed=OPML).stdout)
    assert (again["added"], again["known"], len(again["broken"])) == (0, 1, 1)
    assert "https://example.org/1.xml" in run("feeds", "export").stdout
    target = tmp_path / "out.opml"
    assert run("feeds", "export", "--output", str(target)).exit_code == 0
    assert "Science" in target.read_text()
    assert isinstance(run("feeds", "import", str(tmp_path / "missing.opml")).exception, InvalidInputError)
    assert isinstance(run("feeds", "export", "-o", str(tmp_path / "no" / "where")).exception, InvalidInputError)


TRIGGERS: list[tuple[tuple[str, ...], str, dict[str, object]]] = [
    (("ingest",), "AllFeedsIngestionWorkflow", {"only_due": False}),
    (("ingest", "--due"), "AllFeedsIngestionWorkflow", {"only_due": True}),
    (("distill",), "ContentDistillationWorkflow", {"entry_ids": ()}),
    (("distill", "1", "2"), "ContentDistillationWorkflow", {"entry_ids": (1, 2)}),
    (("reprocess", "1", "2"), "ReprocessEntriesWorkflow", {"entry_ids": (1, 2), "fetch": True, "distill": True}),
    (("reprocess", "1", "--no-fetch"), "ReprocessEntriesWorkflow", {"entry_ids": (1,), "fetch": False}),
    (("fetch", "1"), "ReprocessEntriesWorkflow", {"entry_ids": (1,), "fetch": True, "distill": False}),
    (("reindex",), "SearchReindexWorkflow", {"batch_size": 500, "clean": False}),
    (("reindex", "--clean", "--batch-size", "9"), "SearchReindexWorkflow", {"batch_size": 9, "clean": True}),
    (("prune",), "SearchPruneWorkflow", {"batch_size": 1000}),
    (("cleanup",), "EntriesCleanupWorkflow", {"older_than_days": 7, "dry_run": False}),
    (("cleanup", "--days", "14"), "EntriesCleanupWorkflow", {"older_than_days": 14, "dry_run": False}),
    (("embedding-backfill",), "EmbeddingBackfillWorkflow", {"batch_size": 100}),
    (("embedding-backfill", "--batch-size", "200"), "EmbeddingBackfillWorkflow", {"batch_size": 200}),
]


def test_triggers_have_the_flags_and_defaults_of_the_document(run: Run, temporal_record: RecordedTemporal) -> None:
    for words, workflow, values in TRIGGERS:
        done = run("trigger", *words, "--json")
        assert done.exit_code == 0, done.exception
        start = temporal_record.starts.pop()
        assert (start.workflow, {name: getattr(start.input, name) for name in values}) == (workflow, values)
        assert json.loads(done.stdout) == {"workflow_id": start.id}
    too_many = [str(number) for number in range(1, 502)]
    for word in ("reprocess", "distill"):
        assert isinstance(run("trigger", word, *too_many).exception, InvalidInputError)


def test_a_cleanup_by_hand_keeps_as_many_days_as_the_settings_say(
    settings: Settings, temporal_record: RecordedTemporal
) -> None:
    run = run_with(settings.with_group(CuratorSettings(keep_days=90, keep_unread_days=400)), temporal_record)
    assert run("trigger", "cleanup").exit_code == 0
    assert run("trigger", "cleanup", "--days", "3").exit_code == 0
    assert [start.input.older_than_days for start in temporal_record.starts] == [90, 3]
    assert {start.input.unread_older_than_days for start in temporal_record.starts} == {400}


def test_a_trigger_waits_for_the_end_and_says_when_there_is_none(run: Run, temporal_record: RecordedTemporal) -> None:
    # The stand-in starts nothing, so Temporal does not know it.
    assert isinstance(run("trigger", "cleanup", "--dry-run").exception, NotFoundError)
    assert [start.input.dry_run for start in temporal_record.starts] == [True]
    assert isinstance(run("trigger", "prune", "--wait").exception, NotFoundError)
    temporal_record.away = True
    assert isinstance(run("trigger", "prune").exception, TransientError)
    assert run("trigger", "reprocess").exit_code == 2
    assert run("trigger", "cleanup", "--days", "0").exit_code == 2


@pytest.fixture
def clean_schedules(temporal: Client) -> Iterator[None]:
    async def delete() -> None:
        for schedule_id in (INGEST_SCHEDULE, CLEANUP_SCHEDULE):
            try:
                await temporal.get_schedule_handle(schedule_id).delete()
            except RPCError:
                continue

    loop = asyncio.new_event_loop()
    loop.run_until_complete(delete())
    yield
    loop.run_until_complete(delete())
    loop.close()


@pytest.mark.usefixtures("clean_schedules")
def test_schedules_are_set_shown_paused_resumed_triggered_and_deleted(run: Run) -> None:
    missing = run("schedule", "ingest", "pause").exception
    assert isinstance(missing, NotFoundError)
    assert "pressbox schedule ingest set" in missing.message
    assert "on, every hour, changed by you" in run("schedule", "ingest", "set", "--interval", "1h").stdout
    assert run("schedule", "ingest", "pause").exit_code == 0
    assert json.loads(run("schedule", "ingest", "show", "--json").stdout)["paused"] is True
    assert run("schedule", "ingest", "resume").exit_code == 0
    assert run("schedule", "ingest", "trigger").exit_code == 0
    words = ("--cron", "0 3 * * *", "--timezone", "Asia/Tokyo", "--days", "14")
    assert "cron 0 3 * * * Asia/Tokyo, changed by you" in run("schedule", "cleanup", "set", *words).stdout
    assert "next " in run("schedule", "cleanup", "show").stdout
    assert run("schedule", "cleanup", "delete").exit_code == 0
    assert "missing, deleted by you" in run("schedule", "cleanup", "show").stdout
    assert "on, every 365 days" in run("schedule", "cleanup", "set").stdout
    assert isinstance(run("schedule", "ingest", "set", "--interval", "soon").exception, InvalidInputError)
    assert isinstance(run("schedule", "ingest", "set", "--cron", "soon").exception, InvalidInputError)


@pytest.mark.usefixtures("clean_schedules")
def test_a_schedule_whose_days_are_chosen_keeps_everything_else(run: Run, temporal: Client) -> None:
    async def load() -> EntriesCleanupInput:
        description = await temporal.get_schedule_handle(CLEANUP_SCHEDULE).describe()
        action = description.schedule.action
        assert isinstance(action, ScheduleActionStartWorkflow)
        (input,) = await temporal.data_converter.decode(action.args, [EntriesCleanupInput])
        return cast(EntriesCleanupInput, input)

    assert run("schedule", "cleanup", "set", "--days", "14").exit_code == 0
    assert asyncio.run(load()) == DECLARED_INPUT.model_copy(update={"older_than_days": 14})


def test_a_password_for_an_app_is_made_listed_and_removed(run: Run, settings: Settings) -> None:
    add_person(settings, "anna")
    made = json.loads(run("apps", "add", "phone", "--json").stdout)
    assert made["password"].startswith(made["hint"])
    listed = run("apps", "list").stdout
    assert "phone" in listed
    assert made["password"] not in listed
    assert run("apps", "revoke", str(made["id"])).exit_code == 0
    assert run("apps", "list").stdout == ""
    assert isinstance(run("apps", "revoke", str(made["id"])).exception, NotFoundError)
