"""Watches what an Apprise plugin does while it sends one message, limits its time, and refuses what it may not do.

Plugins open their own connections, and their answer is only yes or no. Each send therefore has a `Watch` in its
thread. Python's audit events report every connection, file and program before it is opened, whatever library does it,
so nothing gets round the address guard; two patched methods of `requests` report what the other side answered. Outside
a watched send both do nothing.
"""

import os
import socket
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import timedelta
from email.utils import parsedate_to_datetime
from enum import StrEnum
from functools import wraps
from ipaddress import ip_address
from pathlib import Path
from typing import Any, NoReturn

import requests
from requests.adapters import HTTPAdapter
from urllib3.exceptions import HTTPError, MaxRetryError, NewConnectionError

from pressbox.core.http.guard import SETTING, AllowList, endpoint, normal_host, refusal
from pressbox.core.logs import get_logger

log = get_logger(__name__)

CONNECT_SECONDS = 5.0
MAX_RESPONSE_BYTES = 1_000_000
MAX_RETRY_AFTER = timedelta(hours=1)

_PROGRAMS = frozenset({"subprocess.Popen", "os.system", "os.exec", "os.posix_spawn", "os.fork", "pty.spawn"})
# What Python itself reads: its modules, and the lists of time zones and file types.
_PYTHON = {sys.prefix, sys.base_prefix, os.path.dirname(os.__file__), os.path.dirname(requests.__file__)}
_READABLE = (
    *(f"{Path(folder).resolve()}{os.sep}" for folder in _PYTHON),
    "/usr/share/zoneinfo/",
    "/etc/mime.types",
    "/dev/null",
    "/dev/urandom",
)


class Stage(StrEnum):
    """How far an exchange came."""

    UNCONNECTED = "unconnected"
    SENT = "sent"
    ANSWERED = "answered"


@dataclass(frozen=True)
class Exchange:
    """One HTTP request of a plugin. `error` is the class of the exception; its text may quote the address."""

    stage: Stage
    status: int | None = None
    retry_after: timedelta | None = None
    error: str = ""


class Watch:
    """One send: what it may reach, until when, and what happened."""

    def __init__(self, allow: AllowList, limit: timedelta) -> None:
        self._allow = allow
        self._deadline = time.monotonic() + limit.total_seconds()
        self._host = ""
        self._sockets: list[socket.socket] = []
        self._lock = threading.Lock()
        self.exchanges: list[Exchange] = []
        self.connected = False
        self.mail_handed_over = False
        self.refused = ""

    @property
    def seconds_left(self) -> float:
        return max(0.05, self._deadline - time.monotonic())

    def cut(self) -> None:
        """Shut down every open connection; the thread that waits there gets an error."""
        self._deadline = 0.0
        with self._lock:
            for connection in self._sockets:
                with suppress(OSError):
                    connection.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        with self._lock:
            for connection in self._sockets:
                connection.close()
            self._sockets.clear()

    def on_audit_event(self, event: str, details: tuple[Any, ...]) -> None:
        if event == "socket.getaddrinfo":
            self._host = normal_host(_to_text(details[0]))
        elif event in ("socket.connect", "socket.sendto", "socket.sendmsg"):
            # A message on an open connection names no address: it was checked when the connection was opened.
            if details[1] is not None:
                self._check_address(details[0], details[1])
        elif event == "open":
            self._check_file(details[0])
        elif event in _PROGRAMS:
            self._refuse("It would start a program on this machine.")
        elif event == "smtplib.send" and _to_text(details[1]).endswith("\r\n.\r\n"):
            self.mail_handed_over = True

    def _check_address(self, connection: socket.socket, target: object) -> None:
        if time.monotonic() > self._deadline:
            raise TimeoutError("The time for this message is over.")
        if connection.family not in (socket.AF_INET, socket.AF_INET6) or not isinstance(target, tuple):
            self._refuse("It would reach a service of this machine.")
        host, port = str(target[0]), int(target[1])
        try:
            address = ip_address(host.partition("%")[0])
        except ValueError:
            # The name would be looked up inside the call, where the answer cannot be checked.
            self._refuse("It connects to a name without looking up its address first.")
        reason = refusal(address)
        if reason is not None and not self._allow.allows(self._host or host, address, port):
            log.warning("address_refused", msg="Not connected", port=port, address=host, reason=reason)
            self._refuse(
                f"Its address is {reason}, not on the public internet. "
                f"An administrator can allow it with {SETTING}={endpoint(self._host or host, port)}."
            )
        self._keep(connection)

    def _keep(self, connection: socket.socket) -> None:
        self.connected = True
        # Of several addresses of a name, an earlier one may have been refused.
        self.refused = ""
        # A second handle on the same connection: TLS detaches the first one from its object.
        handle = socket.socket(fileno=os.dup(connection.fileno()))
        with self._lock:
            self._sockets.append(handle)

    def _check_file(self, file: object) -> None:
        if isinstance(file, int):
            return
        path = os.path.realpath(_to_text(file))
        if not path.startswith(_READABLE):
            self._refuse("It would open a file of this machine.")

    def _refuse(self, reason: str) -> NoReturn:
        self.refused = reason
        # An OSError, because libraries clean up after one; `refused` says that it was us.
        raise PermissionError(reason)


_current = threading.local()
_installed = threading.Lock()


@contextmanager
def watched(watch: Watch) -> Iterator[None]:
    """Let this watch see everything that this thread does inside the block."""
    _install()
    _current.watch = watch
    try:
        yield
    finally:
        _current.watch = None
        watch.close()


def _install() -> None:
    """Once per process: an audit hook can never be removed."""
    if not _installed.acquire(blocking=False):
        return
    sys.addaudithook(_on_event)
    HTTPAdapter.send = _observe(HTTPAdapter.send)  # type: ignore[method-assign]
    requests.Session.request = _ignore_environment(requests.Session.request)  # type: ignore[method-assign]


def _on_event(event: str, details: tuple[Any, ...]) -> None:
    watch: Watch | None = getattr(_current, "watch", None)
    if watch is not None:
        watch.on_audit_event(event, details)


def _ignore_environment(original: Any) -> Any:
    @wraps(original)
    def request(session: requests.Session, *args: Any, **kwargs: Any) -> requests.Response:
        if getattr(_current, "watch", None) is not None:
            # Neither our proxy nor a password from our .netrc is for an address that a user gave.
            session.trust_env = False
        response: requests.Response = original(session, *args, **kwargs)
        return response

    return request


def _observe(original: Any) -> Any:
    @wraps(original)
    def send(adapter: HTTPAdapter, request: requests.PreparedRequest, **kwargs: Any) -> requests.Response:
        watch: Watch | None = getattr(_current, "watch", None)
        if watch is None:
            response: requests.Response = original(adapter, request, **kwargs)
            return response
        # An Apprise URL can set other limits; ours apply.
        kwargs |= {"timeout": (min(CONNECT_SECONDS, watch.seconds_left), watch.seconds_left), "stream": True}
        try:
            response = original(adapter, request, **kwargs)
        except requests.RequestException as error:
            watch.exchanges.append(Exchange(_stage_of(error), error=type(error).__name__))
            raise
        wait = parse_retry_after(response.headers.get("Retry-After"))
        watch.exchanges.append(Exchange(Stage.ANSWERED, response.status_code, wait))
        _read_body(response)
        return response

    return send


def _read_body(response: requests.Response) -> None:
    """Read the body, up to a limit. The status decides, so a broken body changes nothing."""
    body = b""
    with suppress(HTTPError, OSError):
        body = response.raw.read(MAX_RESPONSE_BYTES, decode_content=True)
    response._content = body
    response._content_consumed = True
    response.raw.close()


def _stage_of(error: requests.RequestException) -> Stage:
    """SENT when the other side could have received the request."""
    if isinstance(error, requests.ConnectTimeout | requests.exceptions.SSLError | requests.exceptions.InvalidURL):
        return Stage.UNCONNECTED
    cause = error.args[0] if error.args else None
    if isinstance(cause, MaxRetryError):
        cause = cause.reason
    return Stage.UNCONNECTED if isinstance(cause, NewConnectionError) else Stage.SENT


def parse_retry_after(value: str | None) -> timedelta | None:
    """Read the header in either of its two forms; None when it is missing or invalid."""
    if not value:
        return None
    text = value.strip()
    if text.isascii() and text.isdigit():
        return min(timedelta(seconds=int(text[:9])), MAX_RETRY_AFTER)
    try:
        moment = parsedate_to_datetime(text)
        wait = timedelta(seconds=moment.timestamp() - time.time())
    except (ValueError, OverflowError):
        return None
    return min(max(wait, timedelta()), MAX_RETRY_AFTER)


def _to_text(value: object) -> str:
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)
