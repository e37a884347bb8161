"""Runs Temporal's server where nobody else reaches it, and lets our own processes in through a Unix socket.

The server has no authentication and listens on TCP, with its inner services too. So it gets a network of its own, whose
loopback nobody outside can reach, and this process carries bytes between it and a socket in a folder of the owner.
Where the system gives no such network (it is not Linux, or a container or an administrator forbids it), the server
listens on the machine's loopback, without its web UI, and this process says so.

A script of the standard library alone, run in isolated mode: it starts in no time and stays small.
"""

import ctypes
import errno
import fcntl
import os
import signal
import socket
import struct
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path
from types import FrameType

LOOPBACK = "127.0.0.1"
# A browser never sends this name: the server's HTTP interface answers to no other (DNS rebinding).
HOST = "temporal.invalid"
UI_PATH = "/temporal"
OPEN_MESSAGE = "No private network for Temporal"
_CLONE_NEWUSER = 0x10000000
_CLONE_NEWNET = 0x40000000
_SIOCSIFFLAGS = 0x8914
_IFF_UP = 0x1
_PR_SET_PDEATHSIG = 1
_HEAD_LIMIT = 8192
_HEAD_SECONDS = 10.0
_START_SECONDS = 10.0
_START_PAUSE = 0.02
_PIECE = 65536


@dataclass(frozen=True)
class Ports:
    """Where the server listens."""

    frontend: int
    http: int
    ui: int | None


# Of a network of its own, where every port is free.
PRIVATE_PORTS = Ports(frontend=7233, http=7243, ui=8233)


def main(arguments: Sequence[str]) -> int:
    """`temporal_gate.py SOCKET LOCK COMMAND…`: run the command as the server until it ends; gives its exit code."""
    door, lock, *command = arguments
    os.umask(0o077)
    with ExitStack() as stack:
        # The server inherits the lock and holds it to its end, also when we are killed: two never share a file.
        held = stack.enter_context(Path(lock).open("ab"))
        _hold(held.fileno())
        try:
            enter_private_network()
            ports = PRIVATE_PORTS
        except OSError as error:
            _say(f"{OPEN_MESSAGE}: {error.strerror or error}. Other users of this machine can reach it.")
            frontend, http = _free_ports(2)
            ports = Ports(frontend, http, ui=None)
        listener = stack.enter_context(_listen(door))
        server = _start(command, ports, held.fileno())
        signal.signal(signal.SIGTERM, _forward_to(server))
        signal.signal(signal.SIGINT, _forward_to(server))
        threading.Thread(target=_serve, args=(listener, ports), daemon=True).start()
        code = server.wait()
        Path(door).unlink(missing_ok=True)
        return code


def enter_private_network() -> None:
    """Move this process, and so its children, into a new network that has nothing but a loopback. Linux only."""
    if sys.platform != "linux":
        raise OSError(errno.ENOSYS, "this system has no network namespaces")
    uid, gid = os.geteuid(), os.getegid()
    try:
        _unshare(_CLONE_NEWNET)
    except PermissionError:
        # Not root: a user namespace, in which we keep our own ids, gives the right to make a network.
        _unshare(_CLONE_NEWUSER | _CLONE_NEWNET)
        Path("/proc/self/setgroups").write_text("deny")
        Path("/proc/self/uid_map").write_text(f"{uid} {uid} 1")
        Path("/proc/self/gid_map").write_text(f"{gid} {gid} 1")
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as control:
        fcntl.ioctl(control, _SIOCSIFFLAGS, struct.pack("16sh22x", b"lo", _IFF_UP))


def _unshare(flags: int) -> None:
    if ctypes.CDLL(None, use_errno=True).unshare(flags) != 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))


def _hold(lock: int) -> None:
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        _say("Waiting for an earlier server to end.")
        fcntl.flock(lock, fcntl.LOCK_EX)


def _free_ports(count: int) -> list[int]:
    with ExitStack() as stack:
        return [stack.enter_context(socket.create_server((LOOPBACK, 0))).getsockname()[1] for _ in range(count)]


def _listen(door: str) -> socket.socket:
    Path(door).unlink(missing_ok=True)
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(door)
    listener.listen(64)
    return listener


def _start(command: Sequence[str], ports: Ports, lock: int) -> subprocess.Popen[bytes]:
    ui = ("--ui-port", str(ports.ui), "--ui-public-path", UI_PATH) if ports.ui else ("--headless",)
    return subprocess.Popen(
        [
            *(*command, "--ip", LOOPBACK, "--port", str(ports.frontend), "--http-port", str(ports.http), *ui),
            *("--dynamic-config-value", f'frontend.httpAllowedHosts=["{HOST}"]'),
        ],
        stdin=subprocess.DEVNULL,
        pass_fds=(lock,),
        preexec_fn=_end_with_us,
    )


def _end_with_us() -> None:
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, int(signal.SIGKILL), 0, 0, 0)


def _forward_to(server: subprocess.Popen[bytes]) -> Callable[[int, FrameType | None], None]:
    def forward(number: int, _: FrameType | None) -> None:
        with suppress(ProcessLookupError):
            os.kill(server.pid, number)

    return forward


def _serve(listener: socket.socket, ports: Ports) -> None:
    while True:
        client, _ = listener.accept()
        threading.Thread(target=_carry, args=(client, ports), daemon=True).start()


def _carry(client: socket.socket, ports: Ports) -> None:
    """One connection, from its first bytes, which tell where it wants to go, to its end."""
    with client, suppress(OSError):
        client.settimeout(_HEAD_SECONDS)
        head = client.recv(_HEAD_LIMIT, socket.MSG_PEEK)
        asks_first = head.startswith(b"CONNECT ")
        if asks_first and not _read_request(client):
            return
        client.settimeout(None)
        port = _destination(head, ports)
        if port is None:
            client.sendall(b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
            return
        with _reach(port) as server:
            if asks_first:
                client.sendall(b"HTTP/1.1 200 OK\r\n\r\n")
            answers = threading.Thread(target=_copy, args=(server, client), daemon=True)
            answers.start()
            _copy(client, server)
            answers.join()


def _destination(head: bytes, ports: Ports) -> int | None:
    """gRPC goes to the frontend, whether it asks with CONNECT or comes at once; HTTP to the UI or the interface."""
    if head.startswith((b"PRI ", b"CONNECT ")):
        return ports.frontend
    path = head.partition(b" ")[2].partition(b" ")[0]
    return ports.ui if path.startswith(UI_PATH.encode()) else ports.http


def _read_request(client: socket.socket) -> bool:
    """Read a CONNECT to its end, after which the client waits. What it names does not matter."""
    head = b""
    while not head.endswith(b"\r\n\r\n"):
        piece = client.recv(_HEAD_LIMIT - len(head))
        if not piece:
            return False
        head += piece
    return True


def _reach(port: int) -> socket.socket:
    """A connection to the server; whoever comes while it starts is not sent away."""
    deadline = time.monotonic() + _START_SECONDS
    while True:
        try:
            server = socket.create_connection((LOOPBACK, port))
        except ConnectionRefusedError:
            if time.monotonic() > deadline:
                raise
            time.sleep(_START_PAUSE)
            continue
        server.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return server


def _copy(source: socket.socket, target: socket.socket) -> None:
    with suppress(OSError):
        while piece := source.recv(_PIECE):
            target.sendall(piece)
    # Whoever ended, ends both directions: neither gRPC nor HTTP lives on with half a connection.
    for end in (source, target):
        with suppress(OSError):
            end.shutdown(socket.SHUT_RDWR)


def _say(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
