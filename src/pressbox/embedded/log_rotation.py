"""Keeps the logs in the home small while their writers run."""

import os
import shutil
from collections.abc import Sequence
from pathlib import Path


class LogRotation:
    """Moves what a log holds to `name.log.1`, `.2` and so on when it has grown, and drops the oldest.

    Our children write to a file that they were given open, so it is copied and emptied, not renamed: they append, and
    go on at its new beginning.
    """

    def __init__(self, folder: Path, names: Sequence[str], *, max_bytes: int, kept: int) -> None:
        self._files = [folder / f"{name}.log" for name in names]
        self._max_bytes, self._kept = max_bytes, kept

    def poll(self) -> None:
        for file in self._files:
            if file.exists() and file.stat().st_size > self._max_bytes:
                self._rotate(file)

    def _rotate(self, file: Path) -> None:
        for number in range(self._kept - 1, 0, -1):
            if _numbered(file, number).exists():
                _numbered(file, number).replace(_numbered(file, number + 1))
        if self._kept:
            _copy(file, _numbered(file, 1))
        os.truncate(file, 0)


def _numbered(file: Path, number: int) -> Path:
    return file.with_name(f"{file.name}.{number}")


def _copy(source: Path, target: Path) -> None:
    descriptor = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with source.open("rb") as reader, os.fdopen(descriptor, "wb") as writer:
        # To its present end, also of what is written meanwhile: hardly a line falls between this and the emptying.
        shutil.copyfileobj(reader, writer, 1024 * 1024)
