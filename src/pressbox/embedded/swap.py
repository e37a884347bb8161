"""Putting restored data in the place of the old: all of it or none, also when the power fails between two renames."""

import shutil
from collections.abc import Sequence
from pathlib import Path

from pydantic import BaseModel, ConfigDict

from pressbox.core.errors import PermanentError
from pressbox.core.logs import get_logger
from pressbox.embedded.home import write_private

STAGING_PREFIX = "restore-"
JOURNAL = "journal.json"

log = get_logger(__name__)


class Swap(BaseModel):
    """A file or folder that was built aside, and the place it takes. Without `new`, the place is emptied."""

    model_config = ConfigDict(frozen=True)

    place: Path
    new: Path | None = None
    existed: bool = False


class Journal(BaseModel):
    """Stands in the staging folder from the first rename to the last."""

    model_config = ConfigDict(frozen=True)

    swaps: tuple[Swap, ...]


def swap_in(swaps: Sequence[Swap], staging: Path) -> None:
    """Move the old aside and the new in; if a step fails, everything is moved back."""
    journal = Journal(swaps=tuple(swap.model_copy(update={"existed": swap.place.exists()}) for swap in swaps))
    write_private(staging / JOURNAL, journal.model_dump_json())
    try:
        for number, swap in enumerate(journal.swaps):
            if swap.existed:
                swap.place.rename(_kept(staging, number))
            if swap.new is not None:
                swap.new.rename(swap.place)
    except OSError as error:
        _undo(journal, staging)
        raise PermanentError(f"The restored data could not be put in place: {error}. All is as it was.") from error
    (staging / JOURNAL).unlink()


def undo_interrupted(home: Path) -> None:
    """Bring back what a restore that was killed had moved aside, and remove what it built."""
    for staging in home.glob(f"{STAGING_PREFIX}*"):
        if (staging / JOURNAL).exists():
            _undo(Journal.model_validate_json((staging / JOURNAL).read_bytes()), staging)
            log.warning("restore_undone", msg="An interrupted restore was undone; the data from before is back")
        shutil.rmtree(staging)


def _undo(journal: Journal, staging: Path) -> None:
    for number, swap in reversed(list(enumerate(journal.swaps))):
        moved_aside = _kept(staging, number).exists()
        # What stands in the place is new if the old was moved aside, or if there was nothing before.
        if swap.place.exists() and (moved_aside or not swap.existed):
            swap.place.rename(staging / f"unwanted-{number}")
        if moved_aside:
            _kept(staging, number).rename(swap.place)
    (staging / JOURNAL).unlink()


def _kept(staging: Path, number: int) -> Path:
    return staging / f"replaced-{number}"
