"""Fingerprints of filmed clips. The files are shortened from a public test set; its licence lies beside them."""

from collections.abc import AsyncIterator
from itertools import combinations
from pathlib import Path

import pytest

from pressbox.footy.adapters.media.processes import MediaProcesses
from pressbox.footy.domain.fingerprints import Fingerprint, match, unpack

FOLDER = Path(__file__).parent / "real_clips"


@pytest.fixture(scope="module")
async def clips() -> AsyncIterator[dict[str, Fingerprint]]:
    media = MediaProcesses(1)
    yield {path.stem: unpack(await media.fingerprint(path)) for path in sorted(FOLDER.glob("*.mp4"))}
    await media.close()


def scene(name: str) -> str:
    return name.split("-")[0]


async def test_copies_of_a_filmed_scene_are_found_and_other_scenes_are_not(clips: dict[str, Fingerprint]) -> None:
    for left, right in combinations(clips, 2):
        for query, reference in ((left, right), (right, left)):
            found = match(clips[query], clips[reference]) is not None
            assert found == (scene(query) == scene(reference)), (query, reference)


async def test_the_place_of_a_cut_is_found(clips: dict[str, Fingerprint]) -> None:
    # The second file was cut one second later out of the same film.
    found = match(clips["chair-orig-22-sd-bar"], clips["chair-22-sd-grey-bar"])
    assert found is not None
    assert abs(found.offset - 1.0) <= 0.1
