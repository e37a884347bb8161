"""Temporary folders that are gone at the end, also when their owner was killed: then whoever makes the next one looks.

The owner holds a lock on its folder, which the kernel lets go with the process.
"""

import fcntl
import os
import shutil
import tempfile
import time
from contextlib import suppress
from datetime import timedelta
from functools import cache
from pathlib import Path

# A folder is made before it is locked, and earlier releases locked none.
LEAST_AGE = timedelta(hours=1)


class ScratchFolder:
    """A folder of our own. Folders with this prefix in this place whose owner is dead are removed first, once."""

    def __init__(self, prefix: str, place: Path | None = None) -> None:
        where = place or Path(tempfile.gettempdir())
        _remove_abandoned_once(prefix, where)
        self.path = Path(tempfile.mkdtemp(prefix=prefix, dir=where))
        self._lock = _lock(self.path)

    def __enter__(self) -> Path:
        return self.path

    def __exit__(self, *_: object) -> None:
        self.remove()

    def remove(self) -> None:
        shutil.rmtree(self.path)
        if self._lock is not None:
            os.close(self._lock)


@cache
def _remove_abandoned_once(prefix: str, place: Path) -> None:
    remove_abandoned(prefix, place)


def remove_abandoned(prefix: str, place: Path) -> None:
    """What cannot be looked at or removed stays."""
    newest = time.time() - LEAST_AGE.total_seconds()
    for folder in place.glob(f"{prefix}*"):
        with suppress(OSError):
            facts = folder.lstat()
            if facts.st_uid != os.geteuid() or facts.st_mtime > newest or (lock := _lock(folder)) is None:
                continue
            shutil.rmtree(folder)
            os.close(lock)


def _lock(folder: Path) -> int | None:
    """A descriptor that holds the lock; None when somebody else has it, or when it is no folder."""
    try:
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    except OSError:
        return None
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(descriptor)
        return None
    return descriptor
