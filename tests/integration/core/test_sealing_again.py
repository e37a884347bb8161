"""After a change of the instance key everything that was sealed is sealed again, whichever part sealed it."""

from datetime import UTC, datetime
from pathlib import Path

import pytest
from pydantic import SecretStr

from pressbox.core.accounts.factors import SecondFactors
from pressbox.core.accounts.models import Role, User
from pressbox.core.config import Settings
from pressbox.core.db.database import Database
from pressbox.core.errors import ConfigurationError, ConflictError
from pressbox.core.sealing import Seal
from pressbox.footy.x.session import Cookie, open_session
from tests.fakes.curator_rows import Rows

OLD, NEW, OTHER = (SecretStr(f"the {word} instance key of this test") for word in ("old", "new", "other"))


async def some_user(database: Database) -> User:
    user_id = await Rows(database).user()
    return User(user_id, "anna@example.org", "", Role.MEMBER, None, datetime.now(UTC), None)


def test_the_first_key_seals_and_all_of_them_open() -> None:
    sealed = Seal(["old"], "test").seal(b"word")
    both = Seal(["new", "old"], "test")
    assert both.reveal(sealed) == b"word"
    again = both.seal(both.reveal(sealed))
    assert Seal(["new"], "test").reveal(again) == b"word"
    with pytest.raises(ConfigurationError):
        Seal(["new"], "test").reveal(sealed)


def test_keys_are_listed_with_the_present_one_first() -> None:
    settings = Settings(secret_key=NEW, old_secret_keys=SecretStr(f"{OLD.get_secret_value()}, another"))
    assert settings.secret_keys == (NEW.get_secret_value(), OLD.get_secret_value(), "another")
    assert Settings().secret_keys == ()


async def test_an_authenticator_app_outlives_the_key(database: Database) -> None:
    user = await some_user(database)
    before = SecondFactors(database, Settings(secret_key=OLD))
    await before.begin_app(user.id)
    pending = await before.pending_app(user)
    between = SecondFactors(database, Settings(secret_key=NEW, old_secret_keys=OLD))
    assert await between.seal_again() == 1
    assert await between.seal_again() == 1
    after = SecondFactors(database, Settings(secret_key=NEW))
    carried = await after.pending_app(user)
    assert carried.secret == pending.secret


async def test_what_an_unknown_key_sealed_stops_the_rotation_and_stays(database: Database) -> None:
    user = await some_user(database)
    await SecondFactors(database, Settings(secret_key=OTHER)).begin_app(user.id)
    with pytest.raises(ConfigurationError):
        await SecondFactors(database, Settings(secret_key=NEW, old_secret_keys=OLD)).seal_again()
    with pytest.raises(ConflictError):
        await SecondFactors(database, Settings(secret_key=NEW)).pending_app(user)
    assert await SecondFactors(database, Settings(secret_key=OTHER)).pending_app(user)


def test_the_login_at_x_outlives_the_key(tmp_path: Path) -> None:
    cookie = Cookie(name="auth_token", value="word", domain=".x.com")
    open_session(Settings(home=tmp_path, secret_key=OLD)).save([cookie])
    assert open_session(Settings(home=tmp_path, secret_key=NEW, old_secret_keys=OLD)).seal_again() == 1
    assert open_session(Settings(home=tmp_path, secret_key=NEW)).load() == (cookie,)
    assert open_session(Settings(home=tmp_path / "empty", secret_key=NEW)).seal_again() == 0
