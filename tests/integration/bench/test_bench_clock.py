"""The clock benchmark, small: a few scorebugs are drawn, read and counted."""

from pressbox.bench.clock import Reading, read_one, run_clock
from pressbox.bench.scorebugs import Contrast, Notation, Place, Quality, Scorebug, draw, scorebugs
from pressbox.footy.domain.judgements import FrameJudgement


def a_scorebug(minute: int | None, *texts: str) -> Scorebug:
    return Scorebug(Notation.RUNNING, Place.TOP_LEFT, Contrast.DARK, Quality.GOOD, "plain", texts, minute, seed=1)


def test_a_few_scorebugs_are_read_right_and_none_wrong() -> None:
    steps: list[str] = []
    figures = {figure.name: figure for figure in run_clock(steps.append, pictures=6).figures}
    assert steps == ["0 of 6 scorebugs"]
    assert figures["clocks read right"].value >= 0.8
    assert figures["pictures read wrong"].value == 0
    assert figures["one picture when a clock is found"].value > 0


def test_a_reading_is_right_wrong_or_none() -> None:
    shown = a_scorebug(67, "67:12")
    assert read_one(shown, FrameJudgement(clock="67:30")) is Reading.RIGHT
    assert read_one(shown, FrameJudgement(clock="61:12")) is Reading.WRONG
    assert read_one(shown, FrameJudgement()) is Reading.NONE
    assert read_one(a_scorebug(None), FrameJudgement()) is Reading.RIGHT
    assert read_one(a_scorebug(None), FrameJudgement(clock="12:30")) is Reading.WRONG
    assert read_one(a_scorebug(96, "90:00", "+6:10"), FrameJudgement(clock="90:00")) is Reading.NONE


def test_the_same_numbers_draw_the_same_pictures() -> None:
    assert scorebugs(5) == scorebugs(5)
    assert draw(scorebugs(1)[0]).jpeg == draw(scorebugs(1)[0]).jpeg
