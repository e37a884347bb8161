"""A language model behind any OpenAI-compatible endpoint.

The endpoint is an administrator's setting and mostly a machine next door, so it is called directly, not through the
guard for addresses that users and feeds name. Nothing that a model says is ever an instruction to us. Only
`core.models.client.ModelClient` asks it: every request is paid for.
"""

import asyncio
import base64
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import httpx
from pydantic import SecretStr

from pressbox.core.errors import AnswerLostError, ConfigurationError, PressboxError, RateLimitedError, TransientError
from pressbox.core.http.pauses import pause
from pressbox.core.models.client import OnText
from pressbox.core.models.completions import Said, StreamedAnswer, Trouble, parse_completion, parse_trouble
from pressbox.core.spending.billing import may_be_billed, was_sent
from pressbox.core.spending.till import UnbilledError

LARGEST_ANSWER = 1_000_000
LONGEST_CONNECT_SECONDS = 10.0
# Credit is bought by a person: asking more often changes nothing.
CREDIT_PAUSE = timedelta(hours=1)


@dataclass(frozen=True)
class Endpoint:
    """Where the model is, and by which settings people change that."""

    url: str
    model: str
    key: SecretStr | None
    url_setting: str
    key_setting: str
    model_setting: str


class ChatModel:
    """At most `at_once` requests at a time. What is certainly not billed is an UnbilledError around the trouble: a
    TransientError of the endpoint, or a ConfigurationError that names the setting.
    """

    def __init__(self, name: str, endpoint: Endpoint, *, longest_call: timedelta, at_once: int) -> None:
        self.name = name
        self.model = endpoint.model
        self._endpoint = endpoint
        self._url = f"{endpoint.url.rstrip('/')}/chat/completions"
        self._longest_call = longest_call
        self._turns = asyncio.Semaphore(at_once)
        seconds = longest_call.total_seconds()
        # Redirects are not followed: the key is for the address that was set.
        self._client = httpx.AsyncClient(
            trust_env=False, timeout=httpx.Timeout(seconds, connect=min(seconds, LONGEST_CONNECT_SECONDS))
        )

    async def converse(
        self,
        instructions: str,
        material: str,
        most_tokens: int,
        on_text: OnText | None = None,
        pictures: Sequence[bytes] = (),
    ) -> Said:
        """What we say, then what others wrote; with `on_text` the text is given out while it grows."""
        user: object = material if not pictures else [{"type": "text", "text": material}, *map(_picture, pictures)]
        messages = [{"role": "system", "content": instructions}, {"role": "user", "content": user}]
        body = {"model": self.model, "messages": messages, "temperature": 0, "max_tokens": most_tokens}
        if on_text is not None:
            body |= {"stream": True, "stream_options": {"include_usage": True}}
        async with self._turns, self._response(body) as response:
            if response.status_code != httpx.codes.OK:
                return self._explain(response, await self._read_body(response))
            if on_text is not None:
                return await self._read_stream(response, on_text)
            content = await self._read_body(response)
        try:
            return parse_completion(content)
        except ValueError as error:
            raise AnswerLostError(f"{self.name}: {error}") from error

    async def close(self) -> None:
        await self._client.aclose()

    async def _read_stream(self, response: httpx.Response, on_text: OnText) -> Said:
        answer = StreamedAnswer()
        async for line in response.aiter_lines():
            try:
                piece = answer.add(line)
            except ValueError as error:
                raise AnswerLostError(f"{self.name}: {error}") from error
            if answer.ended:
                return answer.said()
            if piece:
                await on_text(answer.text)
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

    def _explain(self, response: httpx.Response, body: bytes) -> Said:
        """A refusal of this one text is an answer without text; everything else is an error."""
        status, trouble = response.status_code, parse_trouble(body)
        if status < httpx.codes.INTERNAL_SERVER_ERROR and trouble.refuses_text:
            return Said("", reason=trouble.words)
        if may_be_billed(status):
            raise AnswerLostError(f"{self.name}: the endpoint answers {status}.")
        raise UnbilledError(self._refusal(response, trouble))

    def _refusal(self, response: httpx.Response, trouble: Trouble) -> PressboxError:
        status, name, endpoint = response.status_code, self.name, self._endpoint
        if status == httpx.codes.PAYMENT_REQUIRED or trouble.wants_credit:
            problem = "the account at the endpoint has no credit left. Buy some, or set another model."
            return RateLimitedError(f"{name}: {problem}", retry_after=CREDIT_PAUSE)
        wait = pause(response.headers, datetime.now(UTC))
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


def _picture(jpeg: bytes) -> dict[str, object]:
    url = f"data:image/jpeg;base64,{base64.b64encode(jpeg).decode('ascii')}"
    return {"type": "image_url", "image_url": {"url": url}}


def _lost_or_unsent(message: str, error: Exception) -> Exception:
    return AnswerLostError(message) if was_sent(error) else UnbilledError(TransientError(message), sent=False)
