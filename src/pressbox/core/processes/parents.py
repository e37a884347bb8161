"""Children that end with the process that started them, however it ends: the kernel sees to it, on Linux.

The kernel means the thread that forked: start such a child from a thread that lives as long as the child may.
"""

import ctypes
import os
import signal
import sys
from collections.abc import Callable

_PR_SET_PDEATHSIG = 1
_LIBC = ctypes.CDLL(None, use_errno=True) if sys.platform == "linux" else None


def end_with_parent(number: signal.Signals) -> Callable[[], None] | None:
    """For `preexec_fn`, where it runs after the change of uid, which would reset it."""
    if _LIBC is None:
        return None
    parent = os.getpid()
    return lambda: bind_to_parent(parent, number)


def bind_to_parent(parent: int, number: signal.Signals = signal.SIGKILL) -> None:
    """Called in a child, about the process that started it: ends this one now if that is gone already."""
    if _LIBC is None:
        return
    _LIBC.prctl(_PR_SET_PDEATHSIG, int(number), 0, 0, 0)
    # The parent may have died before the line above.
    if os.getppid() != parent:
        os._exit(1)
