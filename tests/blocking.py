"""No call of Pressbox waits inside an event loop: web and worker would stand still for everybody meanwhile.

It is found by name and not by a clock. Files are not looked for: they are short, and nobody else has to answer.
"""

import socket
import subprocess
import threading
from collections.abc import Iterable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager

from blockbuster import BlockBuster, BlockBusterFunction

# What the library knows of waiting for the clock, for servers and for databases.
KNOWN = ("time.sleep", "socket.", "ssl.", "sqlite3.", "builtins.input")
OURS = "pressbox"
# What starts and ends whole servers is called from threads, or before anybody is served.
LAUNCHERS = ["pressbox.embedded", "pressbox.bench", "pressbox.demo"]
# A new thread says at once that it runs, and asyncio joins only threads that have ended.
SHORT: list[tuple[str, Iterable[str]]] = [
    ("threading.py", {"start"}),
    ("asyncio/base_events.py", {"shutdown_default_executor"}),
]


def _returns_at_once(waits: socket.socket | object, *arguments: object, **named: object) -> bool:
    if isinstance(waits, socket.socket):
        return waits.gettimeout() == 0
    if isinstance(waits, Future):
        return waits.done()
    return 0 in arguments or named.get("timeout") == 0


def _blocking_functions() -> Iterator[BlockBusterFunction]:
    for name, function in BlockBuster(OURS, excluded_modules=LAUNCHERS).functions.items():
        if name.startswith(KNOWN):
            yield function
    for holder, name in (
        (socket.socket, "sendmsg"),
        (subprocess.Popen, "wait"),
        (subprocess.Popen, "communicate"),
        (threading.Thread, "join"),
        (threading.Event, "wait"),
        (Future, "result"),
    ):
        yield BlockBusterFunction(
            holder,
            name,
            scanned_modules=OURS,
            excluded_modules=LAUNCHERS,
            can_block_functions=SHORT,
            can_block_predicate=_returns_at_once,
        )
    for name in ("getaddrinfo", "gethostbyname"):
        yield BlockBusterFunction(socket, name, scanned_modules=OURS, excluded_modules=LAUNCHERS)


@contextmanager
def forbid_blocking() -> Iterator[None]:
    """Raise `blockbuster.BlockingError` where code of Pressbox blocks the event loop that runs it."""
    functions = [function.activate() for function in _blocking_functions()]
    try:
        yield
    finally:
        for function in functions:
            function.deactivate()
