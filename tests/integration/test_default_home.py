"""Every command on the home that `pressbox up` runs on, with nothing set: the instance key is the one of the home."""

from collections.abc import Iterator
from pathlib import Path

import pytest
import typer
from typer._click import Command, Context
from typer.core import TyperGroup
from typer.testing import CliRunner

from pressbox.core.errors import PressboxError
from pressbox.embedded.home import Endpoints, Home
from pressbox.entry.cli import cli
from tests.conftest import Parts

ANNA = "anna@example.org"
PASSWORD = "four words in a row"
OPML = '<opml version="2.0"><body><outline type="rss" text="A" xmlUrl="http://127.0.0.1:9/feed"/></body></opml>'

# In this order, on the same database; FOLDER is a folder of the test.
COMMANDS = """
migrate
schedules apply
schedules list
schedules pause core-maintenance
schedules resume core-maintenance
schedules run core-maintenance
user setup-link
user add anna@example.org --admin --password-stdin
user add ben@example.org --password-stdin
user list
user role ben@example.org admin
user password ben@example.org --password-stdin
user remove-second-factor ben@example.org
user disable ben@example.org
user enable ben@example.org
user export ben@example.org FOLDER/ben.zip
user delete ben@example.org --yes
token add anna@example.org phone --scope read
token list anna@example.org
token revoke anna@example.org 1
quota list anna@example.org
quota set anna@example.org feeds 7
quota reset anna@example.org feeds
feeds add http://127.0.0.1:9/feed
feeds import FOLDER/feeds.opml
feeds list
feeds export
feeds health
apps add phone
apps list
apps revoke 1
soonish create Dinner --organiser anna@example.org --start 2030-01-01T19:00 --timezone UTC
soonish events
soonish subscribers dinner
soonish deliveries dinner
soonish announce dinner Soon
soonish why 1
soonish resend dinner 1
soonish cancel dinner
soonish reopen dinner
soonish rotate-key
footy fixtures
footy goals
footy why 1-2
footy following
footy follow Nobody
footy unfollow Nobody
schedule ingest set --interval 1h
schedule ingest show
schedule ingest pause
schedule ingest resume
schedule ingest trigger
schedule ingest delete
rotate-key
doctor
backup FOLDER/backup.tar.gz
x import-cookies FOLDER/feeds.opml
""".strip().splitlines()

# Not run here: what serves for ever, measures, waits for a worker, a screen or a service outside, or is like another.
ELSEWHERE = """
up, demo, web, worker, bench, trigger, restore, deployment, x serve, x login,
ask, footy ingest, footy monitor, footy aliases, footy test, schedule graph, schedule cleanup
""".replace("\n", " ").split(",")


@pytest.fixture
def folder(parts: Parts, database_url: str, namespace: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    home = Home(tmp_path / "home")
    home.create()
    home.save_endpoints(Endpoints(database_url=database_url, temporal_address=parts.temporal_address))
    monkeypatch.setenv("PRESSBOX_HOME", str(home.path))
    monkeypatch.setenv("PRESSBOX_TEMPORAL_NAMESPACE", namespace)
    # No .env of whoever runs the tests.
    monkeypatch.chdir(tmp_path)
    (tmp_path / "feeds.opml").write_text(OPML)
    return tmp_path


def leaves(command: Command, path: tuple[str, ...] = ()) -> Iterator[str]:
    if not isinstance(command, TyperGroup):
        yield " ".join(path)
        return
    context = Context(command)
    for name in command.list_commands(context):
        child = command.get_command(context, name)
        assert child is not None
        yield from leaves(child, (*path, name))


def begins(line: str, words: str) -> bool:
    return f"{line} ".startswith(f"{words.strip()} ")


def test_every_command_is_run_or_left_out_on_purpose() -> None:
    found = set(leaves(typer.main.get_command(cli)))
    assert {name for name in found if not any(begins(line, name) for line in COMMANDS)} == {
        name for name in found if any(begins(name, words) for words in ELSEWHERE)
    }


@pytest.mark.limit(300)
def test_no_command_misses_the_key_of_the_home(folder: Path) -> None:
    for line in COMMANDS:
        words = line.replace("FOLDER", str(folder)).split()
        done = CliRunner().invoke(cli, words, input=f"{PASSWORD}\n")
        said = f"{done.output}{done.exception or ''}"
        assert "no instance key" not in said, line
        # Refused or not: the words are understood, and nothing crashes.
        assert done.exit_code in (0, 1), f"{line}: {said}"
        assert done.exception is None or isinstance(done.exception, SystemExit | PressboxError), line


@pytest.mark.parametrize("line", ["feeds list", "feeds add http://127.0.0.1:9/feed", "ask What?", "user list"])
def test_with_nothing_running_a_command_says_how_to_start(
    line: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PRESSBOX_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    done = CliRunner().invoke(cli, line.split())
    assert isinstance(done.exception, PressboxError)
    assert "Start it with `pressbox up`" in done.exception.message
    assert not (tmp_path / "home").exists()
