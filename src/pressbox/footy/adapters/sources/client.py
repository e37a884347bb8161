"""Sends requests to a source and parses its JSON; errors name the source and say what to do."""

import json
from collections.abc import Awaitable, Callable, Iterable, Mapping
from datetime import UTC, datetime, timedelta
from typing import TypeVar

import httpx
from pydantic import BaseModel, ConfigDict, ValidationError

from pressbox.core.errors import PermanentError, TransientError
from pressbox.core.http.client import GuardedClient, Response
from pressbox.core.http.pauses import number, pause
from pressbox.core.logs import get_logger
from pressbox.footy.domain.errors import (
    SourceBlockedError,
    SourceBusyError,
    SourceError,
    SourceLoginError,
    SourceRefusedError,
)

log = get_logger(__name__)

TIMEOUT = timedelta(seconds=20)
LARGEST_ANSWER = 8_000_000
# When a source asks us to wait and does not say how long.
DEFAULT_PAUSE = timedelta(minutes=1)
LONGEST_PAUSE = timedelta(hours=1)


class SourceModel(BaseModel):
    """Base of the parts of an answer that we use; the rest is ignored."""

    model_config = ConfigDict(frozen=True, extra="ignore")


ModelT = TypeVar("ModelT", bound=SourceModel)
Clock = Callable[[], datetime]


def utc_now() -> datetime:
    return datetime.now(UTC)


class SourceClient:
    """Sends the requests of one source, and respects the pauses that it asks for."""

    def __init__(self, source: str, http: GuardedClient, clock: Clock = utc_now) -> None:
        self.source = source
        self._http = http
        self._clock = clock
        self._not_before: datetime | None = None

    def now(self) -> datetime:
        return self._clock()

    async def get(self, url: str, shape: type[ModelT], *, headers: Mapping[str, str] | None = None) -> ModelT:
        return self.parse(await self.fetch(url, headers=headers), shape)

    async def fetch(self, url: str, *, headers: Mapping[str, str] | None = None) -> Response:
        """Return an answer with status 200, whatever it holds."""
        self.check_pause()
        return self.check_status(await self.request(url, headers=headers))

    async def request(self, url: str, *, headers: Mapping[str, str] | None = None) -> Response:
        """Send one request and return its answer, whatever its status."""
        accepted = {"Accept": "application/json", **(headers or {})}
        return await self._send(self._http.get(url, headers=accepted, timeout=TIMEOUT, max_bytes=LARGEST_ANSWER))

    async def post(
        self, url: str, content: bytes, shape: type[ModelT], *, headers: Mapping[str, str] | None = None
    ) -> ModelT:
        self.check_pause()
        accepted = {"Accept": "application/json", **(headers or {})}
        answer = await self._send(
            self._http.post(url, content, headers=accepted, timeout=TIMEOUT, max_bytes=LARGEST_ANSWER)
        )
        return self.parse(self.check_status(answer), shape)

    def parse(self, answer: Response, shape: type[ModelT]) -> ModelT:
        try:
            return shape.model_validate(self.parse_json(answer))
        except ValidationError as error:
            raise SourceError(f"{self.source}: the answer has an unknown form.") from error

    def parse_json(self, answer: Response) -> object:
        try:
            return json.loads(answer.body)
        except ValueError as error:
            raise SourceError(f"{self.source}: {_describe_body(answer)}.") from error

    def parse_each(self, items: Iterable[object], shape: type[ModelT]) -> list[ModelT]:
        """Parse what can be parsed: one odd item does not hide the others. Raises when none of them can."""
        given, good = 0, []
        for item in items:
            given += 1
            try:
                good.append(shape.model_validate(item))
            except ValidationError as error:
                log.warning(
                    "post_unreadable", msg="A post could not be read", source=self.source, problems=error.error_count()
                )
        if given and not good:
            raise SourceError(f"{self.source}: none of {given} posts could be read.")
        return good

    async def _send(self, sending: Awaitable[Response]) -> Response:
        try:
            return await sending
        except TransientError as error:
            raise SourceError(f"{self.source}: {error.message}") from error
        except PermanentError as error:
            raise SourceRefusedError(f"{self.source}: {error.message}") from error

    def check_pause(self) -> None:
        if self._not_before is not None and self._not_before > self.now():
            raise self._busy(self._not_before - self.now())

    def _busy(self, wait: timedelta) -> SourceBusyError:
        seconds = max(1, round(wait.total_seconds()))
        return SourceBusyError(
            f"{self.source}: too many requests; it asks for a pause of {seconds} s.", retry_after=wait
        )

    def check_status(self, answer: Response) -> Response:
        status = answer.status
        if status == httpx.codes.TOO_MANY_REQUESTS:
            wait = min(pause(answer.headers, self.now()) or DEFAULT_PAUSE, LONGEST_PAUSE)
            self._not_before = self.now() + wait
            raise self._busy(wait)
        if status == httpx.codes.FORBIDDEN and answer.body.lstrip()[:1] == b"<":
            raise SourceBlockedError(
                f"{self.source}: a web page blocks us (403), maybe because of our network address; no key mends that."
            )
        if status in (httpx.codes.UNAUTHORIZED, httpx.codes.FORBIDDEN):
            raise SourceLoginError(f"{self.source}: access refused ({status}). Check its login or key.")
        if status >= httpx.codes.INTERNAL_SERVER_ERROR:
            raise SourceError(f"{self.source}: answered {status}.")
        if status >= httpx.codes.BAD_REQUEST:
            raise SourceRefusedError(f"{self.source}: rejected the request ({status}).")
        if status != httpx.codes.OK:
            raise SourceError(f"{self.source}: answered {status} without data.")
        self._note_exhausted_window(answer)
        return answer

    def _note_exhausted_window(self, answer: Response) -> None:
        left = answer.headers.get("x-rate-limit-remaining", answer.headers.get("x-ratelimit-remaining", ""))
        # The next request would be refused, and some services count those as abuse.
        if number(left) == 0 and (wait_for := pause(answer.headers, self.now())) is not None:
            self._not_before = self.now() + min(wait_for, LONGEST_PAUSE)


def _describe_body(answer: Response) -> str:
    kind = answer.headers.get("content-type", "").partition(";")[0].strip()
    start = answer.body[:200].lstrip()
    if kind == "text/html" or start.startswith(b"<"):
        return "sent a web page instead of data; it may want a login or block us"
    if not start:
        return "sent an empty answer"
    return "sent incomplete or invalid JSON"
