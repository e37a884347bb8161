"""The embedded PostgreSQL against its real binaries: first start, crash, take-over, ports, accounts."""

import os
import pwd
import shutil
import signal
import socket
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path

import psutil
import psycopg
import pytest

from pressbox.core.errors import ConfigurationError
from pressbox.embedded.home import Home
from pressbox.embedded.postgres import EmbeddedPostgres, installed_binaries
from pressbox.embedded.processes import ProcessRecord, SystemAccount, reachable, wait_until
from tests.folders import reachable_folder
from tests.other_user import as_another_user, needs_reachable_checkout, open_to_others
from tests.patience import patience

as_root_only = pytest.mark.skipif(os.geteuid() != 0, reason="needs root to change accounts")


@pytest.fixture(scope="module")
def postgres() -> Iterator[EmbeddedPostgres]:
    """One server that the gentler tests share."""
    with reachable_folder() as folder:
        home = Home(folder / "home")
        home.create()
        server = EmbeddedPostgres(home)
        server.start()
        yield server
        server.stop()


def write_row(server: EmbeddedPostgres, text: str) -> None:
    with psycopg.connect(server.url) as connection:
        connection.execute("CREATE TABLE IF NOT EXISTS kept (text text)")
        connection.execute("INSERT INTO kept VALUES (%s)", (text,))


def read_rows(server: EmbeddedPostgres) -> list[str]:
    with psycopg.connect(server.url) as connection:
        return [row[0] for row in connection.execute("SELECT text FROM kept ORDER BY 1")]


def test_rows_survive_kill_minus_nine_and_the_port_stays(postgres: EmbeddedPostgres) -> None:
    write_row(postgres, "before")
    port = postgres.port
    assert postgres.pid is not None
    os.kill(postgres.pid, signal.SIGKILL)
    postgres.start()
    assert read_rows(postgres) == ["before"]
    assert postgres.port == port


def test_a_second_handle_takes_over_the_running_server(postgres: EmbeddedPostgres) -> None:
    second = EmbeddedPostgres(postgres.home)
    second.start()
    assert second.pid == postgres.pid
    assert second.url == postgres.url


def test_a_leftover_is_replaced_when_it_must_be_our_own_child(home: Home) -> None:
    first, second = EmbeddedPostgres(home), EmbeddedPostgres(home)
    first.start()
    write_row(first, "kept")
    second.start(adopt=False)
    try:
        assert second.pid != first.pid
        assert read_rows(second) == ["kept"]
    finally:
        second.stop()
        first.stop()


def test_a_stranger_with_the_recorded_pid_is_left_alone(home: Home) -> None:
    server = EmbeddedPostgres(home)
    server.start()
    server.stop()
    with subprocess.Popen(["sleep", "60"]) as stranger:
        (server.data / "postmaster.pid").write_text(f"{stranger.pid}\n{server.data}\n1\n5432\n\n127.0.0.1\n")
        try:
            assert server.find_running() is None
            server.start(adopt=False)
            assert stranger.poll() is None
        finally:
            server.stop()
            stranger.kill()


def test_the_password_is_needed_and_no_socket_is_open(postgres: EmbeddedPostgres) -> None:
    url = postgres.url.replace(postgres.home.database_password(), "wrong-password")
    with pytest.raises(psycopg.OperationalError, match="password authentication failed"):
        psycopg.connect(url)
    assert not list(postgres.data.glob(".s.PGSQL*"))


def test_another_user_gets_neither_in_nor_the_password(postgres: EmbeddedPostgres) -> None:
    without_password = f"postgresql://pressbox@127.0.0.1:{postgres.port}/pressbox?connect_timeout=5"

    def enter() -> str:
        try:
            psycopg.connect(without_password).close()
        except psycopg.OperationalError as error:
            return str(error)
        return "connected"

    assert "no password supplied" in as_another_user(enter)
    assert open_to_others(postgres.home.path) == []


def test_the_extensions_of_the_product_are_there(postgres: EmbeddedPostgres) -> None:
    with psycopg.connect(postgres.url) as connection:
        for extension in ("vector", "pg_trgm", "unaccent", "citext"):
            connection.execute(f"CREATE EXTENSION {extension}")
        assert connection.execute("SHOW fsync").fetchone() == ("on",)


def test_a_remembered_port_that_is_taken_gives_way(home: Home) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        home.remember_port("postgres", port)
        server = EmbeddedPostgres(home)
        server.start()
        try:
            assert server.port != port
            assert server.answers()
        finally:
            server.stop()


def test_a_chosen_port_that_is_taken_is_named_with_its_holder_and_setting(home: Home) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(ConfigurationError, match=rf"{port}.*pid {os.getpid()}.*PRESSBOX_DATABASE_PORT"):
            EmbeddedPostgres(home, port=port).start()


def test_a_cluster_of_another_version_is_named_and_not_touched(home: Home) -> None:
    server = EmbeddedPostgres(home)
    server.start()
    server.stop()
    (server.data / "PG_VERSION").write_text("15\n")
    with pytest.raises(ConfigurationError, match=r"PostgreSQL 15.*pressbox backup"):
        server.start()
    assert server.process is None


def test_a_very_long_home_path_works(folder: Path) -> None:
    home = Home(folder / ("long" * 30) / ("deep" * 30))
    home.path.parent.mkdir(mode=0o711)
    home.create()
    server = EmbeddedPostgres(home)
    server.start()
    server.stop()


@as_root_only
def test_root_lends_the_server_another_account(postgres: EmbeddedPostgres) -> None:
    cluster = postgres.home.postgres.stat()
    assert psutil.Process(postgres.pid).uids().real != 0
    assert cluster.st_uid == psutil.Process(postgres.pid).uids().real
    assert cluster.st_mode & 0o777 == 0o700


@as_root_only
def test_root_is_told_when_the_home_cannot_be_reached_by_that_account(folder: Path) -> None:
    (folder / "closed").mkdir(mode=0o700)
    home = Home(folder / "closed" / "home")
    home.create()
    with pytest.raises(ConfigurationError, match="/var/lib/pressbox"):
        EmbeddedPostgres(home).start()


CHILD = textwrap.dedent("""
    import sys, time
    from pathlib import Path
    from pressbox.embedded.home import Home
    from pressbox.embedded.postgres import EmbeddedPostgres, installed_binaries
    home = Home(Path(sys.argv[1]))
    home.create()
    server = EmbeddedPostgres(home)
    server.start()
    print("pid", server.pid, flush=True)
    time.sleep(60)
""")


def announced(supervisor: subprocess.Popen[bytes]) -> psutil.Process:
    """The server that a child process says it started."""
    assert supervisor.stdout is not None
    line = next(line for line in supervisor.stdout if line.startswith(b"pid "))
    return psutil.Process(int(line.split()[1]))


def test_the_server_ends_with_a_supervisor_that_was_killed(folder: Path) -> None:
    with subprocess.Popen([sys.executable, "-c", CHILD, str(folder / "home")], stdout=subprocess.PIPE) as supervisor:
        server = ProcessRecord.of(announced(supervisor))
        supervisor.kill()
        assert wait_until(lambda: server.find() is None, patience(15))


@as_root_only
def test_binaries_that_the_account_cannot_reach_are_copied_into_the_home(folder: Path) -> None:
    private = folder / "private"
    private.mkdir(mode=0o700)
    package = installed_binaries().parent
    for name in (package.name, f"{package.name}.libs"):
        shutil.copytree(package.with_name(name), private / name, symlinks=True)
    older = folder / "home" / "postgres" / "binaries-1"
    Home(folder / "home").create()
    older.mkdir(parents=True)
    with subprocess.Popen(
        [sys.executable, "-c", CHILD, str(folder / "home")],
        stdout=subprocess.PIPE,
        env={"PYTHONPATH": str(private), "PATH": os.defpath},
        umask=0o077,
    ) as supervisor:
        server = announced(supervisor)
        assert str(folder / "home" / "postgres") in server.exe()
        assert not older.exists()
        record = ProcessRecord.of(server)
        supervisor.kill()
        assert wait_until(lambda: record.find() is None, patience(15))


@as_root_only
def test_a_normal_user_needs_no_other_account(folder: Path) -> None:
    needs_reachable_checkout()
    nobody = pwd.getpwnam("nobody")
    os.chown(folder, nobody.pw_uid, nobody.pw_gid)
    # The interpreter of root's virtualenv may lie below root's private folder.
    interpreter = next(
        path
        for path in (sys.executable, "/usr/bin/python3")
        if reachable(Path(path).resolve(), SystemAccount(nobody.pw_uid, nobody.pw_gid))
    )
    with subprocess.Popen(
        [interpreter, "-c", CHILD, str(folder / "home")],
        stdout=subprocess.PIPE,
        env={"PYTHONPATH": os.pathsep.join(path for path in sys.path if path)},
        user=nobody.pw_uid,
        group=nobody.pw_gid,
        extra_groups=[],
        cwd=folder,
    ) as supervisor:
        server = announced(supervisor)
        assert server.uids().real == nobody.pw_uid
        assert (folder / "home").stat().st_mode & 0o777 == 0o700
        record = ProcessRecord.of(server)
        supervisor.kill()
        assert wait_until(lambda: record.find() is None, patience(15))
