"""What a send reports, and what that means for the ledger."""

import json
import math
import time
from datetime import timedelta
from email.utils import parsedate_to_datetime
from enum import StrEnum
from typing import TypeGuard

from pydantic import BaseModel, ConfigDict

from pressbox.delivery.domain.attempts import AttemptResult
from pressbox.delivery.ports import Attempt

MAX_RETRY_AFTER = timedelta(hours=1)
# "Too many" without a time: trying again within seconds would only be refused again.
TOO_MANY_PAUSE = timedelta(minutes=1)
_TOO_MANY = 429
_BUSY = frozenset({408, 425, _TOO_MANY})
# Above this a number of Discord's is in milliseconds.
_MOST_SECONDS = 100_000
# Numbers in JSON may be larger than any time.
_LARGEST = 10**12
NO_CONNECTION = "Its server could not be reached."


class Stage(StrEnum):
    """How far an exchange came."""

    UNCONNECTED = "unconnected"
    SENT = "sent"
    ANSWERED = "answered"


class Exchange(BaseModel):
    """One HTTP request of a plugin. `error` is the class of the exception; its text may quote the address."""

    model_config = ConfigDict(frozen=True)

    stage: Stage
    status: int | None = None
    retry_after: timedelta | None = None
    error: str = ""


class SendReport(BaseModel):
    """What happened in the process that sent: the plugin's yes or no, and what was observed of its work."""

    model_config = ConfigDict(frozen=True)

    accepted: bool
    exchanges: tuple[Exchange, ...] = ()
    refused: str = ""
    places: int = 1


def judge_send(report: SendReport, *, connected: bool) -> Attempt:
    """Judge the plugin's answer together with what was observed. `connected`: the proxy reached something."""
    if report.accepted:
        return Attempt(AttemptResult.ACCEPTED)
    if report.refused:
        return Attempt(AttemptResult.REFUSED, report.refused)
    if not connected or not report.exchanges:
        return Attempt(AttemptResult.UNAVAILABLE, NO_CONNECTION)
    if report.places > 1 and any(_succeeded(exchange) for exchange in report.exchanges):
        return Attempt(AttemptResult.UNCONFIRMED, "Only some of the targets of this address accepted it.")
    return _judge_exchange(report.exchanges[-1])


def _judge_exchange(last: Exchange) -> Attempt:
    if last.stage is Stage.UNCONNECTED:
        return Attempt(AttemptResult.UNAVAILABLE, NO_CONNECTION)
    if last.status is None:
        return Attempt(AttemptResult.UNCONFIRMED, "It was sent, but no answer came.")
    if last.status in _BUSY or last.status >= 500:
        wait = last.retry_after or (TOO_MANY_PAUSE if last.status == _TOO_MANY else None)
        return Attempt(AttemptResult.UNAVAILABLE, f"It answered {last.status}.", wait)
    if _succeeded(last):
        return Attempt(AttemptResult.UNAVAILABLE, f"It answered {last.status}, but did not accept the message.")
    return Attempt(AttemptResult.REFUSED, f"It answered {last.status}.")


def _succeeded(exchange: Exchange) -> bool:
    return exchange.status is not None and 200 <= exchange.status < 300


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


def read_retry_after(body: bytes) -> timedelta | None:
    """What an answer in JSON says: Telegram, Discord and Matrix name the time there, some without the header."""
    try:
        answer = json.loads(body)
    except (ValueError, RecursionError):
        return None
    if not isinstance(answer, dict):
        return None
    parameters = answer.get("parameters")
    inner = parameters.get("retry_after") if isinstance(parameters, dict) else None
    milliseconds = answer.get("retry_after_ms")
    named = inner if inner is not None else answer.get("retry_after")
    if named is None and _is_number(milliseconds):
        named = min(milliseconds, _LARGEST) / 1000
    if not _is_number(named) or named <= 0:
        return None
    named = min(named, _LARGEST)
    seconds = named / 1000 if named > _MOST_SECONDS else named
    return min(timedelta(seconds=seconds), MAX_RETRY_AFTER)


def _is_number(value: object) -> TypeGuard[int | float]:
    return (isinstance(value, int) and not isinstance(value, bool)) or (
        isinstance(value, float) and math.isfinite(value)
    )
