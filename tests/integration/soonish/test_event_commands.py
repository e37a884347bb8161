"""`pressbox soonish` against a real database and a real Temporal."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from pydantic import SecretStr
from structlog.testing import capture_logs
from typer.testing import CliRunner, Result

from pressbox.core.accounts.models import Role, User
from pressbox.core.accounts.service import AccountService
from pressbox.core.app import Resources
from pressbox.core.config import DatabaseSettings, Settings, TemporalSettings
from pressbox.core.errors import ConflictError, InvalidInputError, NotFoundError
from pressbox.delivery.domain.channels import ChannelInput
from pressbox.entry.wiring import open_resources
from pressbox.soonish.cli import build_commands
from pressbox.soonish.domain.views import Viewer
from pressbox.soonish.manifest import rotate_keys, service
from pressbox.soonish.service.inputs import Preferences
from pressbox.soonish.settings import SoonishSettings
from tests.conftest import Parts

Run = Callable[..., Result]
SECRET = "json://localhost/k3y-of-nobody-else"


@pytest.fixture
def settings(parts: Parts, database_url: str, tmp_path: Path) -> Settings:
    return Settings(
        home=tmp_path,
        secret_key=SecretStr("the instance key of this test"),
        database=DatabaseSettings(url=SecretStr(database_url)),
        temporal=TemporalSettings(address=parts.temporal_address),
    )


def opening(settings: Settings) -> Callable[[], object]:
    @asynccontextmanager
    async def opened() -> AsyncIterator[Resources]:
        async with open_resources(settings) as resources:
            yield resources

    return opened


@pytest.fixture
def run(settings: Settings) -> Run:
    def invoke(*arguments: str, known: Settings = settings) -> Result:
        with capture_logs():
            return CliRunner().invoke(build_commands(service, rotate_keys), arguments, obj=opening(known))

    return invoke


async def add_person(settings: Settings, email: str) -> User:
    async with open_resources(settings) as resources:
        accounts = AccountService(resources.database, settings)
        return await accounts.add_user(email, "four words in a row", role=Role.MEMBER, name="Anna")


async def subscribe(settings: Settings, slug: str, user_id: int) -> None:
    async with open_resources(settings) as resources:
        use_cases = service(resources)
        channel = await use_cases.channels.add(user_id, ChannelInput("Phone", SECRET))
        await use_cases.subscriptions.subscribe(Viewer(user_id), slug, Preferences(channel_ids=(channel.id,)))


def test_an_event_from_its_creation_to_its_end(run: Run, settings: Settings) -> None:
    anna = asyncio.run(add_person(settings, "anna@example.org"))
    times = ("--start", "2035-05-01T19:30", "--timezone", "Europe/Berlin")
    made = run("create", "Summer fair", "--organiser", "anna@example.org", *times, "--json")
    assert made.exit_code == 0, made.exception
    event = json.loads(made.stdout)
    assert event["start_date"] == "2035-05-01T17:30:00+00:00"
    slug = event["slug"]
    asyncio.run(subscribe(settings, slug, anna.id))
    assert "19:30 (Europe/Berlin)" in run("events").stdout
    assert [item["slug"] for item in json.loads(run("events", "--json").stdout)] == [slug]
    said = run("announce", slug, "Room 2", "--level", "warning")
    assert said.stdout.strip().endswith("is being sent to 1 subscriber.")
    people = run("subscribers", slug)
    assert "Anna" in people.stdout
    messages = json.loads(run("deliveries", slug, "--json").stdout)
    assert [item["cause"] for item in messages] == ["announcement", "created"]
    assert json.loads(run("deliveries", slug, "--message", str(messages[0]["id"]), "--json").stdout) == []
    assert "announcement" in run("deliveries", slug).stdout
    assert "cancelled" in run("cancel", slug).stdout
    for output in (made, said, people):
        assert "k3y" not in output.output


def test_what_is_wrong_is_said(run: Run, settings: Settings) -> None:
    asyncio.run(add_person(settings, "anna@example.org"))
    times = ("--start", "soon", "--timezone", "Europe/Berlin")
    assert isinstance(run("create", "Fair", "--organiser", "anna@example.org", *times).exception, InvalidInputError)
    assert isinstance(run("cancel", "nothing").exception, NotFoundError)
    assert isinstance(run("why", "1").exception, NotFoundError)
    made = run(
        "create",
        "Fair",
        "--organiser",
        "anna@example.org",
        "--start",
        "2035-05-01T19:30",
        "--timezone",
        "UTC",
        "--draft",
        "--json",
    )
    slug = json.loads(made.stdout)["slug"]
    assert isinstance(run("announce", slug, "Hello").exception, ConflictError)


def test_a_new_instance_key_takes_over(run: Run, settings: Settings) -> None:
    anna = asyncio.run(add_person(settings, "anna@example.org"))
    made = run(
        "create", "Fair", "--organiser", anna.email, "--start", "2035-05-01T19:30", "--timezone", "UTC", "--json"
    )
    asyncio.run(subscribe(settings, json.loads(made.stdout)["slug"], anna.id))
    old = SoonishSettings(old_secret_keys=SecretStr("the instance key of this test"))
    both = settings.model_copy(update={"secret_key": SecretStr("the next key")}).with_group(old)
    assert run("rotate-key", known=both).stdout.startswith("1 addresses")
    assert run("rotate-key", known=both).stdout.startswith("0 addresses")
