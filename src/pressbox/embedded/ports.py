"""Ports on loopback: free ones, and who holds a taken one."""

import errno
import random
import socket

import psutil

from pressbox.core.errors import ConfigurationError
from pressbox.embedded.processes import wait_until

LOOPBACK = "127.0.0.1"
_PATIENCE_SECONDS = 2.0
_CHOSEN_FROM = range(20_000, 32_000)


def is_free(port: int, host: str = LOOPBACK) -> bool:
    """Can we listen there now?"""
    return _bind_error(port, host) is None


def require_free(port: int, setting: str, host: str = LOOPBACK, host_setting: str = "") -> None:
    """Raise, for people, when a chosen port cannot be listened on; waits a moment for one that is being let go."""
    if wait_until(lambda: is_free(port, host), _PATIENCE_SECONDS):
        return
    error = _bind_error(port, host)
    if error is None:
        return
    if error.errno == errno.EADDRINUSE:
        by = holder(port)
        raise ConfigurationError(
            f"Port {port} is already taken{f' by {by}' if by else ''}. "
            f"Stop that, or choose another port, for example {setting}={free_port()}."
        )
    settings = f"{setting} or {host_setting}" if host_setting else setting
    reason = (error.strerror or str(error)).lower()
    raise ConfigurationError(f"Cannot listen on {host}, port {port}: {reason}. Change {settings}.")


def free_port(preferred: int | None = None) -> int:
    """The preferred port if it is free, or any free one."""
    # A server that was killed a moment ago holds its port until its last thread is gone.
    if preferred is not None and wait_until(lambda: is_free(preferred), _PATIENCE_SECONDS):
        return preferred
    # Below the range from which systems give out ports by themselves: nobody gets it before it is listened on.
    return next(port for port in random.sample(_CHOSEN_FROM, len(_CHOSEN_FROM)) if is_free(port))


def hold_ports(count: int) -> tuple[socket.socket, ...]:
    """As many free ports, each held by a socket until that is closed: nobody else finds them free meanwhile."""
    held: list[socket.socket] = []
    for port in random.sample(_CHOSEN_FROM, len(_CHOSEN_FROM)):
        if len(held) == count:
            break
        holding = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        try:
            # Without the option by which two who do not listen yet may share a port.
            holding.bind((LOOPBACK, port))
            held.append(holding)
        except OSError:
            holding.close()
    return tuple(held)


def answers(port: int, host: str = LOOPBACK, timeout: float = 1.0) -> bool:
    """Does anything accept a connection there?"""
    try:
        with socket.create_connection((host, port), timeout=timeout):
            return True
    except OSError:
        return False


def holder(port: int) -> str:
    """The process that listens on a port, as "name (pid 123)"; empty when the system does not tell us."""
    try:
        connections = psutil.net_connections(kind="tcp")
    except psutil.AccessDenied:
        return ""
    for connection in connections:
        listens = connection.status == psutil.CONN_LISTEN and connection.laddr and connection.laddr.port == port
        if listens and connection.pid:
            try:
                return f"{psutil.Process(connection.pid).name()} (pid {connection.pid})"
            except psutil.Error:
                return f"pid {connection.pid}"
    return ""


def _bind_error(port: int, host: str) -> OSError | None:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as probe:
        # As servers do: a port whose old connections still linger can be taken again.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError as error:
            return error
        return None
