"""What the demo says of a round: figures that differ are named, so that nobody has to guess what went wrong."""

from pressbox.demo.player import Summary, describe_round
from pressbox.demo.stage import Finding


def test_a_round_says_what_was_found_otherwise() -> None:
    met, missed = Finding(name="goals", expected=3, found=3), Finding(name="clips", expected=5, found=4)
    assert describe_round(1, Summary(findings=(met,))) == "Round 1: as expected"
    told = describe_round(2, Summary(findings=(met, missed)))
    assert told.startswith("Round 2: differently than planned")
    assert "clips 4 (expected 5)" in told
    assert "goals" not in told
