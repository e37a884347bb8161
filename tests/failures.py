"""A pytest plugin: writes what failed, and whether all tests were run, into the file that `--failures-to` names."""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import pytest


@dataclass(frozen=True)
class Failure:
    test: str
    seconds: float
    traceback: str

    @property
    def reason(self) -> str:
        """The last line in which pytest says what was raised."""
        said = [line[1:].strip() for line in self.traceback.splitlines() if line.startswith("E ")]
        lines = self.traceback.strip().splitlines()
        return said[0] if said else lines[-1] if lines else "no reason was given"


@dataclass(frozen=True)
class Outcome:
    """`complete` is False when the run ended before all of its tests had their turn."""

    complete: bool
    failures: Sequence[Failure]


def read_outcome(file: Path) -> Outcome | None:
    """What the run wrote, or None when it broke off before that."""
    if not file.exists():
        return None
    found = json.loads(file.read_text())
    return Outcome(found["complete"], [Failure(**failure) for failure in found["failures"]])


class Recorder:
    def __init__(self, file: Path) -> None:
        self._file = file
        self._failures: dict[str, Failure] = {}

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self._note(report, report.duration)

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """A file that cannot be imported fails before its tests have a name."""
        self._note(report, 0.0)

    def _note(self, report: pytest.TestReport | pytest.CollectReport, seconds: float) -> None:
        if report.failed:
            self._failures.setdefault(report.nodeid, Failure(report.nodeid, seconds, report.longreprtext))

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        complete = not (session.shouldfail or session.shouldstop)
        failures = [asdict(failure) for failure in self._failures.values()]
        self._file.write_text(json.dumps({"complete": complete, "failures": failures}))


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--failures-to", type=Path, help="Write what failed into this file.")


def pytest_configure(config: pytest.Config) -> None:
    file: Path | None = config.getoption("--failures-to")
    # Processes that share the tests report to the one that shares them out.
    if file is not None and not hasattr(config, "workerinput"):
        config.pluginmanager.register(Recorder(file), "recorder of failures")
