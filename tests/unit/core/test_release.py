"""What the program calls itself: its version, and the commit where there is one."""

import json
from importlib.metadata import PathDistribution
from pathlib import Path
from typing import Any

import pytest

from pressbox.core.config import WorkerSettings
from pressbox.core.release import read_release, release
from pressbox.core.temporal.versions import own_version

COMMIT = "0123456789abcdef0123456789abcdef01234567"
NAMED = "1.2.3+0123456789ab"


def installed(folder: Path, origin: dict[str, Any] | None) -> PathDistribution:
    noted = folder / "pressbox-1.2.3.dist-info"
    noted.mkdir()
    (noted / "METADATA").write_text("Metadata-Version: 2.1\nName: pressbox\nVersion: 1.2.3\n")
    if origin is not None:
        (noted / "direct_url.json").write_text(json.dumps(origin))
    return PathDistribution(noted)


def in_place(folder: Path) -> dict[str, Any]:
    return {"url": folder.as_uri(), "dir_info": {"editable": True}}


def write(file: Path, text: str) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(f"{text}\n")


@pytest.mark.parametrize(
    "files",
    [
        {".git/HEAD": COMMIT},
        {".git/HEAD": "ref: refs/heads/main", ".git/refs/heads/main": COMMIT},
        {
            ".git/HEAD": "ref: refs/heads/main",
            ".git/packed-refs": f"# pack-refs\n{'f' * 40} refs/x\n{COMMIT} refs/heads/main",
        },
        {
            ".git": "gitdir: first/.git/worktrees/second",
            "first/.git/worktrees/second/HEAD": "ref: refs/heads/second",
            "first/.git/worktrees/second/commondir": "../..",
            "first/.git/refs/heads/second": COMMIT,
        },
    ],
)
def test_a_checkout_that_is_used_in_place_names_its_commit(tmp_path: Path, files: dict[str, str]) -> None:
    folder = tmp_path / "a checkout"
    for name, text in files.items():
        write(folder / name, text)
    assert read_release(installed(tmp_path, in_place(folder))) == NAMED


def test_what_was_installed_from_a_repository_names_the_commit(tmp_path: Path) -> None:
    origin = {"url": "https://example.org/pressbox.git", "vcs_info": {"vcs": "git", "commit_id": COMMIT}}
    assert read_release(installed(tmp_path, origin)) == NAMED


@pytest.mark.parametrize("head", [None, "ref: refs/heads/none"])
def test_without_a_commit_the_version_stands_alone(tmp_path: Path, head: str | None) -> None:
    folder = tmp_path / "folder"
    if head:
        write(folder / ".git" / "HEAD", head)
    assert read_release(installed(tmp_path, in_place(folder))) == "1.2.3"


def test_a_wheel_and_a_copied_folder_have_no_commit(tmp_path: Path) -> None:
    write(tmp_path / "folder" / ".git" / "HEAD", COMMIT)
    (tmp_path / "wheel").mkdir()
    (tmp_path / "copy").mkdir()
    assert read_release(installed(tmp_path / "wheel", None)) == "1.2.3"
    copied = {"url": (tmp_path / "folder").as_uri(), "dir_info": {}}
    assert read_release(installed(tmp_path / "copy", copied)) == "1.2.3"


def test_workers_of_two_commits_are_two_versions_of_a_deployment() -> None:
    own = own_version(WorkerSettings(deployment="pressbox"))
    assert own is not None
    assert own.build_id == release()
