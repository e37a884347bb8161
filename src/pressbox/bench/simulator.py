"""A simulator in a process of its own: what it costs must not be our cost."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def simulator(module: str, *arguments: str) -> Iterator[str]:
    """Run this module, which says its port on standard output, and end it afterwards; gives its address."""
    process = subprocess.Popen([sys.executable, "-m", module, *arguments], stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        yield f"http://127.0.0.1:{int(process.stdout.readline())}"
    finally:
        process.kill()
        process.communicate()
