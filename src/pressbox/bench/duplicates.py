"""`pressbox bench duplicates`: how many altered copies of a clip are found, and how many others are mistaken for one.

The clips are drawn for this: several goals of one broadcast with the same stadium, camera and scoreboard, altered in
every way that `pressbox.demo.clips` knows, with titles, fades and black screens. One set has the seeds that the rule
was tuned on, the other has new seeds; the table shows both. A folder with filmed clips is a third set.
"""

import asyncio
import os
import resource
import tempfile
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path

import numpy as np

from pressbox.bench.filmed_clips import Cut, cut_out, plan_cuts
from pressbox.bench.report import Better, Figure, Report, Say, describe_machine
from pressbox.core.config import Settings
from pressbox.demo.clips.disguises import disguise
from pressbox.demo.clips.renderer import make_clip
from pressbox.demo.clips.spec import Camera, ClipSpec, Disguise, Scene
from pressbox.footy.domain.fingerprints import Fingerprint, unpack
from pressbox.footy.domain.match_rule import BETTER, DOCUMENT
from pressbox.footy.domain.same_scene import match
from pressbox.footy.ports.outside import Media
from pressbox.footy.wiring import media

RECALL_AIM = 0.9
TUNED, HELD_OUT = 1000, 9000
BROADCASTS = 3
# The last broadcast of three shows the whole pitch from a camera that hardly moves.
CAMERAS = (Camera.FOLLOWING, Camera.FOLLOWING, Camera.TACTICAL)
CLIP_SECONDS = 6.0
CLIPS_PER_BROADCAST = 3
DISGUISED_PER_BROADCAST = 2
DULL_PER_SCENE = 3
STRANGERS_PER_COPY = 3
_WIDTH, _HEIGHT = 384, 216
# Less than half of the picture remains, or the rest is where the rule does not look.
STRONGEST_CROPS = (
    Disguise.CROP_20,
    Disguise.CROP_CORNER,
    Disguise.CROP_ANYWHERE,
    Disguise.CROP_RIGHT,
    Disguise.CROP_UPPER,
    Disguise.VERTICAL,
    Disguise.VERTICAL_LEFT,
    Disguise.VERTICAL_RIGHT,
    Disguise.VERTICAL_PANNED,
    Disguise.VERTICAL_IN_WIDE,
    Disguise.BLURRED_SIDES,
)


Plan = Sequence[tuple[ClipSpec | Cut, Sequence[Disguise]]]


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
    # With its film behind it, as the product keeps it.
    stored: bytes = b""

    @property
    def original(self) -> bool:
        return self.kind is Scene.FOOTBALL


@dataclass
class Score:
    """Pairs per class, and those that each rule took for the same scene; `hashes` is ours without films."""

    pairs: Counter[str] = field(default_factory=Counter)
    ours: Counter[str] = field(default_factory=Counter)
    hashes: Counter[str] = field(default_factory=Counter)
    document: Counter[str] = field(default_factory=Counter)
    # Comparisons of films, and their seconds of processor time.
    films: int = 0
    film_seconds: float = 0.0

    async def compare(self, group: str, query: Sample, reference: Sample, media: Media) -> None:
        """As the product compares two copies of a goal: hashes in both directions, then films."""
        self.pairs[group] += 1
        one, other = query.fingerprint, reference.fingerprint
        hashes = match(one, other, BETTER) is not None or match(other, one, BETTER) is not None
        self.hashes[group] += hashes
        self.ours[group] += hashes or await self._see_through(query.stored, reference.stored, media)
        self.document[group] += match(one, other, DOCUMENT) is not None

    async def _see_through(self, query: bytes, reference: bytes, media: Media) -> bool:
        self.films += 1
        return bool(await media.see_through(query, {0: reference}))


@dataclass(frozen=True)
class Scale:
    """How much is measured; less is faster and less exact."""

    broadcasts: int = BROADCASTS
    clips: int = CLIPS_PER_BROADCAST
    disguised: int = DISGUISED_PER_BROADCAST
    dull: int = DULL_PER_SCENE
    kinds: Sequence[Disguise] = tuple(Disguise)


FULL = Scale()


def run_duplicates(say: Say, settings: Settings, filmed: Path | None = None, scale: Scale = FULL) -> Report:
    """Takes half an hour: about seven hundred clips are drawn, encoded, altered and decoded again."""
    machine = describe_machine()
    plans: dict[str, Plan] = {
        "tuned seeds": list(plan_samples(TUNED, scale)),
        "held-out seeds": list(plan_samples(HELD_OUT, scale)),
    }
    if filmed is not None:
        plans["filmed"] = plan_filmed(filmed)
    scores = {}
    for name, plan in plans.items():
        samples = asyncio.run(_make_samples(say, settings, plan))
        say(f"Comparing {len(samples)} clips, {name}")
        scores[name] = asyncio.run(_score_with_children(settings, samples))
    figures = tuple(_figures(scores, scale.kinds))
    return Report(name="duplicates", measured_at=datetime.now(UTC), machine=machine, figures=figures)


async def _make_samples(say: Say, settings: Settings, plan: Plan) -> list[Sample]:
    """Make as many clips at a time as there are processors; drawing and encoding release the interpreter."""
    decoder = media(settings)
    turns = asyncio.Semaphore(os.cpu_count() or 1)

    async def made(folder: Path, spec: ClipSpec | Cut, kinds: Sequence[Disguise]) -> list[Sample]:
        async with turns:
            say(f"Clip {spec.seed} ({spec.scene})")
            return await _make_copies(decoder, folder / f"{spec.scene}-{spec.seed}.mp4", spec, kinds)

    try:
        with tempfile.TemporaryDirectory() as folder:
            jobs = [made(Path(folder), spec, kinds) for spec, kinds in plan]
            return [sample for samples in await asyncio.gather(*jobs) for sample in samples]
    finally:
        await decoder.close()


async def _score_with_children(settings: Settings, samples: Sequence[Sample]) -> Score:
    """Compare, and count the processor time of the children, which is known when they have ended."""
    began, comparer = _children_seconds(), media(settings)
    try:
        result = await score(samples, comparer)
    finally:
        await comparer.close()
    result.film_seconds = _children_seconds() - began
    return result


def _children_seconds() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def plan_filmed(folder: Path) -> list[tuple[Cut, Sequence[Disguise]]]:
    return [(cut, tuple(Disguise)) for cut in plan_cuts(folder)]


def plan_samples(first: int, scale: Scale = FULL) -> Iterable[tuple[ClipSpec, Sequence[Disguise]]]:
    for broadcast in range(first, first + scale.broadcasts):
        for number in range(scale.clips):
            minute = 10 + 13 * number
            spec = ClipSpec(
                first + (broadcast - first) * 100 + number,
                broadcast=broadcast,
                clock_start=60.0 * minute,
                duration=CLIP_SECONDS,
                camera=CAMERAS[(broadcast - first) % len(CAMERAS)],
                width=_WIDTH,
                height=_HEIGHT,
            )
            yield spec, scale.kinds if number < scale.disguised else ()
    for scene in Scene:
        for number in range(scale.dull if scene is not Scene.FOOTBALL else 0):
            yield ClipSpec(first + number, scene, duration=5.0, width=_WIDTH, height=_HEIGHT), ()


async def _make_copies(decoder: Media, path: Path, spec: ClipSpec | Cut, kinds: Sequence[Disguise]) -> list[Sample]:
    clip = await asyncio.to_thread(_make_original, spec)
    goal = (spec.broadcast, spec.seed)
    samples = [await _make_sample(decoder, path, clip, goal, spec.scene)]
    for kind in kinds:
        copy = await asyncio.to_thread(disguise, clip, kind, spec.seed)
        samples.append(await _make_sample(decoder, path, copy, goal, kind))
    return samples


def _make_original(spec: ClipSpec | Cut) -> bytes:
    return cut_out(spec) if isinstance(spec, Cut) else make_clip(spec)


async def _make_sample(
    decoder: Media, path: Path, clip: bytes, goal: tuple[int, int], kind: Disguise | Scene
) -> Sample:
    await asyncio.to_thread(path.write_bytes, clip)
    stored = await decoder.fingerprint(path)
    return Sample(goal, kind, unpack(stored), stored)


async def score(samples: Sequence[Sample], media: Media) -> Score:
    chance = np.random.default_rng(1)
    result = Score()
    originals = [sample for sample in samples if sample.original]
    copies = [sample for sample in samples if isinstance(sample.kind, Disguise)]
    dull = [sample for sample in samples if not sample.original and isinstance(sample.kind, Scene)]
    for copy in copies:
        for original in originals:
            if original.goal == copy.goal:
                await result.compare(copy.kind, copy, original, media)
            elif original.goal[0] == copy.goal[0]:
                await result.compare(Stranger.DISGUISED_SAME, copy, original, media)
        strangers = [other for other in copies if other.goal != copy.goal]
        for index in chance.permutation(len(strangers))[:STRANGERS_PER_COPY]:
            await result.compare(Stranger.DISGUISED_OTHER, copy, strangers[index], media)
    for left, right in _pairs(originals):
        same = left.goal[0] == right.goal[0]
        await result.compare(Stranger.SAME_BROADCAST if same else Stranger.OTHER_BROADCAST, left, right, media)
    for left, right in (*_pairs(dull), *((one, original) for one in dull for original in originals)):
        await result.compare(Stranger.DULL, left, right, media)
    return result


def _pairs(samples: Sequence[Sample]) -> Iterable[tuple[Sample, Sample]]:
    return ((left, right) for index, left in enumerate(samples) for right in samples[index + 1 :])


def _figures(scores: dict[str, Score], kinds: Sequence[Disguise]) -> Iterable[Figure]:
    strongest = [kind for kind in kinds if kind in STRONGEST_CROPS]
    others = [kind for kind in kinds if kind not in STRONGEST_CROPS]
    for name, found in scores.items():
        yield _recall_figure(f"recall, all disguises, {name}", [found], kinds, RECALL_AIM)
        yield _recall_figure(f"recall, all but the strongest crops, {name}", [found], others, RECALL_AIM)
        yield _recall_figure(f"recall, strongest crops, {name}", [found], strongest, None)
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
    for kind in kinds:
        yield _recall_figure(f"recall, {kind}", list(scores.values()), [kind], None)
    films = sum(found.films for found in scores.values())
    seconds = sum(found.film_seconds for found in scores.values())
    yield Figure(
        name="films, one pair", value=1000 * seconds / max(films, 1), unit="ms", note=f"{films} pairs, processor time"
    )


def _recall_figure(name: str, scores: Sequence[Score], kinds: Iterable[Disguise], aim: float | None) -> Figure:
    chosen = list(kinds)
    pairs, ours, hashes, document = (
        sum(counts[kind] for counts in group for kind in chosen)
        for group in (
            [found.pairs for found in scores],
            [found.ours for found in scores],
            [found.hashes for found in scores],
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
        note=f"{ours} of {pairs}, by hashes alone {hashes}, the document's rule {document}",
    )
