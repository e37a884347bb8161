"""Microsoft Translator: `POST /translate?api-version=3.0`, up to 1,000 texts and 50,000 characters in one request."""

from collections.abc import Sequence

import httpx
from pydantic import BaseModel, Field, SecretStr, TypeAdapter, ValidationError

from pressbox.core.errors import PressboxError
from pressbox.curator.translate.activities import LanguagePair
from pressbox.curator.translate.domain import LANGUAGES, Limits
from pressbox.curator.translate.translators import ServiceClient, Translated

# "The operation is not allowed because the subscription has exceeded its free quota", and the limit of a minute.
OVER_FREE_QUOTA = 403001
_NAMES = {"zh": "zh-Hans", "no": "nb", "sr": "sr-Cyrl"}


class _Translation(BaseModel):
    text: str


class _TranslatedText(BaseModel):
    translations: list[_Translation] = Field(min_length=1)


class _Error(BaseModel):
    code: int


class _Refusal(BaseModel):
    error: _Error


_ANSWER = TypeAdapter(list[_TranslatedText])
_REFUSAL = TypeAdapter(_Refusal)


class MicrosoftTranslator:
    provider = "microsoft"
    limits = Limits(texts=1000, characters=50_000, size=1_000_000, longest=50_000)

    def __init__(self, url: str, key: SecretStr, region: str) -> None:
        self._key = key
        self._region = region
        self._client = Client(
            "Microsoft Translator",
            url,
            url_setting="PRESSBOX_CURATOR_MICROSOFT_URL",
            key_setting="PRESSBOX_CURATOR_MICROSOFT_KEY, and PRESSBOX_CURATOR_MICROSOFT_REGION for a regional one,",
        )

    async def translate_texts(self, texts: Sequence[str], languages: LanguagePair) -> Translated:
        parameters = {"api-version": "3.0", "to": _NAMES.get(languages.target, languages.target), "textType": "html"}
        source = languages.source.lower().split("-")[0]
        # Microsoft detects other languages by itself.
        if source in LANGUAGES:
            parameters["from"] = _NAMES.get(source, source)
        headers = {"Ocp-Apim-Subscription-Key": self._key.get_secret_value()}
        if self._region:
            headers["Ocp-Apim-Subscription-Region"] = self._region
        found, told = await self._client.post("/translate", [{"Text": text} for text in texts], headers, parameters)
        metered = told.get("x-metered-usage", "")
        try:
            translated = read_texts(found)
        except ValueError as error:
            raise self._client.unexpected_answer() from error
        return Translated(translated, int(metered) if metered.isdecimal() else None)

    async def close(self) -> None:
        await self._client.close()


def read_texts(found: object) -> list[str]:
    """A ValueError says that it is no translation."""
    return [one.translations[0].text for one in _ANSWER.validate_python(found)]


class Client(ServiceClient):
    def refusal(self, response: httpx.Response, found: object) -> PressboxError:
        return self.over_quota() if _error_code(found) == OVER_FREE_QUOTA else super().refusal(response, found)


def _error_code(found: object) -> int:
    try:
        return _REFUSAL.validate_python(found).error.code
    except ValidationError:
        return 0
