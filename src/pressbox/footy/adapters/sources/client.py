"""Sends requests to a source and parses its JSON; errors name the source and say what to do."""

import json
from collections.abc import Awaitable, Callable, Iterable, Mapping
from datetime import UTC, datetime, timedelta
from typing import TypeVar

import httpx
from pydantic import BaseModel, ConfigDict, ValidationError

from pressbox.core.errors import PermanentError, PressboxError, TransientError
from pressbox.core.http.client import GuardedClient, Response
from pressbox.core.http.pauses import number, pause
from pressbox.core.logs import get_logger
from pressbox.footy.adapters.sources.refusals import read_reason
from pressbox.footy.domain.errors import (
    SourceBlockedError,
    SourceBusyError,
    SourceError,
    SourceLoginError,
    SourceRefusedError,
)
from pressbox.footy.domain.request_budget import measure_clock

log = get_logger(__name__)

TIMEOUT = timedelta(seconds=20)
LARGEST_ANSWER = 8_000_000
# When a source asks us to wait and does not say how long.
DEFAULT_PAUSE = timedelta(minutes=1)
LONGEST_PAUSE = timedelta(hours=1)
# A login that was refused stays refused until somebody changes something, and accounts that keep knocking are locked.
LOGIN_PAUSE = timedelta(minutes=15)
_LEFT_IN_WINDOW = ("x-rate-limit-remaining", "ratelimit-remaining", "x-ratelimit-remaining")


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
        self._held: tuple[datetime, PressboxError | None] | None = None
        # How far our clock was ahead of the service's at its last answer.
        self.clock_ahead_seconds: float | None = None

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
        """Send data, as logins do. Their windows are others than those of searches."""
        self.check_pause()
        accepted = {"Accept": "application/json", **(headers or {})}
        answer = await self._send(
            self._http.post(url, content, headers=accepted, timeout=TIMEOUT, max_bytes=LARGEST_ANSWER)
        )
        self._raise_refusal(answer)
        return self.parse(answer, shape)

    def parse(self, answer: Response, shape: type[ModelT]) -> ModelT:
        try:
            return shape.model_validate(self.parse_json(answer))
        except ValidationError as error:
            raise SourceError(f"{self.source}: the answer has an unknown form.") from error

    def parse_json(self, answer: Response) -> object:
        try:
            return json.loads(answer.body)
        except (ValueError, RecursionError) as error:
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
            answer = await sending
        except TransientError as error:
            raise SourceError(f"{self.source}: {error.message}") from error
        except PermanentError as error:
            raise SourceRefusedError(f"{self.source}: {error.message}") from error
        # What a cache kept has the time at which it was kept.
        if not number(answer.headers.get("age", "")):
            measured = measure_clock(answer.headers.get("date", ""), self.now())
            self.clock_ahead_seconds = self.clock_ahead_seconds if measured is None else measured
        return answer

    def hold(self, error: PressboxError, wait: timedelta) -> PressboxError:
        """Ask nothing for a while and give this error instead, which is returned to be raised."""
        self._held = (self.now() + wait, error)
        return error

    def check_pause(self) -> None:
        if self._held is None or self._held[0] <= self.now():
            return
        until, error = self._held
        if error is None:
            raise self._busy(until - self.now())
        raise type(error)(f"{error.message} Not asked again before {until:%H:%M} UTC.")

    def _busy(self, wait: timedelta) -> SourceBusyError:
        seconds = max(1, round(wait.total_seconds()))
        return SourceBusyError(
            f"{self.source}: too many requests; it asks for a pause of {seconds} s.", retry_after=wait
        )

    def check_status(self, answer: Response) -> Response:
        self._raise_refusal(answer)
        self._note_exhausted_window(answer)
        return answer

    def _raise_refusal(self, answer: Response) -> None:
        """The service's own word for the refusal is in `details`, for whoever knows it."""
        status = answer.status
        if status == httpx.codes.OK:
            return
        if status == httpx.codes.TOO_MANY_REQUESTS:
            wait = min(pause(answer.headers, self.now()) or DEFAULT_PAUSE, LONGEST_PAUSE)
            self._held = (self.now() + wait, None)
            raise self._busy(wait)
        if status == httpx.codes.FORBIDDEN and answer.body.lstrip()[:1] == b"<":
            raise SourceBlockedError(
                f"{self.source}: a web page blocks us (403), maybe because of our network address; no key mends that."
            )
        reason = read_reason(answer)
        words = f"{status}, {reason.text}" if reason.text else str(status)
        if status in (httpx.codes.UNAUTHORIZED, httpx.codes.FORBIDDEN):
            message = f"{self.source}: access refused ({words}). Check its login or key."
            raise SourceLoginError(message, status=status, reason=reason.code)
        if status >= httpx.codes.INTERNAL_SERVER_ERROR:
            raise SourceError(f"{self.source}: answered {status}.")
        if status >= httpx.codes.BAD_REQUEST:
            raise SourceRefusedError(
                f"{self.source}: rejected the request ({words}).", status=status, reason=reason.code
            )
        raise SourceError(f"{self.source}: answered {status} without data.")

    def _note_exhausted_window(self, answer: Response) -> None:
        left = next((answer.headers[name] for name in _LEFT_IN_WINDOW if name in answer.headers), "")
        # The next request would be refused, and some services count those as abuse.
        if number(left) == 0 and (wait_for := pause(answer.headers, self.now())) is not None:
            self._held = (self.now() + min(wait_for, LONGEST_PAUSE), None)


def _describe_body(answer: Response) -> str:
    kind = answer.headers.get("content-type", "").partition(";")[0].strip()
    start = answer.body[:200].lstrip()
    if kind == "text/html" or start.startswith(b"<"):
        return "sent a web page instead of data; it may want a login or block us"
    if not start:
        return "sent an empty answer"
    return "sent incomplete or invalid JSON"
