"""What recorded histories were when they were recorded. `python -m tests.replay.keeping` adds those that are new."""

from hashlib import sha256
from pathlib import Path

HISTORIES = Path(__file__).parent / "histories"
CHECKSUMS = Path(__file__).parent / "checksums.txt"


def checksum(file: Path) -> str:
    return sha256(file.read_bytes()).hexdigest()


def name_of(file: Path) -> str:
    return file.relative_to(HISTORIES).as_posix()


def read_checksums() -> dict[str, str]:
    """The checksums by name. The file has one line for each, as sha256sum writes them."""
    lines = (line.split("  ", 1) for line in CHECKSUMS.read_text().splitlines())
    return {name: found for found, name in lines}


def keep_new_ones() -> None:
    """Add what has no line yet; a line that is there stays, whatever the file says now."""
    known = read_checksums()
    found = {name_of(file): checksum(file) for file in HISTORIES.glob("*/*.json")} | known
    CHECKSUMS.write_text("".join(f"{found[name]}  {name}\n" for name in sorted(found)))


if __name__ == "__main__":
    keep_new_ones()
