"""One moment says what a person may know of a subject."""

from datetime import UTC, datetime, timedelta

import pytest

from pressbox.core.errors import InvalidInputError
from pressbox.core.spoilers.choice import ALWAYS, NEVER, Sight, SpoilerChoice, SpoilerMode, choose

NOW = datetime(2026, 11, 17, 16, 0, tzinfo=UTC)
MATCH = "footy.fixture.9"


@pytest.mark.parametrize(
    ("choice", "revealed", "until"),
    [
        (choose("off"), frozenset(), ALWAYS),
        (choose("hidden"), frozenset(), NEVER),
        (choose("hidden"), frozenset({MATCH}), ALWAYS),
        (choose("hidden"), frozenset({"footy.fixture.10"}), NEVER),
        (choose("delay", 10), frozenset(), NOW - timedelta(minutes=10)),
        (choose("delay", 10), frozenset({MATCH}), ALWAYS),
    ],
)
def test_what_may_be_known_follows_the_choice_and_what_was_looked_at(
    choice: SpoilerChoice, revealed: frozenset[str], until: datetime
) -> None:
    sight = Sight(NOW, choice, revealed)
    assert sight.known_until(MATCH) == until
    assert sight.hides(MATCH) == (until == NEVER)


@pytest.mark.parametrize("minutes", [None, 0, 181, -5])
def test_a_delay_needs_a_number_of_minutes_that_makes_sense(minutes: int | None) -> None:
    with pytest.raises(InvalidInputError, match="between 1 and 180"):
        choose("delay", minutes)


def test_other_modes_need_no_minutes_and_unknown_ones_are_refused() -> None:
    assert choose("hidden", 500) == SpoilerChoice(SpoilerMode.HIDDEN)
    with pytest.raises(InvalidInputError, match="off, hidden or delay"):
        choose("later")
