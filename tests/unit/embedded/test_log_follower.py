"""`pressbox up --verbose` shows whole new lines, once, also across a rotation."""

from pathlib import Path

from pressbox.embedded.log_follower import LogFollower


def test_new_lines_are_shown_once_and_whole(tmp_path: Path) -> None:
    log = tmp_path / "web.log"
    log.write_text("from before\n")
    said: list[str] = []
    follower = LogFollower(tmp_path, ["web", "worker"], said.append)
    follower.poll()
    assert said == []
    with log.open("a") as file:
        file.write("first\nsec")
        file.flush()
        follower.poll()
        assert said == ["web      first"]
        file.write("ond\n")
    (tmp_path / "worker.log").write_text("started\n")
    follower.poll()
    follower.poll()
    assert said == ["web      first", "web      second", "worker   started"]


def test_a_rotated_file_is_read_from_its_start(tmp_path: Path) -> None:
    log = tmp_path / "web.log"
    log.write_text("a long line from before\n")
    said: list[str] = []
    follower = LogFollower(tmp_path, ["web"], said.append)
    log.replace(tmp_path / "web.log.1")
    log.write_text("fresh\n")
    follower.poll()
    assert said == ["web      fresh"]
