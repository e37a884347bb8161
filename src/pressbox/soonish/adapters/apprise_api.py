"""Sends through an Apprise API server instead of this process, where an administrator has named one."""

import json

import httpx

from pressbox.core.logs import get_logger
from pressbox.soonish.adapters.send_watch import retry_after
from pressbox.soonish.domain.delivery import AttemptResult, Level
from pressbox.soonish.ports import Attempt

log = get_logger(__name__)

TIMEOUT_SECONDS = 30.0
AT_ONCE = 64
_TYPES = {Level.INFO: "info", Level.WARNING: "warning", Level.CRITICAL: "failure"}
# Its own code for "not everybody was reached".
_NOT_ALL = 424
_LATER = frozenset({408, 425, 429})
_GOOD_LINES = frozenset({"INFO", "SUCCESS"})
_BAD_LINES = frozenset({"WARNING", "ERROR", "CRITICAL"})


class AppriseApi:
    """`POST /notify` with one URL at a time. The server is the administrator's own, so no guard stands before it."""

    def __init__(self, base_url: str) -> None:
        self._client = httpx.AsyncClient(
            base_url=base_url.rstrip("/"),
            timeout=TIMEOUT_SECONDS,
            trust_env=False,
            limits=httpx.Limits(max_connections=AT_ONCE),
            headers={"Accept": "application/json"},
        )

    async def close(self) -> None:
        await self._client.aclose()

    async def send(self, url: str, title: str, body: str, level: Level) -> Attempt:
        message = {"urls": url, "title": title, "body": body, "type": _TYPES[level], "format": "text"}
        try:
            answer = await self._client.post("/notify", json=message)
        except (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout) as error:
            return Attempt(AttemptResult.TROUBLED, f"No connection to the Apprise server ({type(error).__name__}).")
        except httpx.HTTPError as error:
            return Attempt(
                AttemptResult.SILENT, f"Sent, but the Apprise server did not answer ({type(error).__name__})."
            )
        return judged(answer)


def judged(answer: httpx.Response) -> Attempt:
    """From the status and, of a failure, from the levels of its log lines; their texts may quote the address."""
    status = answer.status_code
    if status == httpx.codes.OK:
        return Attempt(AttemptResult.ACCEPTED)
    if status == _NOT_ALL:
        levels = _levels(answer.content)
        if levels & _GOOD_LINES and levels & _BAD_LINES:
            return Attempt(AttemptResult.SILENT, "Only some of the targets of this address took it.")
        return Attempt(AttemptResult.TROUBLED, "The Apprise server could not deliver it.")
    if status in _LATER or status >= 500:
        wait = retry_after(answer.headers.get("Retry-After"))
        return Attempt(AttemptResult.TROUBLED, f"The Apprise server answered {status}.", wait)
    return Attempt(AttemptResult.REFUSED, f"The Apprise server answered {status}.")


def _levels(content: bytes) -> frozenset[str]:
    """`{"error": …, "details": [[level, time, text], …]}`; a server that says less tells us nothing."""
    try:
        answer = json.loads(content)
    except ValueError:
        return frozenset()
    details = answer.get("details") if isinstance(answer, dict) else None
    lines = details if isinstance(details, list) else []
    return frozenset(str(line[0]).upper() for line in lines if isinstance(line, list) and line)
