"""The folder of the search index: generations side by side, and a pointer to the one that is searched.

current           name of the generation that is searched, replaced atomically
building          name of the one that is built aside
1-20260102…/      generations: schema version, time, chance
"""

import os
import secrets
import shutil
from datetime import UTC, datetime, timedelta
from pathlib import Path

from pressbox.core.errors import TransientError
from pressbox.curator.search.index.schema import SCHEMA_VERSION

CURRENT = "current"
BUILDING = "building"
# A rebuild that nobody finished in this time was given up, and is not written to any more.
LONGEST_BUILD = timedelta(days=1)

REPAIR = "Run `pressbox trigger reindex --clean` to build it anew."


class IndexFolder:
    def __init__(self, path: Path) -> None:
        self._path = path

    def current(self) -> str | None:
        """The generation that is searched; None before the first entry was indexed."""
        return self._read(CURRENT)

    def building(self) -> str | None:
        name = self._read(BUILDING)
        if name is None or not self.generation(name).is_dir():
            return None
        age = datetime.now(UTC).timestamp() - (self._path / BUILDING).stat().st_mtime
        return name if age < LONGEST_BUILD.total_seconds() else None

    def generation(self, name: str) -> Path:
        return self._path / name

    def checked(self, name: str) -> Path:
        """The folder of a generation of our own version."""
        if name.partition("-")[0] != SCHEMA_VERSION:
            raise TransientError(f"The search index was made by another version of Pressbox. {REPAIR}")
        return self.generation(name)

    def create(self) -> str:
        name = f"{SCHEMA_VERSION}-{datetime.now(UTC):%Y%m%d%H%M%S}-{secrets.token_hex(4)}"
        self.generation(name).mkdir(parents=True)
        return name

    def begin(self) -> str:
        """A new generation that is built aside. What an earlier one left behind is removed by the next swap."""
        name = self.create()
        self._write(BUILDING, name)
        return name

    def point_to(self, name: str) -> None:
        """Searches go to this generation from now on; all others are removed."""
        self._write(CURRENT, name)
        if self._read(BUILDING) == name:
            (self._path / BUILDING).unlink(missing_ok=True)
        for other in self._path.iterdir():
            # Readers that still have it open keep their files until they let go of them.
            if other.is_dir() and other.name != name and other.name != self._read(BUILDING):
                shutil.rmtree(other, ignore_errors=True)

    def _read(self, pointer: str) -> str | None:
        try:
            return (self._path / pointer).read_text(encoding="utf-8").strip() or None
        except FileNotFoundError:
            return None

    def _write(self, pointer: str, name: str) -> None:
        """Whole or not at all, also when the power fails."""
        self._path.mkdir(parents=True, exist_ok=True)
        fresh = self._path / f"{pointer}.{os.getpid()}.new"
        with fresh.open("w", encoding="utf-8") as file:
            file.write(name)
            file.flush()
            os.fsync(file.fileno())
        fresh.replace(self._path / pointer)
        folder = os.open(self._path, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)
