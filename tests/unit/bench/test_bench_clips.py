"""The benchmarks of clips: their peers are right, and their scores count what they say."""

from collections.abc import Mapping
from typing import cast

import numpy as np

from pressbox.bench.duplicates import HELD_OUT, TUNED, Sample, Stranger, plan_samples, score
from pressbox.bench.match import make_fingerprint, match_slowly, run_match
from pressbox.demo.clips.spec import Camera, Disguise, Scene
from pressbox.footy.domain.fingerprints import Fingerprint
from pressbox.footy.domain.match_rule import DOCUMENT
from pressbox.footy.domain.same_scene import match
from pressbox.footy.ports.outside import Media


def test_the_plain_loop_and_the_fast_search_agree() -> None:
    clip = make_fingerprint(1, 30)
    cut = Fingerprint(clip.hashes[:, 30:], clip.telling[:, 30:], clip.phases)
    for query, reference in (
        (cut, clip),
        (clip, cut),
        (make_fingerprint(2, 30), clip),
        (make_fingerprint(3, 30), make_fingerprint(4, 30)),
    ):
        stored = reference.reference()
        assert match_slowly(query, stored, DOCUMENT.evidence[0]) == (match(query, stored, DOCUMENT) is not None)
    assert match_slowly(cut, clip.reference(), DOCUMENT.evidence[0])


def test_the_report_of_the_search_has_peers_and_aims() -> None:
    report = run_match(lambda _: None, stored=4, seconds=8)
    assert report.figures[0].peer is not None
    assert report.figures[0].met is not None


class FilmsThatShow:
    """A reader of clips that sees the scenes of these two through anything."""

    def __init__(self, *stored: bytes) -> None:
        self._stored = set(stored)

    async def see_through(self, query: bytes, references: Mapping[int, bytes]) -> Mapping[int, bool]:
        return {key: True for key, found in references.items() if {query, found} == self._stored}


async def test_copies_are_recall_and_everything_else_is_a_stranger() -> None:
    first, second = make_fingerprint(1, 40), make_fingerprint(2, 40)
    dull = Fingerprint(np.zeros_like(first.hashes), np.zeros_like(first.telling), first.phases)
    samples = [
        Sample((1, 10), Scene.FOOTBALL, first, b"goal"),
        Sample((1, 11), Scene.FOOTBALL, second),
        Sample((1, 10), Disguise.GREY, first),
        # A copy that shows another goal than it claims: taken for a stranger, and counted as false.
        Sample((1, 11), Disguise.BLUR, first),
        Sample((1, 10), Disguise.ROTATED, make_fingerprint(3, 40), b"turned"),
        Sample((1, 12), Scene.BLACK, dull),
    ]
    result = await score(samples, cast(Media, FilmsThatShow(b"goal", b"turned")))
    assert (result.pairs[Disguise.GREY], result.ours[Disguise.GREY]) == (1, 1)
    assert (result.pairs[Disguise.BLUR], result.ours[Disguise.BLUR]) == (1, 0)
    assert (result.hashes[Disguise.ROTATED], result.ours[Disguise.ROTATED]) == (0, 1)
    assert (result.pairs[Stranger.DISGUISED_SAME], result.ours[Stranger.DISGUISED_SAME]) == (3, 1)
    assert (result.pairs[Stranger.SAME_BROADCAST], result.ours[Stranger.SAME_BROADCAST]) == (1, 0)
    assert (result.pairs[Stranger.DULL], result.ours[Stranger.DULL], result.document[Stranger.DULL]) == (2, 0, 0)


def test_tuned_and_held_out_clips_share_no_seed() -> None:
    tuned, held_out = ({spec.seed for spec, _ in plan_samples(first)} for first in (TUNED, HELD_OUT))
    assert not tuned & held_out


def test_the_clips_are_short_and_one_camera_hardly_moves() -> None:
    football = [spec for spec, _ in plan_samples(HELD_OUT) if spec.scene is Scene.FOOTBALL]
    assert {spec.duration for spec in football} == {6.0}
    assert {spec.camera for spec in football} == set(Camera)
