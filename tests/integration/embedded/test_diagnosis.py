"""`pressbox doctor` and what it finds on the machine itself, above all when nothing runs."""

import json
import logging
import os
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from pydantic import SecretStr
from typer import Typer
from typer.testing import CliRunner

from pressbox.core.config import OidcSettings, Settings, TemporalSettings, TrustedHeaderSettings, WebSettings
from pressbox.core.health import HealthState, PartHealth
from pressbox.embedded import postgres
from pressbox.embedded.diagnosis import diagnose, last_error
from pressbox.embedded.home import Home
from pressbox.embedded.instance_lock import InstanceLock
from pressbox.embedded.ports import free_port
from pressbox.embedded.temporal_server import EmbeddedTemporal
from pressbox.entry.commands.instance import doctor

NOW = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)

cli = Typer()
cli.command()(doctor)


def examined(settings: Settings, *unknown: str) -> dict[str, PartHealth]:
    return {part.name: part for part in diagnose(settings, unknown)}


@pytest.fixture
def runner() -> Iterator[CliRunner]:
    """Commands set up the logs of their process, which here is everybody's."""
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    yield CliRunner()
    root.handlers[:] = handlers
    root.setLevel(level)


@pytest.fixture
def settings(home: Home) -> Settings:
    return Settings(home=home.path, web=WebSettings(port=free_port()))


def test_a_fresh_home_is_well_but_asks_to_be_started(settings: Settings) -> None:
    parts = examined(settings)
    assert {part.name for part in parts.values() if part.state is not HealthState.OK} == {"instance"}
    assert parts["instance"].fix == "Start it with `pressbox up`."
    assert parts["postgres binaries"].version.startswith("18.")


@pytest.mark.parametrize(("is_private", "state"), [(True, HealthState.OK), (False, HealthState.WARNING)])
def test_a_temporal_that_others_can_reach_is_named(
    settings: Settings, monkeypatch: pytest.MonkeyPatch, is_private: bool, state: HealthState
) -> None:
    monkeypatch.setattr(EmbeddedTemporal, "find_running", lambda _: object())
    monkeypatch.setattr(EmbeddedTemporal, "is_private", is_private)
    found = examined(settings)["temporal network"]
    assert found.state is state
    assert ("PRESSBOX_TEMPORAL_ADDRESS" in found.fix) is not is_private
    external = settings.model_copy(update={"temporal": TemporalSettings(address="temporal.example.org:7233")})
    assert examined(external)["temporal network"].state is HealthState.OK


@pytest.mark.parametrize("is_reachable", [True, False], ids=["open", "private"])
def test_a_missing_home_is_no_failure(folder: Path, monkeypatch: pytest.MonkeyPatch, is_reachable: bool) -> None:
    """Nor does asking make one, also where the account of PostgreSQL would need a copy of its binaries."""
    monkeypatch.setattr(postgres, "reachable", lambda *_: is_reachable)
    parts = examined(Settings(home=folder / "nowhere", web=WebSettings(port=free_port())))
    assert parts["home"].state is HealthState.WARNING
    assert HealthState.FAILED not in {part.state for part in parts.values()}
    assert not (folder / "nowhere").exists()


def test_a_running_instance_is_named(home: Home, settings: Settings) -> None:
    with InstanceLock(home):
        assert f"pid {os.getpid()}" in examined(settings)["instance"].detail


def test_open_folders_keys_and_unknown_variables_are_found(home: Home, settings: Settings) -> None:
    home.secret_key()
    home.secret_key_file.chmod(0o644)
    home.path.chmod(0o755)
    parts = examined(settings, "PRESSBOX_WEB_PROT")
    assert parts["home"].fix.startswith("chmod")
    assert parts["secret key"].state is HealthState.FAILED
    assert "PRESSBOX_WEB_PROT" in parts["settings"].detail
    assert "was removed" in examined(settings, "PRESSBOX_TEMPORAL_PORT")["settings"].detail
    given = examined(settings.model_copy(update={"secret_key": SecretStr("planted-secret")}))
    assert given["secret key"].state is HealthState.OK
    assert "planted-secret" not in str(given)


def line(level: str, message: str, age: timedelta) -> str:
    entry = {"ts": (NOW - age).isoformat(), "level": level, "module": "pressbox.x", "action": "a", "msg": message}
    return json.dumps(entry) + "\n"


def test_ways_to_sign_in_that_are_half_set_are_explained(settings: Settings) -> None:
    assert examined(settings)["sign-in"].detail == "By password."
    half = settings.model_copy(
        update={
            "oidc": OidcSettings(issuer="https://id.example.org"),
            "trusted_header": TrustedHeaderSettings(enabled=True),
        }
    )
    found = examined(half)["sign-in"]
    assert found.state is HealthState.WARNING
    assert "PRESSBOX_OIDC_CLIENT_ID" in found.detail
    assert "PRESSBOX_WEB_TRUSTED_PROXIES" in found.detail
    assert "docs/operations.md" in found.fix
    public = WebSettings(public_url="https://press.example.org", trusted_proxies=("10.0.0.2",), port=settings.web.port)
    whole = half.model_copy(
        update={"web": public, "oidc": OidcSettings(issuer="https://id.example.org", client_id="pressbox")}
    )
    assert examined(whole)["sign-in"].detail == "By password, passkeys, OpenID provider, header of a trusted proxy."


def test_the_last_recent_error_is_taken_from_a_log(tmp_path: Path) -> None:
    log = tmp_path / "worker.log"
    assert last_error(log, NOW) is None
    log.write_text(line("error", "ages ago", timedelta(days=3)) + line("info", "fine", timedelta(hours=1)))
    assert last_error(log, NOW) is None
    with log.open("a") as file:
        file.write(line("error", "it broke", timedelta(hours=2)) + "Traceback of another program\n")
        file.write(line("info", "still fine", timedelta(minutes=1)))
    found = last_error(log, NOW)
    assert found is not None
    assert found[1] == "pressbox.x: it broke"


def test_doctor_says_how_to_start_when_nothing_runs(
    folder: Path, runner: CliRunner, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)
    monkeypatch.setenv("PRESSBOX_HOME", str(folder / "home"))
    monkeypatch.setenv("PRESSBOX_WEB_PORT", str(free_port()))
    said = runner.invoke(cli, [])
    assert said.exit_code == 1
    assert "FAILED" in said.output
    assert "Fix: Start it with `pressbox up`." in said.output
    as_json = runner.invoke(cli, ["--json"])
    assert as_json.exit_code == 1
    assert {part["name"]: part["state"] for part in json.loads(as_json.stdout)}["parts"] == "failed"


def test_doctor_explains_settings_that_cannot_be_read(
    folder: Path, runner: CliRunner, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)
    monkeypatch.setenv("PRESSBOX_WEB_PORT", "many")
    said = runner.invoke(cli, [])
    assert said.exit_code == 1
    assert "PRESSBOX_WEB_PORT" in said.output
