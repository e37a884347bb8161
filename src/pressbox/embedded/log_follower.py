"""Shows the children's logs as they grow, for `pressbox up --verbose`."""

from collections.abc import Callable, Sequence
from pathlib import Path


class LogFollower:
    """Reads what was added since the last look. A file that became shorter was rotated and is read from its start."""

    def __init__(self, folder: Path, names: Sequence[str], say: Callable[[str], None]) -> None:
        self._files = {name: folder / f"{name}.log" for name in names}
        self._positions = {name: _size(file) for name, file in self._files.items()}
        self._say = say

    def poll(self) -> None:
        for name, file in self._files.items():
            size = _size(file)
            if size < self._positions[name]:
                self._positions[name] = 0
            if size > self._positions[name]:
                self._read(name, file)

    def _read(self, name: str, file: Path) -> None:
        with file.open("rb") as stream:
            stream.seek(self._positions[name])
            text = stream.read()
        # Half a line waits for its other half.
        whole = text[: text.rfind(b"\n") + 1]
        self._positions[name] += len(whole)
        for line in whole.decode(errors="replace").splitlines():
            self._say(f"{name:<8} {line}")


def _size(file: Path) -> int:
    try:
        return file.stat().st_size
    except FileNotFoundError:
        return 0
