"""A whole instance on a temporary home, for benchmarks."""

import resource
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from pressbox.demo.instance import Instance, running_instance
from pressbox.embedded.home import Home
from pressbox.embedded.ports import free_port

OPEN_FILES = 8192


@contextmanager
def temporary_home() -> Iterator[Home]:
    """A home that is gone afterwards. Root's PostgreSQL must be able to pass through to it."""
    folder = Path(tempfile.mkdtemp(prefix="pressbox-bench-"))
    folder.chmod(0o711)
    try:
        yield Home(folder / "home")
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def measured_instance(home: Home, **environment: str) -> Iterator[Instance]:
    """Start on this home with further settings, quietly, and stop at the end."""
    log = home.path.parent / "up.log"
    chosen = {"PRESSBOX_OPEN": "1", "PRESSBOX_WEB_PORT": str(free_port()), **environment}
    with running_instance(home.path, log=log, **chosen) as instance:
        yield instance


def allow_many_connections() -> None:
    """Hundreds of clients are hundreds of open files, here and in the web process that inherits our limit."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = OPEN_FILES if hard == resource.RLIM_INFINITY else min(OPEN_FILES, hard)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
