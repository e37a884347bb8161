"""What two or three judged frames make of a clip."""

import itertools
from collections.abc import Sequence

import pytest

from pressbox.footy.domain.judgements import (
    DECIDING_FRAME,
    FIRST_FRAMES,
    Decision,
    FrameJudgement,
    RejectReason,
    Vote,
    judge_clip,
)

Y, N, U = Vote.YES, Vote.NO, Vote.UNKNOWN


def football(votes: Sequence[Vote]) -> list[FrameJudgement]:
    return [FrameJudgement(soccer=vote, screen=N) for vote in votes]


def screens(votes: Sequence[Vote]) -> list[FrameJudgement]:
    return [FrameJudgement(soccer=Y, screen=vote) for vote in votes]


@pytest.mark.parametrize(
    ("votes", "decision"),
    [
        ((Y, Y), Decision.ACCEPTED),
        ((Y, U), Decision.ACCEPTED),
        ((U, U), Decision.ACCEPTED),
        ((N, N), Decision.REJECTED),
        ((Y, N), Decision.ANOTHER_FRAME),
        ((N, U), Decision.ANOTHER_FRAME),
        ((Y, N, Y), Decision.ACCEPTED),
        ((Y, N, N), Decision.REJECTED),
        ((Y, N, U), Decision.ACCEPTED),
        ((N, U, U), Decision.ACCEPTED),
        ((N, U, N), Decision.REJECTED),
    ],
)
def test_two_frames_must_agree_that_it_is_no_football(votes: tuple[Vote, ...], decision: Decision) -> None:
    verdict = judge_clip(football(votes))
    assert verdict.decision is decision
    assert verdict.reason is (RejectReason.NOT_FOOTBALL if decision is Decision.REJECTED else None)


@pytest.mark.parametrize(
    ("votes", "decision"),
    [
        ((N, N), Decision.ACCEPTED),
        ((U, U), Decision.ACCEPTED),
        ((N, U), Decision.ACCEPTED),
        ((Y, Y), Decision.REJECTED),
        ((Y, N), Decision.ANOTHER_FRAME),
        ((Y, U), Decision.ANOTHER_FRAME),
        ((Y, N, N), Decision.ACCEPTED),
        ((Y, N, Y), Decision.REJECTED),
        ((Y, U, U), Decision.ACCEPTED),
    ],
)
def test_two_frames_must_agree_that_a_screen_was_filmed(votes: tuple[Vote, ...], decision: Decision) -> None:
    verdict = judge_clip(screens(votes))
    assert verdict.decision is decision
    assert verdict.reason is (RejectReason.FILMED_SCREEN if decision is Decision.REJECTED else None)


def test_unknown_never_rejects() -> None:
    for count in (2, 3):
        for soccer, screen in itertools.product(
            itertools.product((Y, U), repeat=count), itertools.product((N, U), repeat=count)
        ):
            judged = [FrameJudgement(one, other) for one, other in zip(soccer, screen, strict=True)]
            assert judge_clip(judged).decision is Decision.ACCEPTED


def test_clocks_that_disagree_ask_for_the_third_frame() -> None:
    first = [FrameJudgement(Y, N, "66:10"), FrameJudgement(Y, N, "61:20")]
    assert judge_clip(first, (5.0, 15.0)).decision is Decision.ANOTHER_FRAME
    verdict = judge_clip([*first, FrameJudgement(Y, N, "66:15")], (5.0, 15.0, 10.0))
    assert verdict.decision is Decision.ACCEPTED
    assert [reading.clock for reading in verdict.readings] == ["66:10", "61:20", "66:15"]
    assert [reading.second for reading in verdict.readings] == [5.0, 15.0, 10.0]


def test_three_frames_always_decide() -> None:
    for votes in itertools.product(itertools.product(Vote, repeat=2), repeat=3):
        assert judge_clip([FrameJudgement(*vote) for vote in votes]).decision is not Decision.ANOTHER_FRAME


def test_fewer_than_two_frames_never_accept() -> None:
    assert judge_clip([]).decision is Decision.ANOTHER_FRAME
    assert judge_clip([FrameJudgement(Y, N)]).decision is Decision.ANOTHER_FRAME


def test_frames_are_taken_at_a_quarter_three_quarters_and_then_the_middle() -> None:
    assert (FIRST_FRAMES, DECIDING_FRAME) == ((0.25, 0.75), 0.5)
