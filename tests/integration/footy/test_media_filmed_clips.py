"""Fingerprints of copies of a scene: of clips that somebody filmed where they are at hand, of drawn ones otherwise."""

from collections.abc import AsyncIterator
from itertools import combinations
from pathlib import Path

import pytest

from pressbox.demo.clips.disguises import disguise
from pressbox.demo.clips.renderer import make_clip
from pressbox.demo.clips.spec import ClipSpec, Disguise
from pressbox.footy.adapters.media.processes import MediaProcesses
from pressbox.footy.domain.fingerprints import Fingerprint, unpack
from pressbox.footy.domain.same_scene import match
from tests.shared_data import shared

# Three scenes of a public test set: in other sizes, grey, with bars, with a logo, and one without its beginning.
FILMED = (
    "chair-22-sd-grey-bar", "chair-19-sd-bar", "doorknob-hd-no-bar", "pattern-hd-no-bar",
    "pattern-sd-with-large-logo-bar",
)  # fmt: skip
DRAWN = (Disguise.GREY, Disguise.LOGO, Disguise.LETTERBOX)


def scene(name: str) -> str:
    return name.split("-")[0]


def draw(folder: Path) -> list[Path]:
    """Two scenes with their copies, one of them without its beginning."""
    for seed in (31, 32):
        drawn = make_clip(ClipSpec(seed, duration=5.0, width=320, height=180))
        (folder / f"scene{seed}-whole.mp4").write_bytes(drawn)
        for kind in DRAWN:
            (folder / f"scene{seed}-{kind.value}.mp4").write_bytes(disguise(drawn, kind))
        (folder / f"scene{seed}-later.mp4").write_bytes(disguise(drawn, Disguise.CUT))
    return sorted(folder.iterdir())


@pytest.fixture(scope="module")
async def clips(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[dict[str, Fingerprint]]:
    folder = shared("videos")
    paths = [folder / f"{name}.mp4" for name in FILMED] if folder else draw(tmp_path_factory.mktemp("clips"))
    media = MediaProcesses(1)
    yield {path.stem: unpack(await media.fingerprint(path)) for path in paths}
    await media.close()


async def test_copies_of_a_scene_are_found_and_other_scenes_are_not(clips: dict[str, Fingerprint]) -> None:
    assert len({scene(name) for name in clips}) < len(clips)
    for left, right in combinations(clips, 2):
        for query, reference in ((left, right), (right, left)):
            found = match(clips[query], clips[reference]) is not None
            assert found == (scene(query) == scene(reference)), (query, reference)


async def test_the_place_of_a_cut_is_found(clips: dict[str, Fingerprint]) -> None:
    if shared("videos"):
        later, whole, seconds = "chair-19-sd-bar", "chair-22-sd-grey-bar", 3.7
    else:
        later, whole, seconds = "scene31-later", "scene31-whole", 1.0
    found = match(clips[whole], clips[later])
    assert found is not None
    assert abs(abs(found.offset) - seconds) <= 0.5
