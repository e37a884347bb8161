"""Sends through an Apprise API server instead of this process, if an administrator has configured one."""

import json

import httpx

from pressbox.core.logs import get_logger
from pressbox.delivery.adapters.send_results import parse_retry_after
from pressbox.delivery.domain.attempts import AttemptResult, Level
from pressbox.delivery.ports import Attempt

log = get_logger(__name__)

TIMEOUT_SECONDS = 30.0
AT_ONCE = 64
_TYPES = {Level.INFO: "info", Level.WARNING: "warning", Level.CRITICAL: "failure"}
# Its own status for "some targets were not reached".
_PARTIAL = 424
_RETRYABLE = frozenset({408, 425, 429})
_GOOD_LEVELS = frozenset({"INFO", "SUCCESS"})
_BAD_LEVELS = frozenset({"WARNING", "ERROR", "CRITICAL"})


class AppriseApi:
    """`POST /notify` with one URL at a time. The server is the administrator's own, so its address is not guarded."""

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
            response = await self._client.post("/notify", json=message)
        except (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout):
            reason = "The Apprise server of this instance could not be reached."
            return Attempt(AttemptResult.UNAVAILABLE, reason, is_own_fault=True)
        except httpx.HTTPError:
            return Attempt(AttemptResult.UNCONFIRMED, "It was sent, but the Apprise server did not answer.")
        return judge_response(response)


def judge_response(response: httpx.Response) -> Attempt:
    """Judge by the status and, after a failure, by the levels of the log lines: their texts may quote the address."""
    status = response.status_code
    if status == httpx.codes.OK:
        return Attempt(AttemptResult.ACCEPTED)
    if status == _PARTIAL:
        levels = _log_levels(response.content)
        if levels & _GOOD_LEVELS and levels & _BAD_LEVELS:
            return Attempt(AttemptResult.UNCONFIRMED, "Only some of the targets of this address accepted it.")
        return Attempt(AttemptResult.UNAVAILABLE, "The Apprise server could not deliver it.")
    if status in _RETRYABLE or status >= 500:
        wait = parse_retry_after(response.headers.get("Retry-After"))
        # It is the administrator's own server: nothing is known of the target.
        return Attempt(AttemptResult.UNAVAILABLE, f"The Apprise server answered {status}.", wait, is_own_fault=True)
    return Attempt(AttemptResult.REFUSED, f"The Apprise server answered {status}.")


def _log_levels(content: bytes) -> frozenset[str]:
    """From `{"error": …, "details": [[level, time, text], …]}`; empty if the server says less."""
    try:
        answer = json.loads(content)
    except (ValueError, RecursionError):
        return frozenset()
    details = answer.get("details") if isinstance(answer, dict) else None
    lines = details if isinstance(details, list) else []
    return frozenset(str(line[0]).upper() for line in lines if isinstance(line, list) and line)
