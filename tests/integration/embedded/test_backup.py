"""Backup and restore with real servers: the round trip, and archives that must be refused without a trace."""

import asyncio
import errno
import gzip
import io
import os
import sqlite3
import stat
import tarfile
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import psycopg
import pytest
from pydantic import SecretStr
from typer import Typer
from typer.testing import CliRunner

from pressbox.core.config import DatabaseSettings, ObjectsSettings, Settings, TemporalSettings
from pressbox.core.errors import ConfigurationError, ConflictError, InvalidInputError, PermanentError, PressboxError
from pressbox.core.objects.factory import open_store
from pressbox.embedded.archive import ArchiveManifest
from pressbox.embedded.backup import write_backup
from pressbox.embedded.home import Home
from pressbox.embedded.instance_lock import InstanceLock
from pressbox.embedded.postgres import EmbeddedPostgres
from pressbox.embedded.restore import restore_backup
from pressbox.entry.commands.instance import backup
from tests.folders import reachable_folder
from tests.other_user import open_to_others

cli = Typer()
cli.command()(backup)

VERSION = "0.1.0"
KEYS = ("clips/one.mp4", "articles/ünï code.txt", "scratch/empty")


@dataclass(frozen=True)
class Original:
    """An instance with something of everything, and its backup."""

    settings: Settings
    file: Path
    manifest: ArchiveManifest


def fill(home: Home, url: str) -> None:
    with psycopg.connect(url) as connection:
        connection.execute("CREATE SCHEMA core CREATE TABLE kept (id serial PRIMARY KEY, text text)")
        connection.execute("INSERT INTO core.kept (text) SELECT 'row ' || n FROM generate_series(1, 1000) AS n")
        connection.execute("CREATE EXTENSION vector")
    with closing(sqlite3.connect(home.temporal / "temporal.db")) as state:
        state.execute("PRAGMA journal_mode=wal")
        state.execute("CREATE TABLE runs (id text)")
        state.execute("INSERT INTO runs VALUES ('maintenance')")
        state.commit()

    async def put() -> None:
        store = open_store(ObjectsSettings(), home.objects)
        for key in KEYS:
            await store.put(key, key.encode() * (0 if key.endswith("empty") else 5000))

    asyncio.run(put())
    (home.secrets / "x-session").write_bytes(b"a sealed login")


def rows(url: str) -> int:
    with psycopg.connect(url) as connection:
        found = connection.execute("SELECT count(*) FROM core.kept").fetchone()
    assert found is not None
    return int(found[0])


def objects(settings: Settings) -> dict[str, bytes]:
    async def read() -> dict[str, bytes]:
        store = open_store(ObjectsSettings(), Home(settings.home).objects)
        return {info.key: await store.get(info.key) async for info in store.list()}

    return asyncio.run(read())


@pytest.fixture(scope="module")
def original() -> Iterator[Original]:
    with reachable_folder() as folder:
        home = Home(folder / "home")
        home.create()
        postgres = EmbeddedPostgres(home)
        postgres.start()
        fill(home, postgres.url)
        postgres.stop()
        settings = Settings(home=home.path)
        file = folder / "backup.tar.gz"
        yield Original(settings, file, write_backup(settings, file, product_version=VERSION))


def test_everything_comes_back_on_an_empty_home(original: Original, folder: Path) -> None:
    settings = Settings(home=folder / "new")
    restore_backup(settings, original.file, product_version=VERSION)
    home = Home(settings.home)
    postgres = EmbeddedPostgres(home)
    postgres.start()
    try:
        assert rows(postgres.url) == 1000
    finally:
        postgres.stop()
    with closing(sqlite3.connect(home.temporal / "temporal.db")) as state:
        assert state.execute("SELECT id FROM runs").fetchall() == [("maintenance",)]
    assert objects(settings) == objects(original.settings)
    assert set(objects(settings)) == set(KEYS)
    assert home.secret_key() == Home(original.settings.home).secret_key()
    assert home.database_password() != Home(original.settings.home).database_password()
    assert (home.secrets / "x-session").read_bytes() == b"a sealed login"
    assert open_to_others(home.path) == []
    assert not list(home.path.glob("restore-*"))


def test_the_archive_is_private_and_says_what_it_holds(original: Original) -> None:
    assert stat.S_IMODE(original.file.stat().st_mode) == 0o600
    assert original.manifest.secret_key_included
    assert original.manifest.not_included == ()
    assert {member.name for member in original.manifest.members} == {
        *("database.dump", "temporal.db", "secret-key", "secrets/x-session"),
        *(f"objects/{key}" for key in KEYS),
    }
    assert [path.name for path in original.file.parent.iterdir() if path.name.startswith(".")] == []


def test_a_home_with_data_is_only_replaced_by_force_and_then_wholly(original: Original, folder: Path) -> None:
    settings = Settings(home=folder / "home")
    home = Home(settings.home)
    restore_backup(settings, original.file, product_version=VERSION)
    asyncio.run(open_store(ObjectsSettings(), home.objects).put("made/later", b"new"))
    (home.path / "index").mkdir()
    (home.path / "index" / "current").write_text("of rows that are gone after the restore")
    with pytest.raises(ConflictError, match="--force"):
        restore_backup(settings, original.file, product_version=VERSION)
    assert "made/later" in objects(settings)
    restore_backup(settings, original.file, product_version=VERSION, force=True)
    assert objects(settings) == objects(original.settings)
    assert not (home.path / "index").exists(), "it is rebuilt from what was restored"


def test_a_running_instance_is_not_restored_over(original: Original, folder: Path) -> None:
    settings = Settings(home=folder / "home")
    home = Home(settings.home)
    home.create()
    with InstanceLock(home), pytest.raises(ConflictError, match=f"pid {os.getpid()}"):
        restore_backup(settings, original.file, product_version=VERSION, force=True)


def repacked(file: Path, target: Path, *, name: str, content: bytes, kind: bytes = tarfile.REGTYPE) -> Path:
    """The same archive with one member added in front of the manifest."""
    with tarfile.open(file) as old, tarfile.open(target, "w:gz") as new:
        for entry in old:
            if entry.name == "manifest.json":
                added = tarfile.TarInfo(name)
                added.size, added.type, added.linkname = len(content), kind, "/etc/passwd"
                new.addfile(added, io.BytesIO(content))
            new.addfile(entry, old.extractfile(entry))
    return target


def changed(file: Path, target: Path) -> Path:
    """The same archive with one byte of the database flipped."""
    with tarfile.open(file) as old, tarfile.open(target, "w:gz") as new:
        for entry in old:
            content = old.extractfile(entry)
            assert content is not None
            data = content.read()
            if entry.name == "database.dump":
                data = data[:-1] + bytes([data[-1] ^ 1])
            new.addfile(entry, io.BytesIO(data))
    return target


def test_bad_archives_are_refused_and_leave_the_home_as_it_was(original: Original, folder: Path) -> None:
    whole = original.file.read_bytes()
    files = {
        "cut.tar.gz": whole[: len(whole) // 2],
        "cut-at-the-end.tar.gz": whole[:-20],
        "text.tar.gz": b"this is not an archive",
        "empty.tar.gz": b"",
        "other.tar.gz": gzip.compress(b"something else"),
    }
    bad = [folder / name for name in files]
    for path in bad:
        path.write_bytes(files[path.name])
    bad += [
        repacked(original.file, folder / "up.tar.gz", name="objects/../../evil", content=b"x"),
        repacked(original.file, folder / "absolute.tar.gz", name="/tmp/evil", content=b"x"),
        repacked(original.file, folder / "link.tar.gz", name="objects/link", content=b"", kind=tarfile.SYMTYPE),
        repacked(original.file, folder / "stranger.tar.gz", name="objects/extra", content=b"x"),
        repacked(original.file, folder / "twice.tar.gz", name="temporal.db", content=b"x"),
        changed(original.file, folder / "flipped.tar.gz"),
    ]
    settings = Settings(home=folder / "home")
    Home(settings.home).create()
    before = sorted(path.relative_to(folder) for path in settings.home.rglob("*"))
    for path in bad:
        with pytest.raises(PermanentError, match="Nothing was changed"):
            restore_backup(settings, path, product_version=VERSION)
    after = sorted(path.relative_to(folder) for path in settings.home.rglob("*") if path.name != "up.lock")
    assert after == before
    assert not Path("/tmp/evil").exists()


def test_a_missing_file_and_a_newer_version_are_named(original: Original, folder: Path) -> None:
    settings = Settings(home=folder / "home")
    with pytest.raises(InvalidInputError, match="no backup file"):
        restore_backup(settings, folder / "nowhere.tar.gz", product_version=VERSION)
    with pytest.raises(PermanentError, match=r"0\.1\.0"):
        restore_backup(settings, original.file, product_version="0.0.9")


def test_a_database_of_a_newer_version_is_refused(
    original: Original, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pressbox.embedded.backup.database_revision", lambda url: "9999")
    newer = folder / "newer.tar.gz"
    write_backup(original.settings, newer, product_version=VERSION)
    with pytest.raises(PermanentError, match=r"9999.*Nothing was changed"):
        restore_backup(Settings(home=folder / "home"), newer, product_version=VERSION)
    assert not (folder / "home" / "temporal" / "temporal.db").exists()


def test_a_key_that_cannot_open_the_seals_is_refused_before_anything_changes(original: Original, folder: Path) -> None:
    other = Settings(home=folder / "home", secret_key=SecretStr("the key of another machine, which opens nothing"))
    with pytest.raises(ConfigurationError, match=r"PRESSBOX_SECRET_KEY is not the one.*--with-other-key"):
        restore_backup(other, original.file, product_version=VERSION)
    without = folder / "without.tar.gz"
    write_backup(original.settings, without, product_version=VERSION, with_secret_key=False)
    fresh = Settings(home=folder / "fresh")
    with pytest.raises(ConfigurationError, match=r"without its secret key.*--with-other-key"):
        restore_backup(fresh, without, product_version=VERSION)
    for settings in (other, fresh):
        assert not (settings.home / "temporal" / "temporal.db").exists()
    Home(fresh.home).secret_key_file.write_text(Home(original.settings.home).secret_key())
    restore_backup(fresh, without, product_version=VERSION)
    restore_backup(other, original.file, product_version=VERSION, with_other_key=True)


def test_a_disk_that_keeps_something_else_than_was_written_is_noticed(
    original: Original, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = os.fsync

    def flip(descriptor: int) -> None:
        size = os.fstat(descriptor).st_size
        os.pwrite(descriptor, b"\0\0\0\0", size // 2)
        real(descriptor)

    monkeypatch.setattr("pressbox.embedded.archive.os.fsync", flip)
    with pytest.raises(PermanentError, match="damaged"):
        write_backup(original.settings, folder / "lost.tar.gz", product_version=VERSION)
    assert list(folder.iterdir()) == []


def test_an_archive_can_be_checked_alone(original: Original, folder: Path) -> None:
    runner = CliRunner()
    good = runner.invoke(cli, [str(original.file), "--check"])
    assert (good.exit_code, "is whole" in good.output, "Temporal's state" in good.output) == (0, True, True)
    bad = runner.invoke(cli, [str(changed(original.file, folder / "flipped.tar.gz")), "--check"])
    assert isinstance(bad.exception, PermanentError)
    assert "do not match their checksums" in bad.exception.message


def test_a_folder_that_cannot_be_written_is_named_and_scratch_files_may_lie_elsewhere(
    original: Original, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def read_only(*_: object, **__: object) -> None:
        raise OSError(errno.EROFS, os.strerror(errno.EROFS))

    scratch, target = folder / "scratch", folder / "target"
    scratch.mkdir()
    target.mkdir()
    write_backup(original.settings, target / "good.tar.gz", product_version=VERSION, scratch=scratch)
    assert [path.name for path in folder.rglob("*") if path.is_file()] == ["good.tar.gz"]
    # A disk that is mounted read-only refuses even to remove what is not there.
    with monkeypatch.context() as disk:
        disk.setattr("pressbox.embedded.archive.os.open", read_only)
        disk.setattr(Path, "unlink", read_only)
        with pytest.raises(ConfigurationError, match=r"cannot be written: Read-only file system.*--scratch"):
            write_backup(original.settings, target / "bad.tar.gz", product_version=VERSION)


def test_the_secret_key_stays_home_when_asked(original: Original, folder: Path) -> None:
    manifest = write_backup(
        original.settings, folder / "without.tar.gz", product_version=VERSION, with_secret_key=False
    )
    assert not manifest.secret_key_included
    assert not manifest.has("secret-key")
    key = Home(original.settings.home).secret_key().encode()
    assert key not in gzip.decompress((folder / "without.tar.gz").read_bytes())
    assert key in gzip.decompress(original.file.read_bytes())


def test_an_external_database_is_replaced_in_one_step_and_external_workflows_are_named(
    original: Original, folder: Path
) -> None:
    server_home = Home(folder / "server")
    server_home.create()
    server = EmbeddedPostgres(server_home)
    server.start()
    try:
        settings = Settings(
            home=folder / "home",
            database=DatabaseSettings(url=SecretStr(server.url)),
            temporal=TemporalSettings(address="temporal.example.org:7233"),
        )
        restore_backup(settings, original.file, product_version=VERSION)
        assert rows(server.url) == 1000
        with psycopg.connect(server.url) as connection:
            connection.execute("DELETE FROM core.kept")
        with pytest.raises(ConflictError, match="--force"):
            restore_backup(settings, original.file, product_version=VERSION)
        restore_backup(settings, original.file, product_version=VERSION, force=True)
        assert rows(server.url) == 1000
        manifest = write_backup(settings, folder / "external.tar.gz", product_version=VERSION)
        assert "external Temporal" in manifest.not_included[0]
    finally:
        server.stop()


def test_a_backup_that_cannot_be_written_leaves_no_file_and_says_why(original: Original, folder: Path) -> None:
    with pytest.raises(PressboxError, match="cannot be written"):
        write_backup(original.settings, folder / "no" / "such" / "folder.tar.gz", product_version=VERSION)
    with pytest.raises(PermanentError, match="nothing to back up"):
        write_backup(Settings(home=folder / "nowhere"), folder / "file.tar.gz", product_version=VERSION)
    assert list(folder.iterdir()) == []
