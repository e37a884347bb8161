"""Asks a part's health address. Cheap, because it is asked many times while the part still needs the processor."""

import http.client
import socket
from pathlib import Path
from urllib.parse import urlsplit


def answers_well(url: str, timeout: float = 3.0) -> bool:
    """Is there an answer, and is it a good one? Goes straight to the address: no proxy, no redirect, no encryption."""
    parts = urlsplit(url)
    connection = http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=timeout)
    return _asks_well(connection, parts.path or "/")


def socket_answers_well(path: Path, target: str, *, host: str, timeout: float = 3.0) -> bool:
    """The same, of a Unix socket."""
    return _asks_well(_UnixConnection(path, host, timeout), target)


class _UnixConnection(http.client.HTTPConnection):
    def __init__(self, path: Path, host: str, timeout: float) -> None:
        super().__init__(host, timeout=timeout)
        self._path = path

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(self.timeout)
        self.sock.connect(str(self._path))


def _asks_well(connection: http.client.HTTPConnection, target: str) -> bool:
    try:
        connection.request("GET", target, headers={"Connection": "close"})
        return 200 <= connection.getresponse().status < 300
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()
