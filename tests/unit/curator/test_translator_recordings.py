"""Recorded answers of DeepL and Microsoft, and the host that a key of DeepL belongs to."""

import json

import httpx
import pytest
from pydantic import SecretStr

from pressbox.core.errors import ConfigurationError, PressboxError, RateLimitedError
from pressbox.curator.translate import deepl, microsoft
from pressbox.curator.translate.translators import ServiceClient
from tests.fakes.paid_services import recorded_translations

READERS = {"deepl": deepl.read_texts, "microsoft": microsoft.read_texts}


def client(provider: str) -> ServiceClient:
    names = {"url_setting": "URL", "key_setting": "KEY"}
    kind = deepl.Client if provider == "deepl" else microsoft.Client
    return kind(provider, "http://127.0.0.1:9", **names)


def test_every_recorded_answer_is_texts_or_an_error_of_ours() -> None:
    for provider, recorded in recorded_translations():
        status, body = recorded.answer.status, recorded.answer.body
        if status == 200:
            texts = READERS[provider](json.loads(body))
            assert texts, recorded.name
            assert all(texts), recorded.name
        else:
            assert isinstance(client(provider).refusal(httpx.Response(status), None), PressboxError), recorded.name


@pytest.mark.parametrize(
    ("key", "host"), [("abc:fx", deepl.FREE_URL), (" abc:fx\n", deepl.FREE_URL), ("abc", deepl.PRO_URL)]
)
def test_the_key_says_which_host_is_asked(key: str, host: str) -> None:
    assert deepl.host_of(key) == host
    assert deepl.DeepL(None, SecretStr(key)).url == host
    assert deepl.DeepL("http://127.0.0.1:9", SecretStr(key)).url == "http://127.0.0.1:9"


def test_refusals_of_deepl_say_what_to_do() -> None:
    wrong = client("deepl").refusal(httpx.Response(403), None)
    assert isinstance(wrong, ConfigurationError)
    assert "end in :fx belong to https://api-free.deepl.com" in wrong.message
    spent = client("deepl").refusal(httpx.Response(456), {"message": "Quota Exceeded"})
    assert isinstance(spent, RateLimitedError)
    assert spent.retry_after is not None
    assert "quota of the key is used up" in spent.message


@pytest.mark.parametrize("code", [403001, "403001"])
def test_the_quota_of_microsoft_is_no_wrong_key(code: object) -> None:
    refusal = client("microsoft").refusal(httpx.Response(403), {"error": {"code": code, "message": "…"}})
    assert isinstance(refusal, RateLimitedError)
