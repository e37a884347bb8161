"""Translators that are services behind HTTP: their requests, their errors as ours, and answers paid for once.

The address is an administrator's setting, so it is called directly, not through the guard for addresses that other
people name. An answer is only text until `read_answer` accepts it for its block.
"""

import asyncio
import hashlib
import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Protocol

import httpx

from pressbox.core.errors import (
    AnswerLostError,
    ConfigurationError,
    PermanentError,
    PressboxError,
    RateLimitedError,
    TransientError,
    UnusableAnswerError,
)
from pressbox.core.http.pauses import pause
from pressbox.core.spending.billing import OVERLOADED, may_be_billed, was_sent
from pressbox.core.spending.domain import Order, PaidAnswer, PaidCall
from pressbox.core.spending.pay_once import PayOnce
from pressbox.core.spending.till import UnbilledError
from pressbox.curator.models.domain import Feature
from pressbox.curator.translate.activities import LanguagePair, TranslationSource
from pressbox.curator.translate.blocks import Block
from pressbox.curator.translate.domain import BlockTranslation, Limits, outgoing_text, read_answer

# Changes with every change of what is sent: then everything is new work.
VERSION = "1"
LARGEST_ANSWER = 2_000_000
LONGEST_CALL = timedelta(seconds=60)
# A quota is renewed by a new month or a payment: asking more often changes nothing.
QUOTA_PAUSE = timedelta(hours=1)
BUSY_PAUSE = timedelta(seconds=30)
LONGEST_CONNECT_SECONDS = 10.0
WRONG_COUNT = "The answer has more or fewer texts than the question."


@dataclass(frozen=True)
class Translated:
    """`characters` are those that the service bills; None when it does not say."""

    texts: Sequence[str]
    characters: int | None = None


class TextTranslator(Protocol):
    """A service that translates texts by one request: HTML with marks in, as many texts out, in the same order."""

    provider: str
    limits: Limits

    async def translate_texts(self, texts: Sequence[str], languages: LanguagePair) -> Translated: ...


class ServiceTranslator:
    """The `Translator` on a service: every request is paid for once."""

    # Services do not name the model that they use.
    model = ""

    def __init__(self, service: TextTranslator, pay_once: PayOnce, price_per_million: float) -> None:
        self._service = service
        self._pay_once = pay_once
        self._price = price_per_million

    @property
    def provider(self) -> str:
        return self._service.provider

    @property
    def limits(self) -> Limits:
        return self._service.limits

    async def translate(
        self, blocks: Sequence[Block], languages: LanguagePair, source: TranslationSource
    ) -> Sequence[BlockTranslation]:
        texts = [outgoing_text(block) for block in blocks]
        answers = await self._buy(texts, languages, source)
        return [read_answer(block, answer) for block, answer in zip(blocks, answers, strict=True)]

    async def _buy(self, texts: Sequence[str], languages: LanguagePair, source: TranslationSource) -> Sequence[str]:
        version, characters = f"{VERSION}-{languages.target}", sum(len(text) for text in texts)
        call = PaidCall(_hash(texts), version, self.provider, Feature.TRANSLATE, source.entry_id, source.feed_id)

        async def send() -> PaidAnswer:
            answer = await self._service.translate_texts(texts, languages)
            billed = characters if answer.characters is None else answer.characters
            written = json.dumps(list(answer.texts), ensure_ascii=False)
            usable = len(answer.texts) == len(texts)
            reason = "" if usable else WRONG_COUNT
            return PaidAnswer(written, cost=self._cost(billed), characters=billed, usable=usable, reason=reason)

        order = Order(call, cost=self._cost(characters), characters=characters)
        answer = await self._pay_once.buy(order, send)
        if not answer.usable:
            raise UnusableAnswerError(f"{self.provider}: {answer.reason}")
        return [str(text) for text in json.loads(answer.text)]

    def _cost(self, characters: int) -> float:
        return characters * self._price / 1_000_000


class UnsetTranslator:
    """Stands for a provider without a key: it says which setting is missing, and the work waits."""

    model = ""
    limits = Limits(texts=1, characters=1_000_000, size=1_000_000, longest=1_000_000)

    def __init__(self, provider: str, settings: str) -> None:
        self.provider = provider
        self._settings = settings

    async def translate(
        self, blocks: Sequence[Block], languages: LanguagePair, source: TranslationSource
    ) -> Sequence[BlockTranslation]:
        raise ConfigurationError(f"The translator {self.provider} needs {self._settings}.")


class ServiceClient:
    """HTTP calls to one service. `name` is how people know it; the other two are the settings that concern it."""

    def __init__(self, name: str, url: str, *, url_setting: str, key_setting: str) -> None:
        self._name = name
        self._url = url.rstrip("/")
        self._url_setting = url_setting
        self._key_setting = key_setting
        # Redirects are not followed: the key is only for the address that was set.
        self._client = httpx.AsyncClient(
            trust_env=False, timeout=httpx.Timeout(LONGEST_CALL.total_seconds(), connect=LONGEST_CONNECT_SECONDS)
        )

    async def post(
        self, path: str, body: object, headers: Mapping[str, str], parameters: Mapping[str, str] | None = None
    ) -> tuple[object, httpx.Headers]:
        """Send one request. What is certainly not billed is an UnbilledError."""
        content = json.dumps(body, ensure_ascii=False).encode()
        headers = {**headers, "Content-Type": "application/json; charset=UTF-8"}
        try:
            async with (
                asyncio.timeout(LONGEST_CALL.total_seconds()),
                self._client.stream(
                    "POST", f"{self._url}{path}", content=content, headers=headers, params=parameters
                ) as response,
            ):
                text = await self._read(response)
        except (TimeoutError, httpx.TimeoutException) as error:
            seconds = f"{LONGEST_CALL.total_seconds():g}"
            message = f"{self._name} gave no complete answer within {seconds} seconds."
            raise _lost_or_unsent(message, error) from error
        except (httpx.InvalidURL, httpx.UnsupportedProtocol) as error:
            problem = ConfigurationError(f"{self._name}: the address is not valid. Check {self._url_setting}.")
            raise UnbilledError(problem, sent=False) from error
        except httpx.HTTPError as error:
            # The text of the error may quote the request, so only its kind is kept.
            message = f"{self._name} cannot be reached ({type(error).__name__})."
            raise _lost_or_unsent(message, error) from error
        return self._parse(response, text), response.headers

    def _parse(self, response: httpx.Response, text: bytes) -> object:
        found: object = None
        with suppress(ValueError, RecursionError):
            found = json.loads(text)
        if response.status_code == httpx.codes.OK:
            if found is None:
                raise self.unexpected_answer()
            return found
        if may_be_billed(response.status_code):
            raise AnswerLostError(f"{self._name} answers with status {response.status_code}.")
        raise UnbilledError(self.refusal(response, found))

    def refusal(self, response: httpx.Response, found: object) -> PressboxError:
        """Return the error for a response that is not a translation."""
        status, name = response.status_code, self._name
        if status in (httpx.codes.TOO_MANY_REQUESTS, OVERLOADED):
            wait = pause(response.headers, datetime.now(UTC)) or BUSY_PAUSE
            return RateLimitedError(f"{name} asks for fewer requests.", retry_after=wait)
        if status in (httpx.codes.UNAUTHORIZED, httpx.codes.FORBIDDEN):
            return ConfigurationError(f"{name} refuses the key ({status}). Set {self._key_setting} to a valid one.")
        if status >= httpx.codes.INTERNAL_SERVER_ERROR:
            return TransientError(f"{name} answers with status {status}.")
        if status == httpx.codes.NOT_FOUND or httpx.codes.is_redirect(status):
            return ConfigurationError(f"{name} is not at this address ({status}). Check {self._url_setting}.")
        return PermanentError(f"{name} does not translate this ({status}).")

    def over_quota(self) -> RateLimitedError:
        return RateLimitedError(
            f"{self._name}: the quota of the key is used up. Work continues by itself when the quota is renewed; "
            "another key or another provider (TRANSLATION_PROVIDER) is faster.",
            retry_after=QUOTA_PAUSE,
        )

    def unexpected_answer(self) -> AnswerLostError:
        return AnswerLostError(f"{self._name} answers with something other than translations.")

    async def _read(self, response: httpx.Response) -> bytes:
        body = b""
        async for piece in response.aiter_bytes():
            body += piece
            if len(body) > LARGEST_ANSWER:
                raise AnswerLostError(f"{self._name}: the answer is larger than {LARGEST_ANSWER:,} bytes.")
        return body

    async def close(self) -> None:
        await self._client.aclose()


def _lost_or_unsent(message: str, error: Exception) -> Exception:
    return AnswerLostError(message) if was_sent(error) else UnbilledError(TransientError(message), sent=False)


def _hash(texts: Sequence[str]) -> str:
    joined = "\x1f".join(texts).encode(errors="replace")
    return hashlib.md5(joined, usedforsecurity=False).hexdigest()
