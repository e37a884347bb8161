"""Temporary folders of processes that were killed are removed, and those of the living are not."""

import os
import subprocess
import sys
import time
from pathlib import Path

from pressbox.core.scratch import LEAST_AGE, ScratchFolder, remove_abandoned

OWNER = """
import sys
from pathlib import Path
from pressbox.core.scratch import ScratchFolder
folder = ScratchFolder("pressbox-test-", Path(sys.argv[1]))
(folder.path / "clip").write_text("bytes")
print(folder.path, flush=True)
sys.stdin.read()
"""


def age(folder: Path) -> None:
    long_ago = time.time() - 2 * LEAST_AGE.total_seconds()
    os.utime(folder, (long_ago, long_ago))


def test_what_a_killed_owner_left_is_removed_and_what_a_living_one_has_is_not(tmp_path: Path) -> None:
    command = [sys.executable, "-c", OWNER, str(tmp_path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as owner:
        assert owner.stdout is not None
        folder = Path(owner.stdout.readline().strip())
        age(folder)
        remove_abandoned("pressbox-test-", tmp_path)
        assert (folder / "clip").exists()
        owner.kill()
        owner.wait()
        remove_abandoned("pressbox-test-", tmp_path)
        assert not folder.exists()


def test_only_old_folders_of_this_name_are_removed(tmp_path: Path) -> None:
    old, new, other, target = (tmp_path / name for name in ("pressbox-test-a", "pressbox-test-b", "other", "target"))
    for folder in (old, new, other, target):
        folder.mkdir()
    link = tmp_path / "pressbox-test-link"
    link.symlink_to(target)
    for folder in (old, other, target):
        age(folder)
    os.utime(link, (0, 0), follow_symlinks=False)
    remove_abandoned("pressbox-test-", tmp_path)
    assert [folder.exists() for folder in (old, new, other, target, link)] == [False, True, True, True, True]


def test_a_process_looks_when_it_makes_its_first_folder(tmp_path: Path) -> None:
    left = tmp_path / "pressbox-first-left"
    left.mkdir()
    age(left)
    with ScratchFolder("pressbox-first-", tmp_path) as own:
        assert own.is_dir()
        assert not left.exists()
    assert not own.exists()
