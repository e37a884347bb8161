"""Restored data takes the place of the old wholly or not at all, wherever the swap is interrupted."""

from pathlib import Path

import pytest

from pressbox.core.errors import PermanentError
from pressbox.embedded.swap import JOURNAL, STAGING_PREFIX, Journal, Swap, swap_in, undo_interrupted


def prepared(home: Path) -> tuple[Path, list[Swap]]:
    """Two places with old data, one that was empty, one to be emptied."""
    staging = home / f"{STAGING_PREFIX}test"
    staging.mkdir()
    for name in ("data", "objects"):
        (home / name).mkdir()
        (home / name / "content").write_text("old")
    (home / "wal").write_text("old")
    for name in ("data", "objects", "key"):
        (staging / name).mkdir()
        (staging / name / "content").write_text("new")
    swaps = [Swap(place=home / name, new=staging / name) for name in ("data", "objects", "key")]
    return staging, [*swaps, Swap(place=home / "wal")]


def contents(home: Path) -> dict[str, str]:
    return {
        str(path.relative_to(home)): path.read_text()
        for path in home.rglob("*")
        if path.is_file() and not path.relative_to(home).parts[0].startswith(STAGING_PREFIX)
    }


OLD = {"data/content": "old", "objects/content": "old", "wal": "old"}
NEW = {"data/content": "new", "objects/content": "new", "key/content": "new"}


def test_all_places_change(tmp_path: Path) -> None:
    staging, swaps = prepared(tmp_path)
    swap_in(swaps, staging)
    assert contents(tmp_path) == NEW
    undo_interrupted(tmp_path)
    assert contents(tmp_path) == NEW
    assert not staging.exists()


def test_a_step_that_fails_brings_everything_back(tmp_path: Path) -> None:
    staging, swaps = prepared(tmp_path)
    missing = Swap(place=tmp_path / "other", new=staging / "was-never-built")
    with pytest.raises(PermanentError, match="All is as it was"):
        swap_in([*swaps, missing], staging)
    assert contents(tmp_path) == OLD


@pytest.mark.parametrize("renames", range(8))
def test_the_next_start_undoes_a_swap_that_was_killed_after_any_rename(tmp_path: Path, renames: int) -> None:
    staging, swaps = prepared(tmp_path)
    noted = tuple(swap.model_copy(update={"existed": swap.place.exists()}) for swap in swaps)
    (staging / JOURNAL).write_text(Journal(swaps=noted).model_dump_json())
    moves: list[tuple[Path, Path]] = []
    for number, swap in enumerate(noted):
        moves += [(swap.place, staging / f"replaced-{number}")] if swap.existed else []
        moves += [(swap.new, swap.place)] if swap.new else []
    for source, target in moves[:renames]:
        source.rename(target)
    undo_interrupted(tmp_path)
    assert contents(tmp_path) == OLD
    assert not staging.exists()
