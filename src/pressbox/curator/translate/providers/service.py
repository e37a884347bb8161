"""A translation service behind HTTP: its requests, its troubles as errors of ours, and its answers paid for once.

The address is an administrator's setting, so it is called directly, not through the guard for addresses that strangers
name. What a service says is text until the block it answers has taken it.
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
from pressbox.curator.translate.domain.article_blocks import Block
from pressbox.curator.translate.domain.segments import Done, Limits, sent, taken
from pressbox.curator.translate.ports import Languages, TranslationSource

# Changed with every change of what is sent: then all is new work.
VERSION = "1"
LARGEST_ANSWER = 2_000_000
LONGEST_CALL = timedelta(seconds=60)
# Quotas begin anew with a month or a payment: asking more often changes nothing.
QUOTA_PAUSE = timedelta(hours=1)
BUSY_PAUSE = timedelta(seconds=30)
OVERLOADED = 529


class Service(Protocol):
    """One of the providers. Texts are HTML with marks; the answer has as many, in the same order."""

    provider: str
    limits: Limits

    async def texts(self, texts: Sequence[str], languages: Languages) -> Sequence[str]: ...


class ServiceTranslator:
    """The `Translator` on a translation service: every request is paid for once."""

    # Services do not name the model that they use.
    model = ""

    def __init__(self, service: Service, pay_once: PayOnce, price_per_million: float) -> None:
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
        self, blocks: Sequence[Block], languages: Languages, source: TranslationSource
    ) -> Sequence[Done]:
        texts = [sent(block) for block in blocks]
        answers = await self._buy(texts, languages, source)
        return [taken(block, answer) for block, answer in zip(blocks, answers, strict=True)]

    async def _buy(self, texts: Sequence[str], languages: Languages, source: TranslationSource) -> Sequence[str]:
        version = f"{VERSION}-{languages.target}"
        call = PaidCall(_hash(texts), version, self.provider, Feature.TRANSLATE, source.entry_id, source.feed_id)

        async def ask(_: Sequence[Order]) -> Mapping[PaidCall, PaidAnswer]:
            answers = await self._service.texts(texts, languages)
            # Services count characters, not tokens: only the cost can be compared.
            cost = sum(len(text) for text in texts) * self._price / 1_000_000
            written = json.dumps(list(answers), ensure_ascii=False)
            return {call: PaidAnswer(written, cost=cost, usable=len(answers) == len(texts))}

        answer = (await self._pay_once.buy([Order(call)], ask))[call]
        if not answer.usable:
            raise TransientError(f"{self.provider}: the answer has not as many texts as the question.")
        return [str(text) for text in json.loads(answer.text)]


class Caller:
    """Calls of one service. `name` is how people know it, `settings` which of ours concern it."""

    def __init__(self, name: str, url: str, *, url_setting: str, key_setting: str) -> None:
        self._name = name
        self._url = url.rstrip("/")
        self._url_setting = url_setting
        self._key_setting = key_setting
        # Redirects are not followed: the key is for the address that was set.
        self._client = httpx.AsyncClient(trust_env=False, timeout=LONGEST_CALL.total_seconds())

    async def post(
        self, path: str, body: object, headers: Mapping[str, str], parameters: Mapping[str, str] | None = None
    ) -> object:
        written = json.dumps(body, ensure_ascii=False).encode()
        headers = {**headers, "Content-Type": "application/json; charset=UTF-8"}
        try:
            async with (
                asyncio.timeout(LONGEST_CALL.total_seconds()),
                self._client.stream(
                    "POST", f"{self._url}{path}", content=written, headers=headers, params=parameters
                ) as answer,
            ):
                text = await self._body(answer)
        except (TimeoutError, httpx.TimeoutException) as error:
            seconds = f"{LONGEST_CALL.total_seconds():g}"
            raise TransientError(f"{self._name}: no complete answer within {seconds} seconds.") from error
        except (httpx.InvalidURL, httpx.UnsupportedProtocol) as error:
            raise ConfigurationError(f"{self._name}: the address is not one. Set {self._url_setting}.") from error
        except httpx.HTTPError as error:
            # Texts of the library may quote the request, so only the kind is kept.
            raise TransientError(f"{self._name} cannot be reached ({type(error).__name__}).") from error
        try:
            found: object = json.loads(text)
        except ValueError as error:
            found = None
            if answer.status_code == httpx.codes.OK:
                raise TransientError(f"{self._name} answers something else than a translation.") from error
        if answer.status_code != httpx.codes.OK:
            raise self.refusal(answer, found)
        return found

    def refusal(self, answer: httpx.Response, found: object) -> PressboxError:
        """What an answer that is no translation means."""
        status, name = answer.status_code, self._name
        if status in (httpx.codes.TOO_MANY_REQUESTS, OVERLOADED):
            wait = pause(answer.headers, datetime.now(UTC)) or BUSY_PAUSE
            return RateLimitedError(f"{name} wants fewer requests.", retry_after=wait)
        if status in (httpx.codes.UNAUTHORIZED, httpx.codes.FORBIDDEN):
            return ConfigurationError(f"{name} refuses the key ({status}). Set {self._key_setting} to a valid one.")
        if status == httpx.codes.REQUEST_TIMEOUT or status >= httpx.codes.INTERNAL_SERVER_ERROR:
            return TransientError(f"{name} answers {status}.")
        if status == httpx.codes.NOT_FOUND or httpx.codes.is_redirect(status):
            return ConfigurationError(f"{name} is not at this address ({status}). Check {self._url_setting}.")
        return PermanentError(f"{name} does not translate this ({status}).")

    def over_quota(self) -> RateLimitedError:
        return RateLimitedError(
            f"{self._name}: the quota of the key is used up. It goes on by itself when the quota begins anew; "
            "another key or another provider (TRANSLATION_PROVIDER) is faster.",
            retry_after=QUOTA_PAUSE,
        )

    def nonsense(self) -> TransientError:
        return TransientError(f"{self._name} answers something else than translations.")

    async def _body(self, answer: httpx.Response) -> bytes:
        body = b""
        async for piece in answer.aiter_bytes():
            body += piece
            if len(body) > LARGEST_ANSWER:
                raise TransientError(f"{self._name}: the answer is larger than {LARGEST_ANSWER:,} bytes.")
        return body

    async def close(self) -> None:
        await self._client.aclose()


def _hash(texts: Sequence[str]) -> str:
    joined = "\x1f".join(texts).encode(errors="replace")
    return hashlib.md5(joined, usedforsecurity=False).hexdigest()
