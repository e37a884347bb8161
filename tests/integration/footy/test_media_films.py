"""Films of drawn clips: copies that no hash recognises are seen through, other goals of the broadcast are not."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from pressbox.demo.clips.disguises import disguise
from pressbox.demo.clips.renderer import make_clip
from pressbox.demo.clips.spec import ClipSpec, Disguise
from pressbox.footy.adapters.media.films import read_film
from pressbox.footy.adapters.media.processes import MediaProcesses
from pressbox.footy.domain.film_rule import describe
from pressbox.footy.domain.fingerprints import join_film, split_film
from pressbox.footy.domain.match_rule import DOCUMENT

SEEN_THROUGH = {
    Disguise.PICTURE_IN_PICTURE: "frame",
    Disguise.ROTATED_BACK: "turn of",
    Disguise.VERTICAL_LEFT: "crop",
}
Prints = dict[Disguise | str, bytes]


@pytest.fixture(scope="module")
async def media() -> AsyncIterator[MediaProcesses]:
    processes = MediaProcesses(1)
    yield processes
    await processes.close()


@pytest.fixture(scope="module")
async def prints(media: MediaProcesses, tmp_path_factory: pytest.TempPathFactory) -> Prints:
    """A goal, copies of it, and another goal of the same broadcast."""
    folder = tmp_path_factory.mktemp("films")
    goal, other = (make_clip(ClipSpec(seed, broadcast=71, duration=5.0, width=320, height=180)) for seed in (71, 72))
    clips: dict[Disguise | str, bytes] = {"goal": goal, "other goal": other}
    clips |= {kind: disguise(goal, kind, 71) for kind in SEEN_THROUGH}

    async def take(name: Disguise | str, content: bytes) -> bytes:
        path: Path = folder / f"{name}.mp4"
        path.write_bytes(content)
        return await media.fingerprint(path)

    return {name: await take(name, content) for name, content in clips.items()}


@pytest.mark.parametrize(("kind", "reason"), SEEN_THROUGH.items())
async def test_a_copy_is_seen_through_and_the_other_goal_is_not(
    media: MediaProcesses, prints: Prints, kind: Disguise, reason: str
) -> None:
    found = await media.see_through(prints[kind], {1: prints["goal"], 2: prints["other goal"]})
    assert list(found) == [1]
    assert reason in describe(found[1])
    assert list(await media.see_through(prints["goal"], {1: prints[kind]})) == [1]


async def test_a_film_is_small_and_shows_the_whole_clip(prints: Prints) -> None:
    _, film = split_film(prints["goal"])
    assert film is not None
    assert len(film) <= 5 * 4_750 + 12_000
    pictures = read_film(film)
    assert pictures is not None
    assert pictures.shape == (60, 90, 160)


async def test_a_clip_without_a_readable_film_is_compared_by_hashes_alone(
    media: MediaProcesses, prints: Prints
) -> None:
    packed, film = split_film(prints["goal"])
    assert film is not None
    later, damaged = join_film(packed, b"\x7f" + film[1:]), join_film(packed, film[:200])
    references = {1: packed, 2: later, 3: damaged}
    assert await media.see_through(prints[Disguise.ROTATED_BACK], references) == {}
    assert await media.see_through(packed, {1: prints["goal"]}) == {}
    assert await media.find_same_scene(prints["goal"], references) == {1, 2, 3}


async def test_the_documents_rule_sees_through_nothing(prints: Prints) -> None:
    plain = MediaProcesses(1, rule=DOCUMENT)
    try:
        assert await plain.see_through(prints["goal"], {1: prints["goal"]}) == {}
    finally:
        await plain.close()
