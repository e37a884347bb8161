"""The offline judge on made-up clips: it reads their clocks, and says no more than it knows."""

from collections.abc import AsyncIterator, Iterable
from itertools import islice

import cv2
import numpy as np
import pytest

from pressbox.bench.clock import Reading, read_one
from pressbox.bench.scorebugs import Contrast, Notation, Place, Quality, Scorebug, draw
from pressbox.core.errors import InvalidInputError
from pressbox.demo.clips.disguises import disguise
from pressbox.demo.clips.encoding import decode
from pressbox.demo.clips.renderer import make_clip
from pressbox.demo.clips.spec import ClipSpec, Disguise, Scene
from pressbox.footy.adapters.judges.offline import OfflineJudge
from pressbox.footy.domain.clock import TimestampStatus, validate_timestamp
from pressbox.footy.domain.judgements import Decision, FrameJudgement, RejectReason, Vote, judge_clip

SECONDS = (0.25, 0.75)


@pytest.fixture(scope="module")
async def judge() -> AsyncIterator[OfflineJudge]:
    """One for all: its models take a second to load."""
    judge = OfflineJudge()
    yield judge
    await judge.close()


def jpeg(picture: "cv2.typing.MatLike") -> bytes:
    return cv2.imencode(".jpg", picture, [cv2.IMWRITE_JPEG_QUALITY, 92])[1].tobytes()


def frames_of(clip: bytes) -> list[bytes]:
    rate, pictures = decode(clip)
    wanted = {round(second * rate) for second in SECONDS}
    return [jpeg(picture) for number, picture in islice(enumerate(pictures), rate) if number in wanted]


def a_clip(seed: int = 1, **changes: object) -> bytes:
    values: dict[str, object] = {"seed": seed, "broadcast": seed, "clock_start": 66 * 60 + 20.0, "duration": 1.0}
    return make_clip(ClipSpec(**{**values, **changes}))  # type: ignore[arg-type]


def clocks(judgements: Iterable[FrameJudgement]) -> list[str]:
    return [judgement.clock for judgement in judgements]


@pytest.mark.parametrize(("width", "height"), [(854, 480), (640, 360)])
@pytest.mark.parametrize("broadcast", [0, 1, 2])
async def test_the_clock_of_a_broadcast_is_read_and_verifies(
    judge: OfflineJudge, broadcast: int, width: int, height: int
) -> None:
    judged = await judge.judge(frames_of(a_clip(broadcast, width=width, height=height)))
    verdict = judge_clip(judged, SECONDS)
    assert [frame.soccer for frame in judged] == [Vote.YES, Vote.YES]
    assert verdict.decision is Decision.ACCEPTED
    assert validate_timestamp(verdict.readings, 67).verified
    assert validate_timestamp(verdict.readings, 60).status is TimestampStatus.CONTRADICTS


async def test_a_second_timer_beside_a_stopped_clock_is_read(judge: OfflineJudge) -> None:
    clip = a_clip(clock_start=90 * 60.0, added_minutes=6, added_start=5 * 60 + 10.0)
    verdict = judge_clip(await judge.judge(frames_of(clip)), SECONDS)
    check = validate_timestamp(verdict.readings, 90, 6)
    assert (check.verified, check.extracted_minute) == (True, 95)


async def test_black_bars_do_not_hide_the_clock(judge: OfflineJudge) -> None:
    boxed = disguise(a_clip(), Disguise.WINDOW_BOX)
    assert clocks(await judge.judge(frames_of(boxed))) == ["66:20", "66:20"]


async def test_a_broadcast_without_a_clock_has_none(judge: OfflineJudge) -> None:
    judged = await judge.judge(frames_of(a_clip(clock_start=None)))
    assert clocks(judged) == ["", ""]
    assert judge_clip(judged, SECONDS).decision is Decision.ACCEPTED


async def test_titles_and_black_are_no_football(judge: OfflineJudge) -> None:
    for scene in (Scene.TITLE, Scene.BLACK):
        verdict = judge_clip(await judge.judge(frames_of(a_clip(seed=5, scene=scene, clock_start=None))), SECONDS)
        assert verdict.reason is RejectReason.NOT_FOOTBALL


async def test_a_picture_without_grass_is_unknown_when_another_frame_shows_the_pitch(judge: OfflineJudge) -> None:
    black = jpeg(np.zeros((360, 640, 3), np.uint8))
    judged = await judge.judge([frames_of(a_clip(clock_start=None))[0], black])
    assert [frame.soccer for frame in judged] == [Vote.YES, Vote.UNKNOWN]


def lawn(grain: float, *, line: bool = False) -> bytes:
    noise = cv2.GaussianBlur(np.random.default_rng(1).normal(0, grain, (360, 640)), (0, 0), 1.0)
    picture = np.clip(np.full((360, 640, 3), (50, 130, 70)) + noise[..., None], 0, 255).astype(np.uint8)
    return jpeg(cv2.line(picture, (0, 120), (640, 200), (235, 235, 235), 3) if line else picture)


@pytest.mark.parametrize("grain", [10, 20, 40])
async def test_a_lawn_is_no_pitch_until_it_has_a_line(judge: OfflineJudge, grain: float) -> None:
    black = jpeg(np.zeros((360, 640, 3), np.uint8))
    judged = await judge.judge([lawn(grain), lawn(grain, line=True)])
    assert [frame.soccer for frame in judged] == [Vote.UNKNOWN, Vote.YES]
    # It may be a part of a pitch, so what the other frames show is not held against it.
    assert [frame.soccer for frame in await judge.judge([lawn(grain), black])] == [Vote.UNKNOWN, Vote.UNKNOWN]


async def test_a_plain_green_picture_is_no_pitch_and_not_no_pitch(judge: OfflineJudge) -> None:
    green = jpeg(np.full((360, 640, 3), (60, 140, 60), np.uint8))
    assert [frame.soccer for frame in await judge.judge([green])] == [Vote.UNKNOWN]


async def test_a_screen_is_recognised_by_its_bezel_and_unknown_without_one(judge: OfflineJudge) -> None:
    clip = a_clip()
    filmed, plain = await judge.judge(frames_of(disguise(clip, Disguise.FILMED))), await judge.judge(frames_of(clip))
    assert judge_clip(filmed, SECONDS).reason is RejectReason.FILMED_SCREEN
    assert [frame.screen for frame in plain] == [Vote.UNKNOWN, Vote.UNKNOWN]
    boxed = await judge.judge(frames_of(disguise(clip, Disguise.WINDOW_BOX)))
    assert [frame.screen for frame in boxed] == [Vote.UNKNOWN, Vote.UNKNOWN]


@pytest.mark.parametrize(
    ("notation", "texts", "minute", "place", "contrast", "quality"),
    [
        (Notation.RUNNING, ("67:12",), 67, Place.TOP_LEFT, Contrast.DARK, Quality.CRUSHED),
        (Notation.RUNNING, ("08:45",), 8, Place.BOTTOM_CENTRE, Contrast.LIGHT, Quality.SMALL),
        (Notation.EXTRA_TIME, ("104:09",), 104, Place.TOP_RIGHT, Contrast.COLOUR, Quality.GOOD),
        (Notation.COMPACT, ("45+2",), 47, Place.TOP_CENTRE, Contrast.GLASS, Quality.FULL),
        (Notation.MARKED, ("2H", "15:30"), 60, Place.TOP_LEFT, Contrast.DARK, Quality.POOR),
        (Notation.MINUTE, ("87'",), 87, Place.TOP_LEFT, Contrast.LIGHT, Quality.GOOD),
        (Notation.NO_CLOCK, (), None, Place.TOP_LEFT, Contrast.DARK, Quality.GOOD),
        (Notation.NO_SCOREBUG, (), None, Place.TOP_LEFT, Contrast.DARK, Quality.SMALL),
    ],
)
async def test_scorebugs_of_many_kinds_are_read(
    judge: OfflineJudge,
    notation: Notation,
    texts: tuple[str, ...],
    minute: int | None,
    place: Place,
    contrast: Contrast,
    quality: Quality,
) -> None:
    bug = Scorebug(notation, place, contrast, quality, "geometric", texts, minute, seed=11)
    judged = await judge.judge([draw(bug).jpeg])
    assert read_one(bug, judged[0]) is Reading.RIGHT


async def test_bytes_that_are_no_picture_are_refused_and_the_judge_goes_on(judge: OfflineJudge) -> None:
    with pytest.raises(InvalidInputError):
        await judge.judge([b"<html>no picture</html>"])
    with pytest.raises(InvalidInputError):
        await judge.judge([b""])
    assert await judge.judge([]) == ()
