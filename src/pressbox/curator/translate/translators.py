"""Translators that are services behind HTTP: their requests, their errors as ours, and answers paid for once.

The address is an administrator's setting, so it is called directly, not through the guard for addresses that other
people name. An answer is only text until `read_answer` accepts it for its block.
"""

import asyncio
import hashlib
import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Protocol

import httpx

from pressbox.core.errors import ConfigurationError, PermanentError, PressboxError, RateLimitedError, TransientError
from pressbox.core.http.pauses import pause
from pressbox.curator.models.pay_once import PayOnce
from pressbox.curator.models.ports import Feature, Order, PaidAnswer, PaidCall
from pressbox.curator.translate.domain.blocks import Block
from pressbox.curator.translate.domain.segments import BlockTranslation, Limits, outgoing_text, read_answer
from pressbox.curator.translate.ports import LanguagePair, TranslationSource

# Changes with every change of what is sent: then everything is new work.
VERSION = "1"
LARGEST_ANSWER = 2_000_000
LONGEST_CALL = timedelta(seconds=60)
# A quota is renewed by a new month or a payment: asking more often changes nothing.
QUOTA_PAUSE = timedelta(hours=1)
BUSY_PAUSE = timedelta(seconds=30)
OVERLOADED = 529


class TextTranslator(Protocol):
    """A service that translates texts: HTML with marks in, as many texts out, in the same order."""

    provider: str
    limits: Limits

    async def translate_texts(self, texts: Sequence[str], languages: LanguagePair) -> Sequence[str]: ...


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
        version = f"{VERSION}-{languages.target}"
        call = PaidCall(_hash(texts), version, self.provider, Feature.TRANSLATE, source.entry_id, source.feed_id)

        async def ask(_: Sequence[Order]) -> Mapping[PaidCall, PaidAnswer]:
            answers = await self._service.translate_texts(texts, languages)
            # Services count characters, not tokens: only the cost can be compared.
            cost = sum(len(text) for text in texts) * self._price / 1_000_000
            written = json.dumps(list(answers), ensure_ascii=False)
            return {call: PaidAnswer(written, cost=cost, usable=len(answers) == len(texts))}

        answer = (await self._pay_once.buy([Order(call)], ask))[call]
        if not answer.usable:
            raise TransientError(f"{self.provider}: the answer has more or fewer texts than the question.")
        return [str(text) for text in json.loads(answer.text)]


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
        self._client = httpx.AsyncClient(trust_env=False, timeout=LONGEST_CALL.total_seconds())

    async def post(
        self, path: str, body: object, headers: Mapping[str, str], parameters: Mapping[str, str] | None = None
    ) -> object:
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
            raise TransientError(f"{self._name} gave no complete answer within {seconds} seconds.") from error
        except (httpx.InvalidURL, httpx.UnsupportedProtocol) as error:
            raise ConfigurationError(f"{self._name}: the address is not valid. Check {self._url_setting}.") from error
        except httpx.HTTPError as error:
            # The text of the error may quote the request, so only its kind is kept.
            raise TransientError(f"{self._name} cannot be reached ({type(error).__name__}).") from error
        try:
            found: object = json.loads(text)
        except ValueError as error:
            found = None
            if response.status_code == httpx.codes.OK:
                raise self.unexpected_answer() from error
        if response.status_code != httpx.codes.OK:
            raise self.refusal(response, found)
        return found

    def refusal(self, response: httpx.Response, found: object) -> PressboxError:
        """Return the error for a response that is not a translation."""
        status, name = response.status_code, self._name
        if status in (httpx.codes.TOO_MANY_REQUESTS, OVERLOADED):
            wait = pause(response.headers, datetime.now(UTC)) or BUSY_PAUSE
            return RateLimitedError(f"{name} asks for fewer requests.", retry_after=wait)
        if status in (httpx.codes.UNAUTHORIZED, httpx.codes.FORBIDDEN):
            return ConfigurationError(f"{name} refuses the key ({status}). Set {self._key_setting} to a valid one.")
        if status == httpx.codes.REQUEST_TIMEOUT or status >= httpx.codes.INTERNAL_SERVER_ERROR:
            return TransientError(f"{name} answers {status}.")
        if status == httpx.codes.NOT_FOUND or httpx.codes.is_redirect(status):
            return ConfigurationError(f"{name} is not at this address ({status}). Check {self._url_setting}.")
        return PermanentError(f"{name} does not translate this ({status}).")

    def over_quota(self) -> RateLimitedError:
        return RateLimitedError(
            f"{self._name}: the quota of the key is used up. Work continues by itself when the quota is renewed; "
            "another key or another provider (TRANSLATION_PROVIDER) is faster.",
            retry_after=QUOTA_PAUSE,
        )

    def unexpected_answer(self) -> TransientError:
        return TransientError(f"{self._name} answers with something other than translations.")

    async def _read(self, response: httpx.Response) -> bytes:
        body = b""
        async for piece in response.aiter_bytes():
            body += piece
            if len(body) > LARGEST_ANSWER:
                raise TransientError(f"{self._name}: the answer is larger than {LARGEST_ANSWER:,} bytes.")
        return body

    async def close(self) -> None:
        await self._client.aclose()


def _hash(texts: Sequence[str]) -> str:
    joined = "\x1f".join(texts).encode(errors="replace")
    return hashlib.md5(joined, usedforsecurity=False).hexdigest()
