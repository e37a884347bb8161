"""The program from which `ForkServer` forks: it loads the libraries, then forks once for every line that it is sent.

Started as `python -m pressbox.core.processes.fork_server DESCRIPTOR PLAN`. It has one thread and no state of its own.
A fork ends when its call is done, when its line is cut, when this process ends, or by the kernel when its time is up.
"""

import gc
import os
import signal
import socket
import sys
import threading
from collections.abc import Callable

from pressbox.core.processes.calls import READY, Limits, Plan, find_function
from pressbox.core.processes.forks import GRACE_SECONDS, LINGER_SECONDS
from pressbox.core.processes.parents import bind_to_parent
from pressbox.core.processes.server import limit_call, limit_process, run_call

_afterwards: list[Callable[[], object]] = []


def after_answer(cleanup: Callable[[], object]) -> None:
    """Let this run in a fork once its answer is on its way: farewells may take time that nobody should wait for."""
    _afterwards.append(cleanup)


def main() -> None:
    control = socket.socket(fileno=int(sys.argv[1]))
    plan = Plan.model_validate_json(sys.argv[2])
    if plan.setup is not None:
        find_function(plan.setup)()
    # What is loaded stays shared with every fork: a collection would write into its pages.
    gc.collect()
    gc.freeze()
    # Forks that have ended need no look from us.
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    control.send(READY)
    while True:
        message, descriptors, _, _ = socket.recv_fds(control, 1, 1)
        if not message:
            os._exit(0)
        for descriptor in descriptors:
            _fork(control, descriptor, plan.limits)


def _fork(control: socket.socket, descriptor: int, limits: Limits) -> None:
    server = os.getpid()
    try:
        number = os.fork()
    except OSError:
        # The other end sees that the line is cut, and that it may try again.
        number = -1
    if number == 0:
        try:
            control.close()
            _serve(socket.socket(fileno=descriptor), limits, server)
        finally:
            os._exit(0)
    os.close(descriptor)


def _serve(line: socket.socket, limits: Limits, server: int) -> None:
    """Run the one call of this fork."""
    bind_to_parent(server)
    # By the kernel, whatever holds up Python.
    signal.setitimer(signal.ITIMER_REAL, limits.seconds + GRACE_SECONDS + LINGER_SECONDS)
    limit_process(limits)
    if limits.processor_seconds is not None:
        limit_call(limits.processor_seconds)
    with line.makefile("rb") as calls:
        name, arguments = calls.readline(), calls.readline()
    threading.Thread(target=_end_with_line, args=(line,), daemon=True).start()
    status, answer = run_call(name.decode().strip(), arguments)
    line.sendall(status + b"\n" + answer + b"\n")
    for cleanup in _afterwards:
        cleanup()


def _end_with_line(line: socket.socket) -> None:
    try:
        line.recv(1)
    finally:
        os._exit(0)


if __name__ == "__main__":
    # Under its real name, so that functions that import it find the same list.
    from pressbox.core.processes.fork_server import main as run

    run()
