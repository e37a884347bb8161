"""Settings: every wrong one is named, secrets come from files too, nothing is guessed."""

from pathlib import Path

import pytest
from pydantic import Field, SecretStr

from pressbox.core.config import Group, LogFormat, Settings
from pressbox.core.environment import REMOVED, explain_unknown, load_settings, unknown_variables, variables
from pressbox.core.errors import ConfigurationError
from pressbox.core.logs import secret_values
from pressbox.entry.manifests import settings_groups


def test_defaults_need_nothing() -> None:
    settings = load_settings({}, dotenv=None)
    assert settings.database.url is None
    assert settings.web.host == "127.0.0.1"


def test_every_wrong_variable_is_named_at_once() -> None:
    with pytest.raises(ConfigurationError) as refusal:
        load_settings(
            {"PRESSBOX_WEB_PORT": "abc", "PRESSBOX_OPEN": "maybe", "PRESSBOX_LOG_FORMAT": "xml", "HEALTH_PORT": "-1"},
            dotenv=None,
        )
    for name in ("PRESSBOX_WEB_PORT", "PRESSBOX_OPEN", "PRESSBOX_LOG_FORMAT", "PRESSBOX_WORKER_HEALTH_PORT"):
        assert name in refusal.value.message


def test_a_wrong_secret_is_not_repeated_in_the_message() -> None:
    with pytest.raises(ConfigurationError) as refusal:
        load_settings({"PRESSBOX_DATABASE_URL": "hunter2-secret", "PRESSBOX_WEB_PORT": "0"}, dotenv=None)
    assert "hunter2" not in refusal.value.message


def test_bare_names_of_the_documents_work() -> None:
    settings = load_settings(
        {"HEALTH_PORT": "0", "MAX_CONCURRENT_ACTIVITIES": "7", "LOG_FORMAT": "pretty"}, dotenv=None
    )
    assert settings.worker.health_port == 0
    assert settings.worker.max_concurrent_activities == 7
    assert settings.log.format is LogFormat.PRETTY


def test_our_own_name_wins_over_the_bare_one() -> None:
    settings = load_settings({"HEALTH_PORT": "1", "PRESSBOX_WORKER_HEALTH_PORT": "2"}, dotenv=None)
    assert settings.worker.health_port == 2


def test_a_secret_comes_from_a_file_and_is_not_shown(tmp_path: Path) -> None:
    file = tmp_path / "url"
    file.write_text("postgresql://a:planted@host/b\n")
    settings = load_settings({"PRESSBOX_DATABASE_URL_FILE": str(file)}, dotenv=None)
    assert settings.database.url is not None
    assert settings.database.url.get_secret_value() == "postgresql://a:planted@host/b"
    assert "planted" not in repr(settings)


def test_a_secret_file_that_cannot_be_read_is_named() -> None:
    with pytest.raises(ConfigurationError, match="PRESSBOX_SECRET_KEY_FILE: cannot read /nowhere"):
        load_settings({"PRESSBOX_SECRET_KEY_FILE": "/nowhere"}, dotenv=None)


def test_the_environment_wins_over_the_dotenv_file(tmp_path: Path) -> None:
    file = tmp_path / ".env"
    file.write_text("PRESSBOX_WEB_PORT=1111\nPRESSBOX_WEB_HOST=::1\n")
    settings = load_settings({"PRESSBOX_WEB_PORT": "2222"}, dotenv=file)
    assert (settings.web.port, settings.web.host) == (2222, "::1")


def test_unknown_names_are_reported_and_others_left_alone() -> None:
    environment = {"PRESSBOX_WEP_PORT": "1", "PRESSBOX_WEB_PORT": "1", "PRESSBOX_SECRET_KEY_FILE": "x", "PATH": "y"}
    assert unknown_variables(environment, dotenv=None) == ("PRESSBOX_WEP_PORT",)


def test_a_setting_that_was_removed_is_not_called_a_typing_error() -> None:
    [name] = unknown_variables({"PRESSBOX_TEMPORAL_PORT": "7233"}, groups=settings_groups(), dotenv=None)
    assert "was removed: the embedded Temporal has no ports" in explain_unknown(name)
    assert "typing error" not in explain_unknown(name)
    assert "typing error" in explain_unknown("PRESSBOX_WEP_PORT")
    assert not REMOVED.keys() & {name for variable in variables(settings_groups()) for name in variable.names}


def test_empty_means_unset() -> None:
    assert load_settings({"PRESSBOX_WEB_PORT": "", "PRESSBOX_DATABASE_URL": ""}, dotenv=None).database.url is None


class PianoSettings(Group):
    strings: int = Field(230, ge=1, description="How many strings it has.")
    tuner_key: SecretStr | None = Field(None, description="Key of the tuner.")


def test_an_application_has_a_group_of_its_own() -> None:
    environment = {"PRESSBOX_PIANO_STRINGS": "88", "PRESSBOX_PIANO_TUNER_KEY": "planted"}
    settings = load_settings(environment, groups={"piano": PianoSettings}, dotenv=None)
    assert settings.group(PianoSettings).strings == 88
    assert settings.with_group(PianoSettings(strings=1)).group(PianoSettings).strings == 1
    assert "planted" in secret_values(settings)
    assert unknown_variables(environment, groups={"piano": PianoSettings}, dotenv=None) == ()
    assert unknown_variables(environment, dotenv=None) == ("PRESSBOX_PIANO_STRINGS", "PRESSBOX_PIANO_TUNER_KEY")


def test_the_group_of_an_application_that_is_not_installed_has_its_defaults() -> None:
    assert Settings().group(PianoSettings) == PianoSettings()


def test_a_wrong_variable_of_an_application_is_named() -> None:
    with pytest.raises(ConfigurationError, match="PRESSBOX_PIANO_STRINGS"):
        load_settings({"PRESSBOX_PIANO_STRINGS": "0"}, groups={"piano": PianoSettings}, dotenv=None)


def test_every_setting_is_described() -> None:
    assert [variable.name for variable in variables(settings_groups()) if not variable.field.description] == []


def test_the_older_name_of_the_daily_budget_still_works() -> None:
    environment = {"PRESSBOX_CURATOR_TOKENS_PER_DAY": "9"}
    assert load_settings(environment, groups=settings_groups(), dotenv=None).spending.tokens_per_day == 9
    assert unknown_variables(environment, groups=settings_groups(), dotenv=None) == ()
    both = environment | {"PRESSBOX_SPENDING_TOKENS_PER_DAY": "7"}
    assert load_settings(both, dotenv=None).spending.tokens_per_day == 7
