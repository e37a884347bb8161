"""DeepL: `POST /v2/translate`, up to 50 texts and 128 KiB in one request.

Keys of the free plan end in `:fx` and belong to a host of their own; the wrong host answers 403 without a word.
"""

from collections.abc import Sequence

import httpx
from pydantic import BaseModel, SecretStr, TypeAdapter

from pressbox.core.errors import ConfigurationError, PressboxError
from pressbox.curator.translate.activities import LanguagePair
from pressbox.curator.translate.domain import Limits
from pressbox.curator.translate.translators import ServiceClient, Translated

OVER_QUOTA = 456
FREE_URL, PRO_URL = "https://api-free.deepl.com", "https://api.deepl.com"
FREE_SUFFIX = ":fx"
# The source languages that DeepL accepts; it detects others by itself.
_SOURCE_NAMES = "AR BG CS DA DE EL EN ES ET FI FR HE HU ID IT JA KO LT LV NB NL PL PT RO RU SK SL SV TH TR UK VI ZH"
_SOURCES = frozenset(_SOURCE_NAMES.split())
_TARGETS = {"EN": "EN-GB", "PT": "PT-PT", "ZH": "ZH-HANS", "NO": "NB"}


class _Translation(BaseModel):
    text: str


class _Answer(BaseModel):
    translations: list[_Translation]


_ANSWER = TypeAdapter(_Answer)


class DeepL:
    provider = "deepl"
    # A little below the documented limits, for what surrounds the texts.
    limits = Limits(texts=50, characters=120_000, size=120 * 1024, longest=120_000)

    def __init__(self, url: str | None, key: SecretStr) -> None:
        self._key = key
        self.url = url or host_of(key.get_secret_value())
        self._client = Client("DeepL", self.url, url_setting="PRESSBOX_CURATOR_DEEPL_URL", key_setting="DEEPL_API_KEY")

    async def translate_texts(self, texts: Sequence[str], languages: LanguagePair) -> Translated:
        target, source = languages.target.upper(), languages.source.upper().split("-")[0]
        body = {"text": list(texts), "target_lang": _TARGETS.get(target, target), "tag_handling": "html"}
        if source in _SOURCES:
            body["source_lang"] = source
        headers = {"Authorization": f"DeepL-Auth-Key {self._key.get_secret_value()}"}
        found, _ = await self._client.post("/v2/translate", body, headers)
        try:
            return Translated(read_texts(found))
        except ValueError as error:
            raise self._client.unexpected_answer() from error

    async def close(self) -> None:
        await self._client.close()


def host_of(key: str) -> str:
    return FREE_URL if key.strip().endswith(FREE_SUFFIX) else PRO_URL


def read_texts(found: object) -> list[str]:
    """A ValueError says that it is no translation."""
    return [one.text for one in _ANSWER.validate_python(found).translations]


class Client(ServiceClient):
    def refusal(self, response: httpx.Response, found: object) -> PressboxError:
        if response.status_code == OVER_QUOTA:
            return self.over_quota()
        if response.status_code == httpx.codes.FORBIDDEN:
            return ConfigurationError(
                "DeepL refuses the key (403). Set DEEPL_API_KEY to a valid one. Keys that end in :fx belong to "
                f"{FREE_URL}, others to {PRO_URL}: leave PRESSBOX_CURATOR_DEEPL_URL empty, and the right one is used."
            )
        return super().refusal(response, found)
