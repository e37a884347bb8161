"""Made-up clips: what is asked for is drawn, the same every time, and every disguise is a playable file."""

import io

import av
import numpy as np
import pytest

from pressbox.demo.clips.disguises import disguise
from pressbox.demo.clips.encoding import decode
from pressbox.demo.clips.renderer import draw_pictures, make_clip
from pressbox.demo.clips.scoreboard import added_text, clock_text
from pressbox.demo.clips.spec import ClipSpec, Disguise, Scene


def small(seed: int = 1, scene: Scene = Scene.FOOTBALL, broadcast: int = 0) -> ClipSpec:
    return ClipSpec(seed, scene, broadcast, clock_start=600.0, duration=0.6, width=160, height=90, rate=10)


@pytest.fixture(scope="module")
def clip() -> bytes:
    return make_clip(ClipSpec(1, clock_start=600.0, duration=3.0, width=160, height=90, rate=10))


def test_the_same_specification_draws_the_same_pictures() -> None:
    assert all(
        np.array_equal(left, right) for left, right in zip(draw_pictures(small()), draw_pictures(small()), strict=True)
    )


def test_another_seed_draws_another_goal() -> None:
    assert not np.array_equal(next(draw_pictures(small(1))), next(draw_pictures(small(2))))


@pytest.mark.parametrize("scene", Scene)
def test_every_scene_becomes_a_clip_of_the_length_asked(scene: Scene) -> None:
    _, shown = decode(make_clip(small(scene=scene)))
    frames = list(shown)
    assert len(frames) == 6
    assert frames[0].shape == (90, 160, 3)


def test_the_clock_runs_and_in_added_time_stands_beside_one_that_runs() -> None:
    spec = ClipSpec(1, clock_start=67 * 60 + 58)
    assert [clock_text(spec, seconds) for seconds in (0, 1.9, 2)] == ["67:58", "67:59", "68:00"]
    late = ClipSpec(1, clock_start=45 * 60, added_minutes=3, added_start=70)
    assert (clock_text(late, 5), added_text(late, 5)) == ("45:00", "+3  01:15")
    assert clock_text(ClipSpec(1), 5) == ""


@pytest.mark.parametrize("kind", Disguise)
def test_every_disguise_is_a_file_that_can_be_decoded(clip: bytes, kind: Disguise) -> None:
    copy = disguise(clip, kind, seed=3)
    assert copy != clip
    with av.open(io.BytesIO(copy), "r") as container:
        stream = container.streams.video[0]
        assert stream.codec_context.name == "h264"
        assert sum(1 for _ in container.decode(stream)) > 10
