"""Logs stay within their size and number while somebody writes to them."""

import stat
from pathlib import Path

from pressbox.embedded.log_rotation import LogRotation


def test_a_log_that_grew_is_moved_aside_and_its_writer_goes_on(tmp_path: Path) -> None:
    rotation = LogRotation(tmp_path, ("web", "worker"), max_bytes=100, kept=2)
    file = tmp_path / "web.log"
    with file.open("ab", buffering=0) as writer:
        for number in range(5):
            rotation.poll()
            writer.write(f"{number}".encode() * 60)
            rotation.poll()
            writer.write(f"{number}".encode() * 60)
        rotation.poll()
        writer.write(b"the latest")
    assert file.read_bytes() == b"the latest"
    assert (tmp_path / "web.log.1").read_bytes() == b"4" * 120
    assert (tmp_path / "web.log.2").read_bytes() == b"3" * 120
    assert sorted(path.name for path in tmp_path.iterdir()) == ["web.log", "web.log.1", "web.log.2"]
    assert stat.S_IMODE((tmp_path / "web.log.1").stat().st_mode) == 0o600


def test_keeping_none_only_empties(tmp_path: Path) -> None:
    (tmp_path / "web.log").write_text("x" * 200)
    LogRotation(tmp_path, ("web",), max_bytes=100, kept=0).poll()
    assert [(path.name, path.read_text()) for path in tmp_path.iterdir()] == [("web.log", "")]
