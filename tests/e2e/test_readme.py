"""The commands of README.md, as they stand there: in this order, on an instance on which one account was just made."""

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from pressbox.core.environment import child_environment
from pressbox.demo.instance import running_instance
from tests.architecture.source import ROOT
from tests.e2e.test_moving import environment, publishing
from tests.patience import patience

OPML = '<opml version="2.0"><body><outline type="rss" text="Harbour" xmlUrl="{base}/feed"/></body></opml>'
PASSWORD = "four words in a row"
# Its smallest size is measured with those of all others, in tests/integration/bench.
ELSEWHERE = ".venv/bin/pressbox bench "


def blocks() -> Iterator[tuple[str, list[str]]]:
    """The heading above each block of commands, and its lines."""
    text = (ROOT / "README.md").read_text()
    for section in re.split(r"^## ", text, flags=re.MULTILINE)[1:]:
        for block in re.findall(r"```sh\n(.*?)```", section, re.DOTALL):
            yield section.partition("\n")[0], [line for line in block.splitlines() if line and not line.startswith("#")]


def run(line: str, folder: Path, **variables: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        ["bash", "-c", line],
        # Twice, where a terminal would be asked to repeat it.
        input=f"{PASSWORD}\n{PASSWORD}\n",
        capture_output=True,
        text=True,
        cwd=folder,
        env=child_environment(**variables),
        timeout=patience(180),
    )


def test_the_blocks_of_the_readme_are_those_that_are_run_here() -> None:
    assert [heading for heading, _ in blocks()] == ["Two commands", "Every day"]
    (_, first), (_, daily) = blocks()
    assert len(daily) >= 9
    assert sum(line.startswith(ELSEWHERE) for line in daily) == 1
    for line in first:
        done = run(line.replace("make ", "make --dry-run ", 1), ROOT)
        assert done.returncode == 0, f"{line}: {done.stderr}"


@pytest.mark.slow
@pytest.mark.limit(900)
def test_every_day_in_order(reachable_folder: Path) -> None:
    folder, home = reachable_folder / "readme", reachable_folder / "readme-home"
    (folder / ".venv" / "bin").mkdir(parents=True)
    folder.chmod(0o711)
    (folder / ".venv" / "bin" / "pressbox").symlink_to(Path(sys.executable).with_name("pressbox"))
    with publishing() as publisher, running_instance(home, log=None, **environment()):
        (folder / "subscriptions.opml").write_text(OPML.format(base=publisher))
        variables = {"PRESSBOX_HOME": str(home), "PRESSBOX_HTTP_ALLOW": "127.0.0.0/8"}
        made = run(".venv/bin/pressbox user add you@example.org --admin --password-stdin", folder, **variables)
        assert made.returncode == 0, made.stderr
        ((_, daily),) = (block for block in blocks() if block[0] == "Every day")
        said = {}
        for line in daily:
            if not line.startswith(ELSEWHERE):
                written = line.replace("https://example.org", publisher).replace(
                    "user add ann@example.org", "user add ann@example.org --password-stdin"
                )
                done = run(written, folder, **variables)
                assert done.returncode == 0, f"{line}: {done.stdout}{done.stderr}"
                said[line.split("pressbox ", 1)[1].partition(" #")[0].split(" --user")[0].strip()] = done.stdout
    assert "read it back" in said["backup monday.tar.gz"]
    assert "Restored monday.tar.gz" in said["restore monday.tar.gz"]
    assert publisher in said["feeds add https://example.org"]
    assert "New feeds: 1. There already: 0." in said["feeds import subscriptions.opml"]
    assert "core-maintenance" in said["schedules list"]
