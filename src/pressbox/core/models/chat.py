"""A language model behind any OpenAI-compatible endpoint.

The endpoint is an administrator's setting and mostly a machine next door, so it is called directly, not through the
guard for addresses that users and feeds name. Nothing that a model says is ever an instruction to us. Only
`core.models.client.ModelClient` asks it: every request is paid for.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import replace
from datetime import timedelta

import httpx

from pressbox.core.clock import Clock, utc_now
from pressbox.core.errors import (
    AnswerLostError,
    ConfigurationError,
    PressboxError,
    RateLimitedError,
    TransientError,
    UnusableAnswerError,
)
from pressbox.core.http.pauses import pause
from pressbox.core.models.client import DialectLearntError, OnText, Question
from pressbox.core.models.completions import (
    TOO_LONG,
    Said,
    StreamedAnswer,
    Trouble,
    parse_completion,
    parse_trouble,
)
from pressbox.core.models.dialect import Dialect, build_request, fit_material, learn
from pressbox.core.models.endpoints import Endpoint, state_of
from pressbox.core.models.turns import SharedTurns
from pressbox.core.spending.billing import may_be_billed, was_sent
from pressbox.core.spending.till import UnbilledError

LARGEST_ANSWER = 1_000_000
LONGEST_CONNECT_SECONDS = 10.0
# Credit is bought by a person: asking more often changes nothing.
CREDIT_PAUSE = timedelta(hours=1)
_NOT_ABOUT_PARAMETERS = frozenset(
    {
        httpx.codes.UNAUTHORIZED,
        httpx.codes.PAYMENT_REQUIRED,
        httpx.codes.FORBIDDEN,
        httpx.codes.NOT_FOUND,
        httpx.codes.TOO_MANY_REQUESTS,
    }
)


class ChatModel:
    """At most `at_once` requests at a time, each with one of the `turns` that all processes share.

    What is certainly not billed is an UnbilledError around the trouble: a TransientError of the endpoint, or a
    ConfigurationError that names the setting.

    A parameter that the endpoint refuses is left out from then on; while it wants no requests, none is sent.
    """

    def __init__(
        self,
        name: str,
        endpoint: Endpoint,
        *,
        longest_call: timedelta,
        at_once: int,
        turns: SharedTurns | None = None,
        now: Clock = utc_now,
    ) -> None:
        self.name = name
        self.model = endpoint.model
        self._endpoint = endpoint
        self._state = state_of(endpoint)
        self._url = f"{endpoint.url.rstrip('/')}/chat/completions"
        self._longest_call = longest_call
        # Few of one process wait for a turn: waiting means asking the database.
        self._at_once = asyncio.Semaphore(at_once)
        self._turns = turns
        self._now = now
        seconds = longest_call.total_seconds()
        # Redirects are not followed: the key is for the address that was set.
        self._client = httpx.AsyncClient(
            trust_env=False, timeout=httpx.Timeout(seconds, connect=min(seconds, LONGEST_CONNECT_SECONDS))
        )

    async def converse(self, question: Question, on_text: OnText | None = None) -> Said:
        """What we say, then what others wrote; with `on_text` the text is given out while it grows."""
        async with self._at_once, self._turn(read_along=on_text is not None):
            self._respect_rest()
            dialect = self._state.dialect
            material = fit_material(question, dialect)
            if material is None:
                raise UnbilledError(UnusableAnswerError(f"{self.name}: {TOO_LONG}"), sent=False)
            sent = replace(question, material=material)
            said = await self._send(sent, dialect, on_text)
        self._state.learn(Dialect(reasons=said.reasoned, context_tokens=said.cut_at))
        return said

    async def _send(self, question: Question, dialect: Dialect, on_text: OnText | None) -> Said:
        body = build_request(self.model, question, question.material, dialect, streamed=on_text is not None)
        async with self._response(body) as response:
            if response.status_code != httpx.codes.OK:
                trouble = parse_trouble(await self._read_body(response))
                self._learn_from(response, trouble, question, dialect)
                return self._explain(response, trouble)
            if on_text is not None:
                return await self._read_stream(response, on_text)
            content = await self._read_body(response)
        try:
            return parse_completion(content)
        except ValueError as error:
            raise AnswerLostError(f"{self.name}: {error}") from error

    @asynccontextmanager
    async def _turn(self, *, read_along: bool) -> AsyncIterator[None]:
        if self._turns is None:
            yield
            return
        async with AsyncExitStack() as held:
            try:
                await held.enter_async_context(self._turns.take(read_along=read_along))
            except TransientError as error:
                raise UnbilledError(error, sent=False) from error
            yield

    def _respect_rest(self) -> None:
        until, now = self._state.rests_until, self._now()
        if until is not None and now < until:
            raise UnbilledError(RateLimitedError(self._state.rest_reason, retry_after=until - now), sent=False)

    def _learn_from(self, response: httpx.Response, trouble: Trouble, question: Question, dialect: Dialect) -> None:
        """Raise a DialectLearntError when the same can be asked in another way."""
        if may_be_billed(response.status_code) or response.status_code in _NOT_ABOUT_PARAMETERS:
            return
        learnt = learn(dialect, trouble, question, question.material)
        if learnt is not None:
            self._state.learn(learnt)
            words = trouble.words or f"it answers {response.status_code}"
            raise UnbilledError(DialectLearntError(f"{self.name}: the endpoint wants another request ({words})."))

    async def close(self) -> None:
        await self._client.aclose()

    async def _read_stream(self, response: httpx.Response, on_text: OnText) -> Said:
        answer, shown = StreamedAnswer(), ""
        async for line in response.aiter_lines():
            try:
                grows = answer.add(line)
            except ValueError as error:
                raise AnswerLostError(f"{self.name}: {error}") from error
            if answer.ended:
                return answer.said()
            if grows and (text := answer.text) != shown:
                shown = text
                await on_text(text)
            if len(answer.text) > LARGEST_ANSWER:
                raise AnswerLostError(f"{self.name}: the answer is larger than {LARGEST_ANSWER:,} characters.")
        raise AnswerLostError(f"{self.name}: the answer broke off.")

    @asynccontextmanager
    async def _response(self, body: object) -> AsyncIterator[httpx.Response]:
        """The endpoint's response within the time of one call; its troubles as errors of ours."""
        key = self._endpoint.key
        headers = {} if key is None else {"Authorization": f"Bearer {key.get_secret_value()}"}
        try:
            async with (
                asyncio.timeout(self._longest_call.total_seconds()),
                self._client.stream("POST", self._url, json=body, headers=headers) as response,
            ):
                yield response
        except (TimeoutError, httpx.TimeoutException) as error:
            message = f"{self.name}: no complete answer within {self._longest_call.total_seconds():g} seconds."
            raise _lost_or_unsent(message, error) from error
        except (httpx.InvalidURL, httpx.UnsupportedProtocol) as error:
            problem = f"the address is not one. Set {self._endpoint.url_setting}, as http://localhost:1234/v1."
            raise UnbilledError(ConfigurationError(f"{self.name}: {problem}"), sent=False) from error
        except httpx.HTTPError as error:
            # Texts of the library may quote the request, so only the kind is kept.
            message = f"{self.name}: the endpoint cannot be reached ({type(error).__name__})."
            raise _lost_or_unsent(message, error) from error

    async def _read_body(self, response: httpx.Response) -> bytes:
        body = b""
        async for piece in response.aiter_bytes():
            body += piece
            if len(body) > LARGEST_ANSWER:
                raise AnswerLostError(f"{self.name}: the answer is larger than {LARGEST_ANSWER:,} bytes.")
        return body

    def _explain(self, response: httpx.Response, trouble: Trouble) -> Said:
        """A refusal of this one text is an answer without text; everything else is an error."""
        status = response.status_code
        if status < httpx.codes.INTERNAL_SERVER_ERROR and trouble.refuses_text:
            return Said("", reason=trouble.words)
        if may_be_billed(status):
            raise AnswerLostError(f"{self.name}: the endpoint answers {status}.")
        refusal = self._refusal(response, trouble)
        if isinstance(refusal, RateLimitedError) and refusal.retry_after is not None:
            self._state.rest(refusal.retry_after, refusal.message, self._now())
        raise UnbilledError(refusal)

    def _refusal(self, response: httpx.Response, trouble: Trouble) -> PressboxError:
        status, name, endpoint = response.status_code, self.name, self._endpoint
        if status == httpx.codes.PAYMENT_REQUIRED or trouble.wants_credit:
            problem = "the account at the endpoint has no credit left. Buy some, or set another model."
            return RateLimitedError(f"{name}: {problem}", retry_after=CREDIT_PAUSE)
        wait = pause(response.headers, self._now())
        if status == httpx.codes.TOO_MANY_REQUESTS or (status == httpx.codes.SERVICE_UNAVAILABLE and wait is not None):
            return RateLimitedError(f"{name}: the endpoint wants fewer requests.", retry_after=wait)
        if status in (httpx.codes.UNAUTHORIZED, httpx.codes.FORBIDDEN):
            return ConfigurationError(
                f"{name}: the endpoint refuses the key ({status}). Set {endpoint.key_setting} to a valid one."
            )
        if status >= httpx.codes.INTERNAL_SERVER_ERROR:
            return TransientError(f"{name}: the endpoint answers {status}.")
        return ConfigurationError(
            f"{name}: the endpoint does not take the question ({status}). Check {endpoint.url_setting}, which ends "
            f"mostly in /v1, and whether it has a model “{endpoint.model}” for this ({endpoint.model_setting})."
        )


def _lost_or_unsent(message: str, error: Exception) -> Exception:
    return AnswerLostError(message) if was_sent(error) else UnbilledError(TransientError(message), sent=False)
