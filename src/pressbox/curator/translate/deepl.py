"""DeepL: `POST /v2/translate`, up to 50 texts and 128 KiB in one request."""

from collections.abc import Sequence

import httpx
from pydantic import BaseModel, SecretStr, TypeAdapter, ValidationError

from pressbox.core.errors import PressboxError
from pressbox.curator.translate.domain.segments import Limits
from pressbox.curator.translate.ports import LanguagePair
from pressbox.curator.translate.translators import ServiceClient, Translated

OVER_QUOTA = 456
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

    def __init__(self, url: str, key: SecretStr) -> None:
        self._key = key
        self._client = _Client("DeepL", url, url_setting="PRESSBOX_CURATOR_DEEPL_URL", key_setting="DEEPL_API_KEY")

    async def translate_texts(self, texts: Sequence[str], languages: LanguagePair) -> Translated:
        target, source = languages.target.upper(), languages.source.upper().split("-")[0]
        body = {"text": list(texts), "target_lang": _TARGETS.get(target, target), "tag_handling": "html"}
        if source in _SOURCES:
            body["source_lang"] = source
        headers = {"Authorization": f"DeepL-Auth-Key {self._key.get_secret_value()}"}
        found, _ = await self._client.post("/v2/translate", body, headers)
        try:
            return Translated([one.text for one in _ANSWER.validate_python(found).translations])
        except ValidationError as error:
            raise self._client.unexpected_answer() from error

    async def close(self) -> None:
        await self._client.close()


class _Client(ServiceClient):
    def refusal(self, response: httpx.Response, found: object) -> PressboxError:
        return self.over_quota() if response.status_code == OVER_QUOTA else super().refusal(response, found)
