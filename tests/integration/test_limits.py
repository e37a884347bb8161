"""The limit of a test on toy suites: what hangs is cancelled alone and cleaned up, and the next test has peace."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.patience import VARIABLE

REPOSITORY = Path(__file__).parents[2]
HEAD = """
import asyncio, pathlib, time, pytest

said = pathlib.Path(__file__).with_name("said")
def say(word):
    with said.open("a") as file:
        file.write(word + "\\n")

@pytest.fixture
async def part():
    yield
    say("fixture torn down")
"""
HANGING = """
@pytest.mark.limit(0.2)
async def test_hanging(part):
    try:
        await asyncio.Event().wait()
    finally:
        await asyncio.sleep(0)
        say("test cleaned up")
"""
AFTERWARDS = """
async def test_afterwards():
    say("next: " + str(len(asyncio.all_tasks())) + " task")
"""
SLOW_FIXTURES = """
@pytest.fixture
async def slow():
    await asyncio.sleep(0.4)
    yield
    await asyncio.sleep(0.4)

@pytest.mark.limit(0.2)
async def test_quick(slow):
    say("passed")
"""


def play(
    folder: Path, *tests: str, arguments: tuple[str, ...] = (), slowness: float = 1
) -> subprocess.CompletedProcess[str]:
    (folder / "pytest.ini").write_text("[pytest]\nasyncio_mode = auto\nasyncio_default_test_loop_scope = session\n")
    (folder / "test_toy.py").write_text("".join((HEAD, *tests)))
    command = [sys.executable, "-m", "pytest", "-p", "tests.limits", "-p", "no:randomly", "-c", "pytest.ini"]
    return subprocess.run(
        [*command, *arguments, "test_toy.py"],
        cwd=folder,
        env={"PYTHONPATH": str(REPOSITORY), "PATH": "/usr/bin:/bin", VARIABLE: str(slowness)},
        capture_output=True,
        text=True,
        check=False,
    )


def said(folder: Path) -> list[str]:
    return (folder / "said").read_text().splitlines()


@pytest.mark.parametrize("arguments", [(), ("-n", "1")], ids=["in one process", "beside it"])
def test_what_hangs_is_cancelled_and_cleaned_up_and_the_next_one_runs_alone(
    tmp_path: Path, arguments: tuple[str, ...]
) -> None:
    played = play(tmp_path, HANGING, AFTERWARDS, arguments=arguments, slowness=1.5)
    assert "1 failed, 1 passed" in played.stdout, played.stdout
    assert said(tmp_path) == ["test cleaned up", "fixture torn down", "next: 1 task"]
    assert "TooSlowError: longer than the limit of this test: 0.2 s, times 1.5 on this machine" in played.stdout
    assert "await asyncio.Event().wait()" in played.stdout, "where it hung"


def test_slow_fixtures_are_no_fault_of_the_test(tmp_path: Path) -> None:
    played = play(tmp_path, SLOW_FIXTURES)
    assert "1 passed" in played.stdout, played.stdout


def test_a_method_has_its_limit_too(tmp_path: Path) -> None:
    method = HANGING.replace("\n", "\n    ").replace("(part)", "(self, part)")
    played = play(tmp_path, f"\nclass TestToy:{method}")
    assert "TooSlowError: longer than the limit" in played.stdout, played.stdout
    assert said(tmp_path) == ["test cleaned up", "fixture torn down"]


@pytest.mark.parametrize(
    ("instead", "reason"),
    [
        ("return", "it took no notice of being cancelled"),
        ("raise ValueError('the end')", "longer than the limit of this test: 0.2 s"),
    ],
    ids=["passing", "another error"],
)
def test_a_test_that_hides_its_cancellation_fails_for_its_limit(tmp_path: Path, instead: str, reason: str) -> None:
    stubborn = HANGING.replace("finally:", "except asyncio.CancelledError:") + f"        {instead}\n"
    played = play(tmp_path, stubborn)
    assert "1 failed" in played.stdout, played.stdout
    assert reason in played.stdout


def test_a_timeout_inside_a_test_is_not_taken_for_its_limit(tmp_path: Path) -> None:
    played = play(tmp_path, "\nasync def test_own():\n    raise TimeoutError('of its own')\n")
    assert "TimeoutError: of its own" in played.stdout, played.stdout
    assert "limit of this test" not in played.stdout


@pytest.mark.parametrize(
    "test",
    [
        "@pytest.mark.limit(0.1)\ndef test_waiting():\n    {hang}",
        "@pytest.fixture\nasync def part():\n    {hang}\nasync def test_waiting(part):\n    pass",
    ],
    ids=["synchronous test", "fixture"],
)
def test_what_cannot_be_cancelled_ends_by_the_last_resort(tmp_path: Path, test: str) -> None:
    played = play(tmp_path, test.format(hang="time.sleep(3600)"), arguments=("--timeout=0.5",))
    assert "Timeout (>0.5s) from pytest-timeout" in played.stdout, played.stdout


def test_the_last_resort_is_behind_the_limit_of_each_test(tmp_path: Path) -> None:
    told = "\nasync def test_own(request):\n    say(str(request.node.get_closest_marker('timeout').args[0]))\n"
    marked = "@pytest.mark.limit(1000)" + told.replace("test_own", "test_longer")
    assert "2 passed" in play(tmp_path, told, marked, slowness=2).stdout
    assert said(tmp_path) == ["1800.0", "3200.0"]
