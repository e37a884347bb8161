"""What is special about the local folder."""

import os
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from pressbox.core.config import ObjectsSettings
from pressbox.core.errors import ConfigurationError, ConflictError
from pressbox.core.objects.factory import open_store


def names(folder: Path) -> list[str]:
    return [item.name for item in folder.iterdir()]


def leave_behind(path: Path, when: datetime) -> None:
    path.write_bytes(b"half")
    os.utime(path, (when.timestamp(), when.timestamp()))


def replace_by_a_file(folder: Path) -> None:
    folder.rmdir()
    folder.write_text("in the way")


def test_the_folder_is_made_for_us_alone(local_folder: Path) -> None:
    open_store(ObjectsSettings(), local_folder)
    assert local_folder.stat().st_mode & 0o777 == 0o700


def test_a_file_in_the_place_of_the_folder_is_a_wrong_setting(local_folder: Path) -> None:
    local_folder.write_text("in the way")
    with pytest.raises(ConfigurationError, match="PRESSBOX_HOME"):
        open_store(ObjectsSettings(), local_folder)


async def test_there_are_no_links(local_folder: Path) -> None:
    store = open_store(ObjectsSettings(), local_folder)
    await store.put("clip", b"x")
    assert await store.link("clip", timedelta(minutes=5)) is None


async def test_a_key_that_is_a_folder_already_is_a_conflict(local_folder: Path) -> None:
    store = open_store(ObjectsSettings(), local_folder)
    await store.put("a/b", b"x")
    for key in ("a", "a/b/c"):
        with pytest.raises(ConflictError, match="folder"):
            await store.put(key, b"x")
    assert await store.get("a/b") == b"x"


async def test_the_rest_of_a_killed_write_is_not_an_object(local_folder: Path) -> None:
    store = open_store(ObjectsSettings(), local_folder)
    await store.put("clips/one", b"x")
    # What a process leaves behind that was killed while it wrote.
    (local_folder / "clips" / "two#1").write_bytes(b"half")
    assert [item.key async for item in store.list()] == ["clips/one"]
    assert (await store.put("clips/two", b"whole")).size == 5


async def test_the_rest_of_killed_writes_is_removed_once_it_is_old(local_folder: Path) -> None:
    store = open_store(ObjectsSettings(), local_folder)
    await store.put("clips/one", b"x")
    await store.put("clips/name #1a", b"x")
    now = datetime.now(UTC)
    for name, age in (
        ("old#1", timedelta(days=2)),
        ("older#12", timedelta(days=9)),
        ("running#1", timedelta(minutes=1)),
    ):
        leave_behind(local_folder / "clips" / name, now - age)
    assert await store.remove_unfinished(now - timedelta(days=1)) == 2
    assert sorted(names(local_folder / "clips")) == ["name #1a", "one", "running#1"]
    assert await store.remove_unfinished(now - timedelta(days=1)) == 0


async def test_empty_folders_go_with_their_last_object(local_folder: Path) -> None:
    store = open_store(ObjectsSettings(), local_folder)
    await store.put("a/b/c", b"x")
    await store.delete("a/b/c")
    assert names(local_folder) == []


async def test_a_folder_that_vanished_shows_in_the_check(local_folder: Path) -> None:
    store = open_store(ObjectsSettings(), local_folder)
    replace_by_a_file(local_folder)
    with pytest.raises(ConfigurationError, match="a file where a folder should be"):
        await store.check()
