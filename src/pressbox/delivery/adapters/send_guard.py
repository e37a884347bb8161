"""Confines the process of one send: its only way out is the guarded proxy, and what it is answered is noted.

Python's audit events report every connection, look-up, file and program before it is opened, in every thread and
whatever library does it. Two patched methods of `requests` send everything through the proxy and report the answers.
Used in forks only: neither can ever be taken back.
"""

import os
import socket
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from functools import wraps
from pathlib import Path
from typing import Any, NoReturn
from urllib.parse import urlsplit
from urllib.request import ProxyHandler, build_opener, install_opener

from pressbox.delivery.adapters.send_results import Exchange, Stage, parse_retry_after, read_retry_after

CONNECT_SECONDS = 5.0
MAX_RESPONSE_BYTES = 1_000_000
# A plugin that wants to wait longer than this gives up instead: the ledger comes back later by itself.
LONGEST_PAUSE_SECONDS = 6.0

_PROGRAMS = frozenset({"subprocess.Popen", "os.system", "os.exec", "os.posix_spawn", "os.fork", "pty.spawn"})
_LOOK_UPS = frozenset({"socket.getaddrinfo", "socket.gethostbyname", "socket.gethostbyaddr"})
_CONNECTIONS = frozenset({"socket.connect", "socket.sendto", "socket.sendmsg", "socket.bind"})


class PauseRefusedError(Exception):
    """A plugin wants to wait until a service has time again."""


class SendGuard:
    """What this process may reach, until when, and what happened. `proxy` is a URL with credentials; "" for none."""

    def __init__(self, proxy: str, seconds: float) -> None:
        self._proxy = proxy
        parts = urlsplit(proxy)
        self._way_out = (parts.hostname, parts.port) if proxy else None
        self._deadline = time.monotonic() + seconds
        self._readable = _readable_folders()
        self.exchanges: list[Exchange] = []
        self.refused = ""

    def confine(self) -> None:
        """From here on, for the rest of this process."""
        way = ProxyHandler({"http": self._proxy, "https": self._proxy} if self._proxy else {})
        install_opener(build_opener(way))
        self._patch_requests()
        sys.addaudithook(self._on_event)

    @property
    def _seconds_left(self) -> float:
        return max(0.05, self._deadline - time.monotonic())

    def _on_event(self, event: str, details: tuple[Any, ...]) -> None:
        if event in _LOOK_UPS:
            if self._way_out is None or _to_text(details[0]) != self._way_out[0]:
                self._refuse("It would look up a name past the guard.")
        elif event in _CONNECTIONS:
            self._check_address(details[0], details[1])
        elif event == "open":
            self._check_file(details[0])
        elif event in _PROGRAMS:
            self._refuse("It would start a program on this machine.")

    def _check_address(self, connection: socket.socket, target: object) -> None:
        # A message on an open connection names no address: it was checked when the connection was opened.
        if target is None:
            return
        if connection.family != socket.AF_INET or self._way_out is None or target != self._way_out:
            self._refuse("It would connect past the guard.")

    def _check_file(self, file: object) -> None:
        if isinstance(file, int):
            return
        if not os.path.realpath(_to_text(file)).startswith(self._readable):
            self._refuse("It would open a file of this machine.")

    def _refuse(self, reason: str) -> NoReturn:
        self.refused = self.refused or reason
        # An OSError, because libraries clean up after one; `refused` says that it was us.
        raise PermissionError(reason)

    def _patch_requests(self) -> None:
        import requests
        from requests.adapters import HTTPAdapter

        ask: Any = requests.Session.request
        send: Any = HTTPAdapter.send

        @wraps(ask)
        def ask_through_proxy(session: requests.Session, *args: Any, **kwargs: Any) -> requests.Response:
            # Nothing from files of ours, such as a password in .netrc, is for an address that a user gave.
            session.trust_env = False
            session.proxies = kwargs["proxies"] = {"http": self._proxy, "https": self._proxy}
            response: requests.Response = ask(session, *args, **kwargs)
            return response

        @wraps(send)
        def send_and_note(adapter: HTTPAdapter, request: requests.PreparedRequest, **kwargs: Any) -> requests.Response:
            # An Apprise URL can set other limits; ours apply.
            kwargs |= {"timeout": (min(CONNECT_SECONDS, self._seconds_left), self._seconds_left), "stream": True}
            # The proxy takes one request per connection: after a redirect a kept one may be closing at this moment.
            adapter.close()
            try:
                response: requests.Response = send(adapter, request, **kwargs)
            except requests.RequestException as error:
                self.exchanges.append(Exchange(stage=_stage_of(error), error=type(error).__name__))
                raise
            wait = parse_retry_after(response.headers.get("Retry-After"))
            status = response.status_code
            noted = Exchange(stage=Stage.ANSWERED, status=status, retry_after=wait)
            self.exchanges.append(noted)
            body = _read_body(response)
            if wait is None and status >= 400:
                self.exchanges[-1] = noted.model_copy(update={"retry_after": read_retry_after(body)})
            return response

        requests.Session.request = ask_through_proxy  # type: ignore[method-assign, assignment]
        HTTPAdapter.send = send_and_note  # type: ignore[method-assign, assignment]


def limit_pauses(sleep: Callable[[float], None] = time.sleep) -> None:
    """Let plugins pause between two targets, and not until a service has time again; before they are loaded."""

    def pause(seconds: Any) -> None:
        if seconds > LONGEST_PAUSE_SECONDS:
            raise PauseRefusedError
        sleep(seconds)

    time.sleep = pause


def _readable_folders() -> tuple[str, ...]:
    """What Python itself reads: its modules, and the lists of time zones and file types."""
    import requests

    libraries = (os.path.dirname(os.__file__), os.path.dirname(requests.__file__))
    python = (sys.prefix, sys.base_prefix, *libraries, str(Path(__file__).parents[2]))
    folders = (f"{Path(folder).resolve()}{os.sep}" for folder in python)
    return (*folders, "/usr/share/zoneinfo/", "/etc/mime.types", "/dev/null", "/dev/urandom")


def _read_body(response: Any) -> bytes:
    """Read the body, up to a limit. The status decides, so a broken body changes nothing."""
    from urllib3.exceptions import HTTPError

    body = b""
    with suppress(HTTPError, OSError):
        body = response.raw.read(MAX_RESPONSE_BYTES, decode_content=True)
    response._content = body
    response._content_consumed = True
    response.raw.close()
    return body


def _stage_of(error: Exception) -> Stage:
    """SENT when the other side could have received the request."""
    import requests
    from urllib3.exceptions import MaxRetryError, NewConnectionError

    # An error of the proxy can be a line that was cut after the request: the proxy itself knows whether it connected.
    if isinstance(error, requests.exceptions.ProxyError):
        return Stage.SENT
    if isinstance(error, requests.ConnectTimeout | requests.exceptions.SSLError | requests.exceptions.InvalidURL):
        return Stage.UNCONNECTED
    cause = error.args[0] if error.args else None
    if isinstance(cause, MaxRetryError):
        cause = cause.reason
    return Stage.UNCONNECTED if isinstance(cause, NewConnectionError) else Stage.SENT


def _to_text(value: object) -> str:
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)
