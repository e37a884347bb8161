import json
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from pydantic import SecretStr
from structlog.testing import capture_logs
from typer.testing import CliRunner, Result

from pressbox.core.config import DatabaseSettings, Settings, TemporalSettings
from pressbox.core.errors import ConflictError, InvalidInputError, NotFoundError
from pressbox.entry.commands import accounts as commands
from tests.conftest import Parts, execute

PASSWORD = "four words in a row"

Run = Callable[..., Result]


@pytest.fixture
def run(parts: Parts, database_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    settings = Settings(
        home=tmp_path,
        database=DatabaseSettings(url=SecretStr(database_url)),
        temporal=TemporalSettings(address=parts.temporal_address),
    )
    monkeypatch.setattr(commands, "prepare_settings", lambda: settings)
    runner = CliRunner()

    def invoke(*arguments: str, typed: str = "") -> Result:
        group, *rest = arguments
        application = {"user": commands.user_commands, "token": commands.token_commands}[group]
        # Logs are not the commands' output; the entry point sends them to standard error.
        with capture_logs():
            return runner.invoke(application, rest, input=typed)

    return invoke


def test_users_and_tokens_from_the_terminal(run: Run) -> None:
    link = run("user", "setup-link")
    assert link.stdout.startswith("http://127.0.0.1:8030/set-up?token=")

    added = run("user", "add", "Anna@example.org", "--admin", "--password-stdin", typed=f"{PASSWORD}\n")
    assert added.exit_code == 0
    assert "anna@example.org can sign in now (admin)." in added.stdout
    assert PASSWORD not in added.output
    assert run("user", "setup-link").exit_code == 1
    run("user", "add", "ben@example.org", "--password-stdin", typed=PASSWORD)

    listed = json.loads(run("user", "list", "--json").stdout)
    assert [(user["email"], user["role"]) for user in listed] == [
        ("anna@example.org", "admin"),
        ("ben@example.org", "member"),
    ]
    assert not {"password", "password_hash"} & set(listed[0])
    assert "argon2" not in str(listed)

    token = run("token", "add", "ben@example.org", "phone", "--scope", "read", "--scope", "reader").stdout
    secret = token.splitlines()[0]
    assert secret.startswith("pbx_")
    shown = run("token", "list", "ben@example.org", "--json").stdout
    assert secret not in shown
    token_id = json.loads(shown)[0]["id"]
    assert run("token", "revoke", "ben@example.org", str(token_id)).exit_code == 0
    assert json.loads(run("token", "list", "ben@example.org", "--json").stdout) == []

    assert run("user", "disable", "ben@example.org").exit_code == 0
    assert "disabled" in run("user", "list").stdout
    assert run("user", "enable", "ben@example.org").exit_code == 0
    assert run("user", "role", "ben@example.org", "admin").exit_code == 0
    assert run("user", "password", "ben@example.org", "--password-stdin", typed="another four words").exit_code == 0


def test_wrong_use_is_refused_with_a_reason(run: Run) -> None:
    run("user", "add", "anna@example.org", "--admin", "--password-stdin", typed=PASSWORD)
    refusals = [
        (("user", "add", "nonsense", "--password-stdin"), PASSWORD, InvalidInputError),
        (("user", "add", "ben@example.org", "--password-stdin"), "short", InvalidInputError),
        (("user", "add", "ben@example.org", "--password-stdin"), "", InvalidInputError),
        (("user", "add", "ben@example.org"), PASSWORD, InvalidInputError),
        (("user", "add", "ANNA@example.org", "--password-stdin"), PASSWORD, ConflictError),
        (("user", "disable", "anna@example.org"), "", ConflictError),
        (("user", "password", "nobody@example.org", "--password-stdin"), PASSWORD, NotFoundError),
        (("token", "revoke", "anna@example.org", "4711"), "", NotFoundError),
    ]
    for arguments, typed, error in refusals:
        assert isinstance(run(*arguments, typed=typed).exception, error), arguments
    assert run("token", "add", "anna@example.org", "x", "--scope", "root").exit_code == 2
    assert run("token", "add", "anna@example.org", "x").exit_code == 2


def test_a_failed_command_prints_no_password(run: Run, capsys: pytest.CaptureFixture[str]) -> None:
    result = run("user", "add", "nonsense", "--password-stdin", typed=f"{PASSWORD}\n")
    assert PASSWORD not in f"{result.output}{result.exception}{capsys.readouterr()}{sys.argv}"


def test_the_second_factor_of_somebody_who_lost_it_is_removed(run: Run, database_url: str) -> None:
    run("user", "add", "anna@example.org", "--admin", "--password-stdin", typed=PASSWORD)
    nothing = run("user", "remove-second-factor", "anna@example.org")
    assert isinstance(nothing.exception, ConflictError)
    execute(
        database_url,
        "INSERT INTO core.authenticator_apps (user_id, sealed_secret, confirmed_at)"
        " SELECT id, 'sealed', now() FROM core.users",
    )
    removed = run("user", "remove-second-factor", "anna@example.org")
    assert removed.exit_code == 0
    assert "by the password alone" in removed.stdout
    assert isinstance(run("user", "remove-second-factor", "anna@example.org").exception, ConflictError)
    assert isinstance(run("user", "remove-second-factor", "nobody@example.org").exception, NotFoundError)
