"""Ports on loopback: free ones, and who holds a taken one."""

import socket

import psutil

from pressbox.embedded.processes import wait_until

LOOPBACK = "127.0.0.1"
_PATIENCE_SECONDS = 2.0


def is_free(port: int, host: str = LOOPBACK) -> bool:
    """Can we listen there now?"""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as probe:
        # As servers do: a port whose old connections still linger can be taken again.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError:
            return False
        return True


def free_port(preferred: int | None = None) -> int:
    """The preferred port if it is free, or any free one."""
    # A server that was killed a moment ago holds its port until its last thread is gone.
    if preferred is not None and wait_until(lambda: is_free(preferred), _PATIENCE_SECONDS):
        return preferred
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        probe.bind((LOOPBACK, 0))
        port = probe.getsockname()[1]
        assert isinstance(port, int)
        return port


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


def taken(port: int, setting: str) -> str:
    """One sentence for people whose chosen port is not free."""
    by = holder(port)
    return (
        f"Port {port} is already taken{f' by {by}' if by else ''}. Stop that, or choose another port with {setting}=…"
    )
