"""Folders of tests that are called after the process that made them, so that the gate knows what a dead run left."""

import os
import shutil
import socket
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil

FOLDERS = "pressbox-tests-"
# SeaweedFS makes them there, whatever it is told.
OBJECT_SOCKETS = "seaweedfs-*-grpc-{port}.sock"


@contextmanager
def reachable_folder() -> Iterator[Path]:
    """One that another uid can pass through, which pytest's own cannot be: root's PostgreSQL runs as somebody else."""
    folder = Path(tempfile.mkdtemp(prefix=f"{FOLDERS}{os.getpid()}-"))
    folder.chmod(0o711)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def remove_leftovers(place: Path) -> None:
    """What a run that was killed could not remove itself."""
    for folder in place.glob(f"{FOLDERS}*"):
        number = folder.name.removeprefix(FOLDERS).partition("-")[0]
        if number.isdigit() and not psutil.pid_exists(int(number)):
            shutil.rmtree(folder, ignore_errors=True)
    for path in place.glob(OBJECT_SOCKETS.format(port="*")):
        if nobody_listens(path):
            path.unlink(missing_ok=True)


def nobody_listens(path: Path) -> bool:
    with socket.socket(socket.AF_UNIX) as made:
        try:
            made.connect(str(path))
        except ConnectionRefusedError:
            return True
        except OSError:
            return False
    return False
