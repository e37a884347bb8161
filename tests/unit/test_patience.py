"""How much longer than on a quiet machine everything may take."""

import pytest

from tests import patience as module
from tests.patience import MOST, VARIABLE, Work, patience, slowness, slowness_of


@pytest.mark.parametrize(
    ("work", "load", "factor"),
    [
        (Work(0.3, 0.3), 0.5, 1.0),
        (Work(0.9, 0.3), 0.5, 3.0),
        (Work(1.0, 1.0), 0.5, 2.0),
        (Work(3.0, 1.0), 0.5, 6.0),
        (Work(0.3, 0.3), 8.0, 4.0),
        (Work(60.0, 0.3), 0.5, MOST),
    ],
    ids=["quiet", "shared with two", "a slow processor", "both", "others pause", "not for ever"],
)
def test_what_counts_as_slow(work: Work, load: float, factor: float) -> None:
    assert slowness_of(work, load, cores=2) == factor


def test_what_was_measured_once_holds_for_the_whole_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, "2.5")
    monkeypatch.setattr(module, "slowness", slowness.__wrapped__)
    assert patience(10) == 25
