"""A language model behind any OpenAI-compatible endpoint.

The endpoint is an administrator's setting and mostly a machine next door, so it is called directly, not through the
guard for addresses that users and feeds name. Nothing that a model says is ever an instruction to us.
"""

import asyncio
import json
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import httpx
from pydantic import BaseModel, Field, SecretStr, ValidationError

from pressbox.core.errors import AnswerLostError, ConfigurationError, PressboxError, RateLimitedError, TransientError
from pressbox.core.http.pauses import pause

LARGEST_ANSWER = 1_000_000
# Called with all of the text so far, while it is written.
OnText = Callable[[str], Awaitable[None]]
_FENCED = re.compile(r"\s*```(?:json)?\s*(?P<inside>.*?)\s*```\s*", re.DOTALL | re.IGNORECASE)


@dataclass(frozen=True)
class Endpoint:
    """Where the model is, and by which settings people change that."""

    url: str
    model: str
    key: SecretStr | None
    url_setting: str
    key_setting: str
    model_setting: str


@dataclass(frozen=True)
class Said:
    """`tokens_in` and `tokens_out` are 0 when the endpoint does not count."""

    text: str
    tokens_in: int = 0
    tokens_out: int = 0


class _Message(BaseModel):
    content: str


class _Choice(BaseModel):
    message: _Message


class _Usage(BaseModel):
    prompt_tokens: int = Field(0, ge=0)
    completion_tokens: int = Field(0, ge=0)


class _Completion(BaseModel):
    choices: list[_Choice] = Field(min_length=1)
    usage: _Usage | None = None


class _Delta(BaseModel):
    content: str | None = None


class _Change(BaseModel):
    delta: _Delta = _Delta()


class _Chunk(BaseModel):
    choices: list[_Change] = []
    usage: _Usage | None = None


class ChatModel:
    """At most `at_once` calls at a time. Trouble of the endpoint is a TransientError; a wrong setting says which."""

    def __init__(self, name: str, endpoint: Endpoint, *, longest_call: timedelta, at_once: int) -> None:
        self.name = name
        self.model = endpoint.model
        self._endpoint = endpoint
        self._url = f"{endpoint.url.rstrip('/')}/chat/completions"
        self._longest_call = longest_call
        self.turns = asyncio.Semaphore(at_once)
        # Redirects are not followed: the key is for the address that was set.
        self._client = httpx.AsyncClient(trust_env=False, timeout=longest_call.total_seconds())

    async def ask(self, messages: Sequence[object], most_tokens: int) -> Said:
        """One call. Those that belong together are made inside one of `turns`."""
        body = {"model": self.model, "messages": messages, "temperature": 0, "max_tokens": most_tokens}
        async with self._answer(body) as answer:
            text = await self._read_body(answer)
        try:
            completion = _Completion.model_validate_json(text)
        except ValidationError as error:
            raise AnswerLostError(f"{self.name}: the endpoint answers something else than a completion.") from error
        usage = completion.usage or _Usage()
        return Said(completion.choices[0].message.content, usage.prompt_tokens, usage.completion_tokens)

    async def converse(
        self,
        instructions: str,
        material: str,
        most_tokens: int,
        on_text: OnText | None = None,
    ) -> Said:
        """What we say, then what others wrote; with `on_text` the text is given out while it grows."""
        messages = [{"role": "system", "content": instructions}, {"role": "user", "content": material}]
        async with self.turns:
            if on_text is None:
                return await self.ask(messages, most_tokens)
            return await self._stream(messages, most_tokens, on_text)

    async def _stream(self, messages: Sequence[object], most_tokens: int, on_text: OnText) -> Said:
        body = {"model": self.model, "messages": messages, "temperature": 0, "max_tokens": most_tokens}
        body |= {"stream": True, "stream_options": {"include_usage": True}}
        text, usage, ended = "", _Usage(), False
        async with self._answer(body) as answer:
            if answer.status_code != httpx.codes.OK:
                raise self._refusal(answer)
            async for line in answer.aiter_lines():
                if line.strip() == "data: [DONE]":
                    ended = True
                    break
                chunk = self._chunk(line)
                usage = chunk.usage or usage
                piece = "".join(change.delta.content or "" for change in chunk.choices)
                if piece:
                    text += piece
                    await on_text(text)
                if len(text) > LARGEST_ANSWER:
                    raise AnswerLostError(f"{self.name}: the answer is larger than {LARGEST_ANSWER:,} characters.")
        if not ended:
            raise AnswerLostError(f"{self.name}: the answer broke off.")
        return Said(text, usage.prompt_tokens, usage.completion_tokens)

    def _chunk(self, line: str) -> _Chunk:
        if not line.startswith("data:"):
            return _Chunk()
        try:
            return _Chunk.model_validate_json(line.removeprefix("data:"))
        except ValidationError as error:
            raise AnswerLostError(f"{self.name}: the endpoint streams something else than a completion.") from error

    @asynccontextmanager
    async def _answer(self, body: object) -> AsyncIterator[httpx.Response]:
        """The endpoint's answer within the time of one call; its troubles as errors of ours."""
        key = self._endpoint.key
        headers = {} if key is None else {"Authorization": f"Bearer {key.get_secret_value()}"}
        try:
            async with (
                asyncio.timeout(self._longest_call.total_seconds()),
                self._client.stream("POST", self._url, json=body, headers=headers) as answer,
            ):
                yield answer
        except (TimeoutError, httpx.TimeoutException) as error:
            seconds = f"{self._longest_call.total_seconds():g}"
            never_there = isinstance(error, httpx.ConnectTimeout | httpx.PoolTimeout)
            raise (TransientError if never_there else AnswerLostError)(
                f"{self.name}: no complete answer within {seconds} seconds."
            ) from error
        except (httpx.InvalidURL, httpx.UnsupportedProtocol) as error:
            raise ConfigurationError(
                f"{self.name}: the address is not one. Set {self._endpoint.url_setting}, as http://localhost:1234/v1."
            ) from error
        except httpx.HTTPError as error:
            # Texts of the library may quote the request, so only the kind is kept.
            lost = isinstance(error, httpx.ReadError | httpx.RemoteProtocolError)
            raise (AnswerLostError if lost else TransientError)(
                f"{self.name}: the endpoint cannot be reached ({type(error).__name__})."
            ) from error

    async def close(self) -> None:
        await self._client.aclose()

    async def _read_body(self, answer: httpx.Response) -> bytes:
        if answer.status_code != httpx.codes.OK:
            raise self._refusal(answer)
        body = b""
        async for piece in answer.aiter_bytes():
            body += piece
            if len(body) > LARGEST_ANSWER:
                raise AnswerLostError(f"{self.name}: the answer is larger than {LARGEST_ANSWER:,} bytes.")
        return body

    def _refusal(self, answer: httpx.Response) -> PressboxError:
        status, name, endpoint = answer.status_code, self.name, self._endpoint
        wait = pause(answer.headers, datetime.now(UTC))
        if status == httpx.codes.TOO_MANY_REQUESTS or (status == httpx.codes.SERVICE_UNAVAILABLE and wait is not None):
            return RateLimitedError(f"{name}: the endpoint wants fewer requests.", retry_after=wait)
        if status in (httpx.codes.UNAUTHORIZED, httpx.codes.FORBIDDEN):
            return ConfigurationError(
                f"{name}: the endpoint refuses the key ({status}). Set {endpoint.key_setting} to a valid one."
            )
        if status == httpx.codes.REQUEST_TIMEOUT or status >= httpx.codes.INTERNAL_SERVER_ERROR:
            return TransientError(f"{name}: the endpoint answers {status}.")
        return ConfigurationError(
            f"{name}: the endpoint does not take the question ({status}). Check {endpoint.url_setting}, which ends "
            f"mostly in /v1, and whether it has a model “{endpoint.model}” for this ({endpoint.model_setting})."
        )


def json_in(said: str) -> object:
    """The JSON of an answer, also in a fence; a ValueError when there is none."""
    fenced = _FENCED.fullmatch(said)
    try:
        found: object = json.loads(fenced["inside"] if fenced else said)
    except RecursionError as error:
        raise ValueError("The JSON is nested too deeply.") from error
    return found
