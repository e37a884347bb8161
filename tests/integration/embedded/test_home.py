"""The home folder: permissions, secrets, endpoints, and folders that must not be touched."""

import os
import stat
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from pressbox.core.errors import ConfigurationError
from pressbox.embedded.home import Endpoints, Home
from tests.other_user import open_to_others


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_home_is_private_but_lets_the_database_account_pass_for_root(home: Home) -> None:
    assert mode(home.path) == (0o711 if os.geteuid() == 0 else 0o700)
    assert {mode(path) for path in (home.run, home.logs, home.secrets, home.temporal, home.objects)} == {0o700}


def test_a_home_of_an_earlier_version_is_closed_to_others(home: Home) -> None:
    (home.path / "pressbox-home").write_text("")
    index = home.path / "index"
    (index / "1-generation").mkdir(parents=True)
    (index / "1-generation" / "segment").write_text("words of private articles")
    (home.objects / "clip.mp4").write_text("moving pictures")
    (home.path / "elsewhere").symlink_to(home.path.parent)
    for path in (index, index / "1-generation", home.objects, home.path / "pressbox-home"):
        path.chmod(0o755)
    outside = mode(home.path.parent)
    assert open_to_others(index) != []
    home.create()
    (home.path / "elsewhere").unlink()
    assert open_to_others(home.path) == []
    assert {mode(path) for path in (index, index / "1-generation", home.objects)} == {0o700}
    assert mode(index / "1-generation" / "segment") == 0o600
    assert mode(home.path.parent) == outside


def test_folders_above_the_home_let_the_database_account_pass_whatever_the_umask(folder: Path) -> None:
    before = os.umask(0o077)
    try:
        Home(folder / "above" / "home").create()
    finally:
        os.umask(before)
    assert mode(folder / "above") == (0o711 if os.geteuid() == 0 else 0o700)


def test_secret_key_is_made_once_and_private_even_when_many_ask_at_once(home: Home) -> None:
    with ThreadPoolExecutor(8) as pool:
        keys = set(pool.map(lambda _: Home(home.path).secret_key(), range(16)))
    assert len(keys) == 1
    assert mode(home.secret_key_file) == 0o600
    assert [path.name for path in home.secrets.iterdir()] == ["secret-key"]


def test_endpoints_are_kept_private_and_forgotten(home: Home) -> None:
    assert home.load_endpoints() is None
    endpoints = Endpoints(database_url="postgresql://somewhere/pressbox", temporal_address="127.0.0.1:7233")
    home.save_endpoints(endpoints)
    assert home.load_endpoints() == endpoints
    assert mode(home.run / "endpoints.json") == 0o600
    home.forget_endpoints()
    assert home.load_endpoints() is None


def test_unreadable_endpoints_count_as_none(home: Home) -> None:
    (home.run / "endpoints.json").write_text("{half")
    assert home.load_endpoints() is None


def test_a_folder_with_other_things_in_it_is_refused_and_left_as_it_was(folder: Path) -> None:
    (folder / "thesis.txt").write_text("years of work")
    folder.chmod(0o755)
    with pytest.raises(ConfigurationError, match="PRESSBOX_HOME"):
        Home(folder).create()
    assert mode(folder) == 0o755
    assert [path.name for path in folder.iterdir()] == ["thesis.txt"]


def test_a_home_where_a_file_stands_is_refused_with_a_way_out(folder: Path) -> None:
    (folder / "home").write_text("a file")
    with pytest.raises(ConfigurationError, match="PRESSBOX_HOME"):
        Home(folder / "home").create()


def test_a_name_that_is_too_long_is_refused_with_a_way_out(folder: Path) -> None:
    with pytest.raises(ConfigurationError, match="too long"):
        Home(folder / ("x" * 300)).create()
