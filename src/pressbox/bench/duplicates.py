"""`pressbox bench duplicates`: how many altered copies of a clip are found, and how many others are mistaken for one.

The clips are drawn for this: several goals of one broadcast with the same stadium, camera and scoreboard, altered in
every way that `pressbox.demo.clips` knows, with titles, fades and black screens. One set has the seeds that the rule
was tuned on, the other has new seeds; the table shows both.
"""

import asyncio
import os
import tempfile
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path

import numpy as np

from pressbox.bench.report import Better, Figure, Report, Say, describe_machine
from pressbox.core.config import Settings
from pressbox.demo.clips.disguises import disguise
from pressbox.demo.clips.renderer import make_clip
from pressbox.demo.clips.spec import ClipSpec, Disguise, Scene
from pressbox.footy.domain.fingerprints import Fingerprint, match, unpack
from pressbox.footy.domain.match_rule import BETTER, DOCUMENT
from pressbox.footy.ports.outside import Media
from pressbox.footy.wiring import media

RECALL_AIM = 0.9
TUNED, HELD_OUT = 1000, 5000
BROADCASTS = 2
CLIPS_PER_BROADCAST = 3
DISGUISED_PER_BROADCAST = 2
DULL_PER_SCENE = 3
STRANGERS_PER_COPY = 3
_WIDTH, _HEIGHT = 384, 216
# Less than half of the picture remains, or the rest is where the rule does not look.
STRONGEST_CROPS = (
    Disguise.CROP_20,
    Disguise.CROP_CORNER,
    Disguise.CROP_RIGHT,
    Disguise.CROP_UPPER,
    Disguise.VERTICAL,
    Disguise.VERTICAL_LEFT,
    Disguise.VERTICAL_RIGHT,
    Disguise.VERTICAL_IN_WIDE,
    Disguise.BLURRED_SIDES,
)


class Stranger(StrEnum):
    SAME_BROADCAST = "different goals of one broadcast"
    OTHER_BROADCAST = "goals of different broadcasts"
    DISGUISED_SAME = "disguised, one broadcast"
    DISGUISED_OTHER = "disguised, any two"
    DULL = "titles, fades, flat, black, studio, street"


@dataclass(frozen=True)
class Sample:
    """A clip or a copy of one. `goal` is what it really shows."""

    goal: tuple[int, int]
    kind: Disguise | Scene
    fingerprint: Fingerprint

    @property
    def original(self) -> bool:
        return self.kind is Scene.FOOTBALL


@dataclass
class Score:
    """Pairs per class, and those that each rule took for the same scene."""

    pairs: Counter[str] = field(default_factory=Counter)
    ours: Counter[str] = field(default_factory=Counter)
    document: Counter[str] = field(default_factory=Counter)

    def compare(self, group: str, query: Sample, reference: Sample) -> None:
        self.pairs[group] += 1
        self.ours[group] += match(query.fingerprint, reference.fingerprint, BETTER) is not None
        self.document[group] += match(query.fingerprint, reference.fingerprint, DOCUMENT) is not None


def run_duplicates(say: Say, settings: Settings, broadcasts: int = BROADCASTS) -> Report:
    """Takes some minutes: about three hundred clips are drawn, encoded, altered and decoded again."""
    machine = describe_machine()
    scores = {}
    for name, first in (("tuned seeds", TUNED), ("held-out seeds", HELD_OUT)):
        samples = asyncio.run(_make_samples(say, settings, first, broadcasts))
        say(f"Comparing {len(samples)} clips of the {name}")
        scores[name] = score(samples)
    return Report(name="duplicates", measured_at=datetime.now(UTC), machine=machine, figures=tuple(_figures(scores)))


async def _make_samples(say: Say, settings: Settings, first: int, broadcasts: int) -> list[Sample]:
    """Make as many clips at a time as there are processors; drawing and encoding release the interpreter."""
    decoder = media(settings)
    turns = asyncio.Semaphore(os.cpu_count() or 1)

    async def made(folder: Path, spec: ClipSpec, kinds: Sequence[Disguise]) -> list[Sample]:
        async with turns:
            say(f"Clip {spec.seed} ({spec.scene})")
            return await _make_copies(decoder, folder / f"{spec.scene}-{spec.seed}.mp4", spec, kinds)

    try:
        with tempfile.TemporaryDirectory() as folder:
            jobs = [made(Path(folder), spec, kinds) for spec, kinds in plan_samples(first, broadcasts)]
            return [sample for samples in await asyncio.gather(*jobs) for sample in samples]
    finally:
        await decoder.close()


def plan_samples(first: int, broadcasts: int) -> Iterable[tuple[ClipSpec, Sequence[Disguise]]]:
    for broadcast in range(first, first + broadcasts):
        for number in range(CLIPS_PER_BROADCAST):
            minute = 10 + 13 * number
            spec = ClipSpec(
                first + (broadcast - first) * 100 + number,
                broadcast=broadcast,
                clock_start=60.0 * minute,
                duration=8.0 if number % 2 else 6.0,
                width=_WIDTH,
                height=_HEIGHT,
            )
            yield spec, tuple(Disguise) if number < DISGUISED_PER_BROADCAST else ()
    for scene in Scene:
        for number in range(DULL_PER_SCENE if scene is not Scene.FOOTBALL else 0):
            yield ClipSpec(first + number, scene, duration=5.0, width=_WIDTH, height=_HEIGHT), ()


async def _make_copies(decoder: Media, path: Path, spec: ClipSpec, kinds: Sequence[Disguise]) -> list[Sample]:
    clip = await asyncio.to_thread(make_clip, spec)
    goal = (spec.broadcast, spec.seed)
    samples = [Sample(goal, spec.scene, await _make_fingerprint(decoder, path, clip))]
    for kind in kinds:
        copy = await asyncio.to_thread(disguise, clip, kind, spec.seed)
        samples.append(Sample(goal, kind, await _make_fingerprint(decoder, path, copy)))
    return samples


async def _make_fingerprint(decoder: Media, path: Path, clip: bytes) -> Fingerprint:
    await asyncio.to_thread(path.write_bytes, clip)
    return unpack(await decoder.fingerprint(path))


def score(samples: Sequence[Sample]) -> Score:
    chance = np.random.default_rng(1)
    result = Score()
    originals = [sample for sample in samples if sample.original]
    copies = [sample for sample in samples if isinstance(sample.kind, Disguise)]
    dull = [sample for sample in samples if not sample.original and isinstance(sample.kind, Scene)]
    for copy in copies:
        for original in originals:
            if original.goal == copy.goal:
                result.compare(copy.kind, copy, original)
            elif original.goal[0] == copy.goal[0]:
                result.compare(Stranger.DISGUISED_SAME, copy, original)
        strangers = [other for other in copies if other.goal != copy.goal]
        for index in chance.permutation(len(strangers))[:STRANGERS_PER_COPY]:
            result.compare(Stranger.DISGUISED_OTHER, copy, strangers[index])
    for left, right in _pairs(originals):
        same = left.goal[0] == right.goal[0]
        result.compare(Stranger.SAME_BROADCAST if same else Stranger.OTHER_BROADCAST, left, right)
    for left, right in (*_pairs(dull), *((one, original) for one in dull for original in originals)):
        result.compare(Stranger.DULL, left, right)
    return result


def _pairs(samples: Sequence[Sample]) -> Iterable[tuple[Sample, Sample]]:
    return ((left, right) for index, left in enumerate(samples) for right in samples[index + 1 :])


def _figures(scores: dict[str, Score]) -> Iterable[Figure]:
    others = [kind for kind in Disguise if kind not in STRONGEST_CROPS]
    for name, found in scores.items():
        yield _recall_figure(f"recall, all disguises, {name}", [found], Disguise, RECALL_AIM)
        yield _recall_figure(f"recall, all but the strongest crops, {name}", [found], others, RECALL_AIM)
        yield _recall_figure(f"recall, strongest crops, {name}", [found], STRONGEST_CROPS, None)
    for name, found in scores.items():
        for stranger in Stranger:
            yield Figure(
                name=f"false, {stranger}, {name}",
                value=found.ours[stranger],
                unit=f"of {found.pairs[stranger]}",
                peer=found.document[stranger],
                peer_name="document's rule",
                aim=0,
            )
    for kind in Disguise:
        yield _recall_figure(f"recall, {kind}", list(scores.values()), [kind], None)


def _recall_figure(name: str, scores: Sequence[Score], kinds: Iterable[Disguise], aim: float | None) -> Figure:
    chosen = list(kinds)
    pairs, ours, document = (
        sum(counts[kind] for counts in group for kind in chosen)
        for group in (
            [found.pairs for found in scores],
            [found.ours for found in scores],
            [found.document for found in scores],
        )
    )
    return Figure(
        name=name,
        value=ours / pairs,
        unit="of copies",
        better=Better.HIGHER,
        peer=document / pairs,
        peer_name="document's rule",
        aim=aim,
        note=f"{ours} of {pairs}, the document's rule {document}",
    )
