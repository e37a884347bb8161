"""`pressbox demo` as a newcomer runs it: it plays, it is judged, and it leaves nothing behind."""

import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import httpx
import psutil
import pytest

from pressbox.core.environment import child_environment
from pressbox.embedded.ports import free_port
from pressbox.entry.cli import main
from tests.patience import patience
from tests.playing import LONGEST, find_home, kill_part, playing, wait_until_there_is

# A goal and its clip, each as soon as it is on its way to people.
WHEN_TOLD = "SELECT count(*) FROM core.notice_sends"
WHEN_CLIP = "SELECT count(*) FROM core.notices WHERE kind = 'goal' AND picture <> ''"


def demo(home: Path, *arguments: str) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [sys.executable, "-m", "pressbox", "demo", *arguments],
        env=child_environment(PRESSBOX_HOME=str(home), PRESSBOX_WEB_PORT=str(free_port())),
        text=True,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
    )


def processes_on(home: Path) -> list[str]:
    found = []
    for process in psutil.process_iter():
        try:
            words = [*process.cmdline(), process.environ().get("PRESSBOX_HOME", "")]
        except psutil.Error:
            continue
        if any(word.startswith(str(home)) for word in words) and process.status() != psutil.STATUS_ZOMBIE:
            found.append(" ".join(words))
    return found


@pytest.mark.slow
@pytest.mark.limit(900)
def test_headless_demo_with_a_killed_worker_meets_every_expectation(reachable_folder: Path) -> None:
    playing = demo(
        reachable_folder / "headless", "--headless", "--json", "--speed", "20",
        "--only", "tree", "--only", "maintenance", "--fault", "prune_sessions.after.kill",
    )  # fmt: skip
    output, _ = playing.communicate(timeout=patience(170))
    assert playing.returncode == 0, output
    findings = json.loads(output)["findings"]
    assert {finding["name"] for finding in findings} >= {"maintenance runs", "toy steps done"}
    assert all(finding["expected"] == finding["found"] for finding in findings)


@pytest.mark.slow
@pytest.mark.limit(900)
def test_the_reading_day_of_the_demo_is_as_its_script_says(reachable_folder: Path) -> None:
    playing = demo(reachable_folder / "reading", "--headless", "--json", "--speed", "4", "--only", "curator")
    output, _ = playing.communicate(timeout=patience(380))
    findings = json.loads(output)["findings"]
    assert [finding for finding in findings if finding["expected"] != finding["found"]] == []
    assert {finding["name"] for finding in findings} >= {"articles distilled", "feeds that recovered"}
    assert playing.returncode == 0


@pytest.mark.slow
@pytest.mark.limit(LONGEST + 120)
def test_a_goal_its_clip_and_the_referee_reach_everybody_once_although_parts_are_killed(reachable_folder: Path) -> None:
    """Each of them once, the worker when messages have left and Temporal does not know it; `make soak` does all."""
    folder = reachable_folder / "goal"
    folder.mkdir()
    folder.chmod(0o711)
    with playing(folder, "--only", "goal", "--fault", "send_notices.after.kill") as demo:
        home = find_home(folder)
        for question, part in ((WHEN_TOLD, "web"), (WHEN_CLIP, "temporal"), (WHEN_CLIP, "postgres")):
            assert wait_until_there_is(home, question, demo)
            kill_part(home, part, demo)
        output, _ = demo.communicate(timeout=patience(LONGEST))
    findings = {finding["name"]: finding for finding in json.loads(output)["findings"]}
    assert [finding for finding in findings.values() if finding["expected"] != finding["found"]] == []
    assert findings["phones that got the clip"]["found"] == 3
    assert {findings[f"goals taken back {way}"]["found"] for way in ("by mail", "in chats", "on phones")} == {3}
    assert demo.returncode == 0


@pytest.mark.slow
@pytest.mark.limit(900)
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL], ids=lambda number: number.name)
def test_a_demo_that_is_ended_leaves_nothing_running(reachable_folder: Path, number: signal.Signals) -> None:
    home = reachable_folder / f"demo-{number.name.lower()}"
    playing = demo(home, "--only", "tree")
    assert playing.stdout is not None
    line = playing.stdout.readline()
    address = line.split()[-1]
    assert httpx.get(address, trust_env=False, timeout=patience(30)).status_code == 200
    playing.send_signal(number)
    playing.wait(patience(60))
    playing.stdout.close()
    deadline = time.monotonic() + patience(60)
    while (left := processes_on(home)) and time.monotonic() < deadline:
        time.sleep(0.3)
    assert left == []


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--only", "nothing"), "No scenario nothing"),
        (("--only", "goal", "--only", "footy"), "Play one of them"),
        (("--fault", "x.y"), "is not a fault"),
        (("--speed", "0"), "speed"),
    ],
)
def test_wrong_use_is_said_and_exits_with_2(
    reachable_folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    arguments: tuple[str, ...],
    message: str,
) -> None:
    monkeypatch.setenv("PRESSBOX_HOME", str(reachable_folder / "wrong"))
    monkeypatch.setattr(sys, "argv", ["pressbox", "demo", *arguments])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 2
    assert message in "".join(capsys.readouterr())
