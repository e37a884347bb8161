"""No regular expression takes more than its share of time, whatever text it is given."""

import subprocess
import sys

import pytest

from tests.architecture.patterns import BAD, BOUNDED, find_uses
from tests.architecture.source import ROOT


def run_program(*arguments: str) -> list[list[str]]:
    command = (sys.executable, "-m", "tests.architecture.patterns", *arguments)
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return [line.split("\t") for line in done.stdout.splitlines()]


@pytest.mark.slow
@pytest.mark.limit(1_800)
def test_no_pattern_takes_longer_than_its_text() -> None:
    assert run_program() == []


@pytest.mark.slow
@pytest.mark.limit(1_800)
def test_patterns_that_are_known_to_be_bad_are_found_and_good_ones_are_not() -> None:
    assert [place for place, *_ in run_program("--samples")] == ["bad"] * len(BAD)


def test_patterns_are_found_wherever_they_stand() -> None:
    found = {(use.place, use.method) for use in find_uses()}
    assert ("curator/ingest/edits.py:_COUNTER", "finditer") in found
    assert ("footy/web/ranges.py:_ONE_RANGE", "fullmatch") in found
    assert ("footy/adapters/downloads/page_program.py:'HTTP Error (\\\\d{3})'", "search") in found
    # In a tuple of tuples.
    assert ("curator/context/domain.py:_BY_TITLE", "finditer") in found
    assert set(BOUNDED) <= {place for place, _ in found}
