"""Where the instance key comes from, and when none is made up."""

from pathlib import Path

from pydantic import SecretStr

from pressbox.core.config import DatabaseSettings, Settings
from pressbox.embedded.home import Home
from pressbox.entry.wiring import with_secret_key

ELSEWHERE = DatabaseSettings(url=SecretStr("postgresql://pressbox:word@database.example.org/pressbox"))


def test_a_home_of_its_own_keeps_one_key(tmp_path: Path) -> None:
    Home(tmp_path).create()
    settings = Settings(home=tmp_path)
    made = with_secret_key(settings).secret_key
    assert made is not None
    assert with_secret_key(settings).secret_key == made


def test_no_process_makes_up_a_key_beside_a_database_that_others_use(tmp_path: Path) -> None:
    settings = Settings(home=tmp_path, database=ELSEWHERE)
    assert with_secret_key(settings).secret_key is None
    assert not Home(tmp_path).secret_key_file.exists()


def test_a_home_that_has_a_key_goes_on_using_it(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.create()
    kept = home.secret_key()
    found = with_secret_key(Settings(home=tmp_path, database=ELSEWHERE)).secret_key
    assert found is not None
    assert found.get_secret_value() == kept
