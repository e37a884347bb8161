"""We read feeds as feedparser does: its own suite as a conformance test.

`pytest -s` shows the figure, and by name what differs and what is left out.
"""

import sys
from collections import defaultdict

import pytest

from tests.shared_data import shared
from tests.unit.curator.feedparser_suite import find_difference, load_cases, reason_to_leave_out

LEAST = 0.95
FOLDER = shared("providers/feeds")


@pytest.mark.skipif(FOLDER is None, reason="feedparser's suite is not here, see tests/shared_data.py")
def test_feeds_are_read_as_feedparser_reads_them() -> None:
    assert FOLDER is not None
    left_out: dict[str, list[str]] = defaultdict(list)
    different: dict[str, str] = {}
    compared = 0
    for case in load_cases(FOLDER):
        reason = reason_to_leave_out(case)
        if reason:
            left_out[reason].append(case.name)
            continue
        compared += 1
        if difference := find_difference(case):
            different[case.name] = difference
    same = compared - len(different)
    lines = [f"feedparser's suite: {same} of {compared} cases agree ({same / compared:.1%})."]
    lines += [f"Different: {name}: {difference}" for name, difference in different.items()]
    lines += [f"Left out, because {reason}: {', '.join(names)}" for reason, names in left_out.items()]
    sys.stdout.write("\n".join(("", *lines, "")))
    assert compared > 1000
    assert same / compared >= LEAST
