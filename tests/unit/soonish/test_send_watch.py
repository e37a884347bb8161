"""The watch over one send, without a plugin: what it refuses, and how it reads Retry-After."""

import socket
import subprocess
import sys
import threading
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from pathlib import Path

import pytest

from pressbox.core.http.guard import AllowList
from pressbox.soonish.adapters.send_watch import MAX_RETRY_AFTER, Watch, parse_retry_after, watched

LONG = timedelta(seconds=5)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (None, None),
        ("", None),
        ("soon", None),
        ("-5", None),
        ("7", timedelta(seconds=7)),
        (" 7 ", timedelta(seconds=7)),
        ("99999999999999", MAX_RETRY_AFTER),
        ("Wed, 21 Oct 2015 07:28:00 GMT", timedelta()),
    ],
)
def test_retry_after_is_read_in_both_forms(value: str | None, expected: timedelta | None) -> None:
    assert parse_retry_after(value) == expected


def test_retry_after_as_a_date_is_the_time_until_then() -> None:
    wait = parse_retry_after(format_datetime(datetime.now(UTC) + timedelta(seconds=60), usegmt=True))
    assert wait is not None
    assert timedelta(seconds=57) < wait <= timedelta(seconds=60)


def test_datagrams_are_checked_like_connections() -> None:
    watch = Watch(AllowList(), LONG)
    with socket.socket(type=socket.SOCK_DGRAM) as connection, watched(watch), pytest.raises(PermissionError):
        connection.sendto(b"x", ("127.0.0.1", 9))
    assert "loopback" in watch.refused


def test_sockets_of_the_machine_are_refused(tmp_path: Path) -> None:
    watch = Watch(AllowList(), LONG)
    with socket.socket(socket.AF_UNIX) as connection, watched(watch), pytest.raises(PermissionError):
        connection.connect(str(tmp_path / "socket"))
    assert watch.refused


def test_a_name_that_is_looked_up_inside_the_connection_is_refused() -> None:
    watch = Watch(AllowList.parse(("127.0.0.0/8",)), LONG)
    with socket.socket() as connection, watched(watch), pytest.raises(PermissionError):
        connection.connect(("localhost", 9))


def test_no_program_is_started() -> None:
    watch = Watch(AllowList(), LONG)
    with watched(watch), pytest.raises(PermissionError):
        subprocess.run([sys.executable, "-c", ""], check=False)
    assert "program" in watch.refused


def test_only_files_of_python_itself_are_opened(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("x")
    watch = Watch(AllowList(), LONG)
    with watched(watch), pytest.raises(PermissionError):
        (tmp_path / "secret").read_text()
    assert "file" in watch.refused
    assert (tmp_path / "secret").read_text() == "x", "afterwards everything is as before"


def test_nothing_is_opened_after_the_time_is_over() -> None:
    watch = Watch(AllowList.parse(("127.0.0.0/8",)), timedelta(seconds=-1))
    with socket.socket() as connection, watched(watch), pytest.raises(TimeoutError):
        connection.connect(("127.0.0.1", 9))
    assert not watch.connected


def test_other_threads_are_not_watched(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    read: list[str] = []
    with watched(Watch(AllowList(), LONG)):
        other = threading.Thread(target=lambda: read.append((tmp_path / "file").read_text()))
        other.start()
        other.join()
    assert read == ["x"]
