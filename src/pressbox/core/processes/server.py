"""The program of a child process: it runs the functions that its parent names, one after the other.

Started by `ChildPool` as `python -m pressbox.core.processes.server PLAN`; ends when the parent closes its input.
"""

import os
import queue
import resource
import sys
import threading
from typing import BinaryIO

from pressbox.core.processes.calls import FAILED, OK, READY, Failure, Limits, Plan, find_function, signature_of
from pressbox.core.processes.parents import bind_to_parent


def main() -> None:
    plan = Plan.model_validate_json(sys.argv[1])
    # The end of the input tells that the parent is gone, but nothing reads it while a library holds up Python.
    bind_to_parent(os.getppid())
    # A library that prints must not print into the answers.
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    os.nice(5)
    if plan.setup is not None:
        find_function(plan.setup)()
    limit_process(plan.limits)
    calls: queue.Queue[tuple[bytes, bytes]] = queue.Queue()
    threading.Thread(target=_listen, args=(sys.stdin.buffer, calls), daemon=True).start()
    _write(answers, READY)
    while True:
        name, arguments = calls.get()
        function, _, seconds = name.decode().strip().partition(" ")
        if seconds:
            limit_call(int(seconds))
        _write(answers, *run_call(function, arguments))


def _listen(source: BinaryIO, calls: "queue.Queue[tuple[bytes, bytes]]") -> None:
    """Runs in its own thread, so that the child ends with its parent, also in the middle of a call."""
    for name in source:
        calls.put((name, source.readline()))
    os._exit(0)


def _write(answers: BinaryIO, *lines: bytes) -> None:
    answers.write(b"".join(line + b"\n" for line in lines))
    answers.flush()


def run_call(name: str, arguments: bytes) -> tuple[bytes, bytes]:
    try:
        function = find_function(name)
        signature = signature_of(function)
        values = signature.arguments.validate_json(arguments)
        result = function(**dict(zip(signature.parameters.parameters, values, strict=True)))
        return OK, signature.result.dump_json((result,))
    # A stranger's bytes choose the error: it is the answer to this call, and the child goes on.
    except Exception as error:  # noqa: BLE001
        return FAILED, Failure.from_error(error).model_dump_json().encode()


def limit_process(limits: Limits) -> None:
    _lower(resource.RLIMIT_CORE, 0)
    if limits.memory_bytes is not None:
        with open("/proc/self/statm") as file:
            taken = int(file.read().split()[0]) * resource.getpagesize()
        _lower(resource.RLIMIT_AS, taken + limits.memory_bytes)
    if limits.file_bytes is not None:
        _lower(resource.RLIMIT_FSIZE, limits.file_bytes)


def limit_call(seconds: int) -> None:
    usage = resource.getrusage(resource.RUSAGE_SELF)
    _lower(resource.RLIMIT_CPU, int(usage.ru_utime + usage.ru_stime) + 1 + seconds)


def _lower(limit: int, value: int) -> None:
    _, hard = resource.getrlimit(limit)
    resource.setrlimit(limit, (value if hard == resource.RLIM_INFINITY else min(value, hard), hard))


if __name__ == "__main__":
    main()
