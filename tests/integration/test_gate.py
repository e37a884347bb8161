"""The gate on toy suites: what fails twice fails the run, what passes alone is listed, many failures are no chance."""

import re
import signal
import socket
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from tests.folders import remove_leftovers
from tests.gate import open_folders_above

REPOSITORY = Path(__file__).parents[2]
# Fails in the first run and passes in the second.
FLAKY = """
from pathlib import Path
def test_{name}():
    mark = Path(__file__).with_name("{name}.mark")
    first, _ = not mark.exists(), mark.touch()
    assert not first, "the first time"
"""
BROKEN = """
def test_{name}():
    assert "{name}" == "whole"
"""
WHOLE = """
def test_{name}():
    pass
"""


def play(folder: Path, *tests: str, arguments: tuple[str, ...] = ()) -> subprocess.CompletedProcess[str]:
    (folder / "pytest.ini").write_text("[pytest]\n")
    text = "".join(test.replace("{name}", f"number_{number}") for number, test in enumerate(tests))
    (folder / "test_toy.py").write_text(text)
    command = [sys.executable, "-m", "tests.gate", "-c", str(folder / "pytest.ini"), "-p", "no:randomly"]
    # Node ids are relative to where pytest starts, as in `make test`.
    return subprocess.run(
        [*command, *arguments, str(folder / "test_toy.py")],
        cwd=folder,
        env={"PYTHONPATH": str(REPOSITORY), "PATH": "/usr/bin:/bin"},
        capture_output=True,
        text=True,
        check=False,
    )


def test_a_suite_that_passes_passes_at_once(tmp_path: Path) -> None:
    played = play(tmp_path, WHOLE, WHOLE)
    assert played.returncode == 0, played.stdout
    assert "Once more" not in played.stdout
    assert re.search(r"^machine: .* load .* memory free, patience times \d+\.\d$", played.stdout, re.MULTILINE)


@pytest.mark.parametrize("arguments", [(), ("-n", "2")], ids=["in one process", "in two"])
def test_what_passes_alone_is_listed_with_its_traceback(tmp_path: Path, arguments: tuple[str, ...]) -> None:
    played = play(tmp_path, WHOLE, FLAKY, arguments=arguments)
    assert played.returncode == 0, played.stdout
    assert "FLAKY test_toy.py::test_number_1: AssertionError: the first time" in played.stdout
    kept = (tmp_path / "build" / "flaky.txt").read_text()
    assert "assert not first" in kept
    again = play(tmp_path, WHOLE, FLAKY)
    assert "FLAKY" not in again.stdout
    assert not (tmp_path / "build" / "flaky.txt").exists()


def test_what_fails_twice_fails_the_run_and_says_how_to_run_it(tmp_path: Path) -> None:
    played = play(tmp_path, BROKEN, FLAKY)
    assert played.returncode == 1
    end = played.stdout[played.stdout.index("Passed alone") :]
    assert "FLAKY test_toy.py::test_number_1" in end
    assert "FAILED test_toy.py::test_number_0" in end
    assert "AssertionError: assert 'number_0' == 'whole'" in end
    assert "make test ARGS=\"-n 0 'test_toy.py::test_number_0'\"" in end


def test_more_failures_than_ten_are_no_chance(tmp_path: Path) -> None:
    played = play(tmp_path, *[FLAKY] * 11)
    assert played.returncode == 1
    assert "Once more" not in played.stdout


def test_the_end_of_the_log_is_ten_lines_that_say_enough(tmp_path: Path) -> None:
    long = BROKEN.replace('"whole"', '"whole" * 1_000')
    end = play(tmp_path, long, *[BROKEN] * 11).stdout.splitlines()[-10:]
    assert re.fullmatch(r"12 failed, in the only run; the load is [\d.]+ on \d+ cores, patience times [\d.]+:", end[0])
    failed = [line for line in end if line.startswith("FAILED test_toy.py::test_number_")]
    assert len(failed) == 7
    assert all(re.search(r" after \d+\.\d s: AssertionError: assert ", line) for line in failed)
    assert max(len(line) for line in failed) < 300
    assert end[-2:] == [
        "and 5 more, all with their tracebacks above.",
        "Run one alone: make test ARGS=\"-n 0 'test_toy.py::test_number_0'\"",
    ]


def test_a_run_that_broke_off_is_not_repeated(tmp_path: Path) -> None:
    """The tests behind the first failure had no turn: that this one passes alone says nothing of them."""
    played = play(tmp_path, FLAKY, BROKEN, arguments=("-x",))
    assert played.returncode == 1
    assert "Once more" not in played.stdout


def test_a_file_that_cannot_be_imported_fails_the_run(tmp_path: Path) -> None:
    played = play(tmp_path, "import nothing_of_this_name\n")
    assert played.returncode == 2
    assert "Once more" not in played.stdout
    end = played.stdout.splitlines()[-3:]
    assert end[0].startswith("1 failed, in the only run; the load is ")
    assert end[1] == ("FAILED test_toy.py after 0.0 s: ModuleNotFoundError: No module named 'nothing_of_this_name'")


def test_a_test_whose_process_dies_is_run_once_more(tmp_path: Path) -> None:
    deadly = "import os\n" + FLAKY.replace('assert not first, "the first time"', "first and os._exit(3)")
    played = play(tmp_path, WHOLE, deadly, arguments=("-n", "2"))
    assert played.returncode == 0, played.stdout
    assert "FLAKY test_toy.py::test_number_1" in played.stdout


def test_an_interruption_reaches_tests_also_where_the_shell_had_it_ignored() -> None:
    """A job in the background of a shell ignores SIGINT, and so would everything that tests start."""
    program = "import signal, tests.conftest; print(signal.getsignal(signal.SIGINT) is signal.default_int_handler)"
    played = subprocess.run(
        [sys.executable, "-c", program],
        cwd=REPOSITORY,
        capture_output=True,
        text=True,
        check=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_IGN),
    )
    assert played.stdout.strip() == "True"


def test_what_killed_runs_left_is_removed_and_nothing_else(tmp_path: Path) -> None:
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    for name in (f"pressbox-tests-{ended.pid}-a", "pressbox-tests-1-a", "other"):
        (tmp_path / name).mkdir()
    with socket.socket(socket.AF_UNIX) as dead:
        dead.bind(str(tmp_path / "seaweedfs-s3-grpc-1.sock"))
    with socket.socket(socket.AF_UNIX) as alive:
        alive.bind(str(tmp_path / "seaweedfs-s3-grpc-2.sock"))
        alive.listen()
        remove_leftovers(tmp_path)
    left = {each.name for each in tmp_path.iterdir()}
    assert left == {"pressbox-tests-1-a", "other", "seaweedfs-s3-grpc-2.sock"}


def test_a_checkout_in_a_private_folder_is_opened_for_tests_that_act_as_others(tmp_path: Path) -> None:
    private, checkout = tmp_path / "private", tmp_path / "private" / "checkout"
    checkout.mkdir(parents=True)
    private.chmod(0o700)
    open_folders_above(checkout)
    assert stat.S_IMODE(private.stat().st_mode) == 0o701
