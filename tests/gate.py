"""Runs the tests and decides whether they passed: `python -m tests.gate [ARGUMENTS OF PYTEST]`, called by `make test`.

One to ten failures are run once more, alone and one after the other. What fails again has failed. What passes then is
listed as FLAKY, with its traceback, and is a fault to be mended: of the product or of the test. More failures are no
chance, and neither is a run that broke off.
"""

import os
import stat
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

import psutil

from tests.failures import Failure, Outcome, read_outcome
from tests.folders import reachable_folder, remove_leftovers
from tests.patience import slowness

MOST_BY_CHANCE = 10
SOME_FAILED = 1
# The end of the log fits into ten lines, and a line onto a screen.
MOST_NAMED = 7
LONGEST_REASON = 200
# Ignored by git, and overwritten by each run.
FLAKY_FILE = Path("build/flaky.txt")
OWN_PARTS = ("postgres", "temporal", "pressbox", "pytest", "chrom", "weed")


def main(arguments: Sequence[str]) -> int:
    for place in {Path(tempfile.gettempdir()), Path("/tmp")}:
        remove_leftovers(place)
    if os.environ.get("CI"):
        open_folders_above(Path.cwd())
    FLAKY_FILE.unlink(missing_ok=True)
    print(describe_machine(), flush=True)
    code, outcome = run(arguments)
    if code != SOME_FAILED or outcome is None or not may_be_chance(outcome):
        print(describe_failures(outcome.failures if outcome else [], "in the only run"), end="")
        return code
    first = {failure.test: failure for failure in outcome.failures}
    print(f"\n{len(first)} failed. Once more, alone:", flush=True)
    code, again = run(["-p", "no:randomly", *first])
    failed = again.failures if again else list(first.values())
    flaky = [failure for test, failure in first.items() if test not in {each.test for each in failed}]
    print(describe_flaky(flaky), end="")
    print(describe_failures(failed, "twice, the second time alone"), end="")
    return code


def may_be_chance(outcome: Outcome) -> bool:
    return outcome.complete and 0 < len(outcome.failures) <= MOST_BY_CHANCE


def run(arguments: Sequence[str]) -> tuple[int, Outcome | None]:
    with reachable_folder() as folder:
        file = folder / "failures.json"
        command = [sys.executable, "-m", "pytest", "-p", "tests.failures", "--failures-to", str(file), *arguments]
        code = subprocess.run(command, check=False).returncode
        return code, read_outcome(file)


def describe_machine() -> str:
    """What else may be the reason when a test is too slow."""
    load = ", ".join(f"{each:.1f}" for each in os.getloadavg())
    free = psutil.virtual_memory().available / 2**30
    lines = [
        f"machine: {os.cpu_count()} cores, load {load}, {free:.1f} GiB of memory free, patience times {slowness()}"
    ]
    others = find_others()
    if others:
        lines.append(f"also running here: {', '.join(others)}. A busy machine fails good tests.")
    return "\n".join(lines)


def find_others() -> list[str]:
    """Servers, browsers and tests of other runs."""
    own = {os.getpid(), *(parent.pid for parent in psutil.Process().parents())}
    found = [
        f"{process.info['name']} ({process.pid})"
        for process in psutil.process_iter(["name"])
        if process.pid not in own and any(part in (process.info["name"] or "") for part in OWN_PARTS)
    ]
    return found[:10]


def open_folders_above(checkout: Path) -> None:
    """Let other accounts pass through to the checkout: some tests act as one, and in CI nothing is skipped."""
    for folder in (checkout, *checkout.parents):
        facts = folder.stat()
        if facts.st_uid == os.geteuid() and not facts.st_mode & stat.S_IXOTH:
            folder.chmod(stat.S_IMODE(facts.st_mode) | stat.S_IXOTH)
            print(f"opened for other accounts: {folder}", flush=True)


def describe_flaky(flaky: Sequence[Failure]) -> str:
    if not flaky:
        return ""
    text = "".join(f"\nFLAKY {each.test} after {each.seconds:.1f} s\n{each.traceback}\n" for each in flaky)
    FLAKY_FILE.parent.mkdir(exist_ok=True)
    FLAKY_FILE.write_text(text)
    names = "".join(f"FLAKY {each.test}: {each.reason}\n" for each in flaky)
    return f"{text}\nPassed alone, and to be mended (also in {FLAKY_FILE}):\n{names}"


def describe_failures(failures: Sequence[Failure], times: str) -> str:
    if not failures:
        return ""
    load = os.getloadavg()[0]
    busy = f"the load is {load:.1f} on {os.cpu_count()} cores, patience times {slowness()}"
    lines = [f"\n{len(failures)} failed, {times}; {busy}:"]
    for each in failures[:MOST_NAMED]:
        lines += [f"FAILED {each.test} after {each.seconds:.1f} s: {shorten(each.reason)}"]
    if len(failures) > MOST_NAMED:
        lines += [f"and {len(failures) - MOST_NAMED} more, all with their tracebacks above."]
    lines += [f"Run one alone: make test ARGS=\"-n 0 '{failures[0].test}'\""]
    return "\n".join(lines) + "\n"


def shorten(reason: str) -> str:
    return reason if len(reason) <= LONGEST_REASON else f"{reason[: LONGEST_REASON - 1]}…"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
