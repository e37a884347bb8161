"""Asks a part's health address. Cheap, because it is asked many times while the part still needs the processor."""

import http.client
from urllib.parse import urlsplit


def answers_well(url: str, timeout: float = 3.0) -> bool:
    """Is there an answer, and is it a good one? Goes straight to the address: no proxy, no redirect, no encryption."""
    parts = urlsplit(url)
    connection = http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=timeout)
    try:
        connection.request("GET", parts.path or "/", headers={"Connection": "close"})
        return 200 <= connection.getresponse().status < 300
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()
