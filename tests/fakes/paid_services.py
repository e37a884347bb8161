"""Every paid service behind a server on loopback that answers as told and counts what it received."""

import base64
import json
import re
import secrets
from collections.abc import Awaitable, Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import yaml
from pydantic import SecretStr

from pressbox.core.app import Resources
from pressbox.core.config import SpendingSettings
from pressbox.core.models.client import Question
from pressbox.core.spending.wiring import till
from pressbox.curator.models.wiring import paid_model
from pressbox.curator.settings import CuratorSettings
from pressbox.curator.translate.activities import LanguagePair, TranslationSource
from pressbox.curator.translate.blocks import Block, BlockKind
from pressbox.curator.translate.contracts import Provider
from pressbox.curator.translate.wiring import translators
from pressbox.demo.simulators.http_service import Answer, HttpService, Request
from pressbox.footy.adapters.sources.registry import configured_sources
from pressbox.footy.ports.outside import SearchRequest
from pressbox.footy.settings import FootySettings, JudgeKind
from pressbox.footy.wiring import judge
from tests.shared_data import shared

TEXT = "Sample"
SEARCH = SearchRequest("Wirtz goal", ("Wirtz",), ("Liverpool",), 20, timedelta(hours=1))


class Counter(HttpService):
    """Gives everybody the same answer."""

    def __init__(self) -> None:
        super().__init__()
        self.given = Answer()
        self.received = 0

    async def answer(self, request: Request) -> Answer:
        self.received += 1
        return self.given


async def ask_model(resources: Resources) -> None:
    model = paid_model(resources)
    assert model is not None
    await model.ask(Question("answer", "1", secrets.token_hex(8), "Say it in short.", "A text.", 50))


async def ask_model_for_a_stream(resources: Resources) -> None:
    model = paid_model(resources)
    assert model is not None

    async def hear(text: str) -> None: ...

    await model.ask(Question("answer", "1", secrets.token_hex(8), "Say it in short.", "A text.", 50), on_text=hear)


async def judge_frames(resources: Resources) -> None:
    await judge(resources).judge((secrets.token_bytes(8),))


async def translate_by(provider: Provider, resources: Resources) -> None:
    source = TranslationSource(1, 2, "", "", "", "en", "hash")
    block = Block(BlockKind.PARAGRAPH, TEXT)
    await translators(resources)[provider].translate([block], LanguagePair("en", "de"), source)


async def search_x(resources: Resources) -> None:
    footy = resources.settings.group(FootySettings)
    (source,) = configured_sources(footy, resources.http, till(resources))
    await source.search(SEARCH)


def completion(content: object, finish: str = "stop", **message: object) -> Answer:
    choice = {"index": 0, "message": {"role": "assistant", "content": content, **message}, "finish_reason": finish}
    usage = {"prompt_tokens": 9, "completion_tokens": 3}
    return Answer.of({"object": "chat.completion", "choices": [choice], "usage": usage})


FRAME = {"soccer": "yes", "screen": "no", "clock": "", "added": "", "stoppage_clock": ""}
DEEPL = {"translations": [{"detected_source_language": "EN", "text": "Muestra"}]}
MICROSOFT = [{"translations": [{"text": "Tohle je test.", "to": "de"}]}]
POSTS = {"data": [{"id": str(number), "text": "Goal"} for number in range(8)], "meta": {"result_count": 8}}


@dataclass(frozen=True)
class Exercise:
    """One use of a service, which sends one request unless it fails; and an answer with which it succeeds."""

    use: Callable[[Resources], Awaitable[None]]
    good: Answer
    speaks_chat: bool = False


# By the names under which manifests list the services.
EXERCISES: Mapping[str, Exercise] = {
    "model": Exercise(ask_model, completion("In short."), speaks_chat=True),
    "vision-llm": Exercise(judge_frames, completion(json.dumps({"frames": [FRAME]})), speaks_chat=True),
    "deepl": Exercise(lambda resources: translate_by(Provider.DEEPL, resources), Answer.of(DEEPL)),
    "microsoft": Exercise(lambda resources: translate_by(Provider.MICROSOFT, resources), Answer.of(MICROSOFT)),
    "x-api": Exercise(search_x, Answer.of(POSTS)),
}


def with_services(resources: Resources, url: str, *, tokens_per_day: int = 10**9, timeout: float = 5.0) -> Resources:
    """All services at this address."""
    key = SecretStr("key")
    curator = CuratorSettings(
        model_url=f"{url}/v1",
        model_name="a-model",
        model_key=key,
        model_timeout_seconds=timeout,
        deepl_url=url,
        deepl_key=key,
        microsoft_url=url,
        microsoft_key=key,
    )
    footy = FootySettings(
        sources=("x-api",),
        x_api_url=url,
        x_api_token=key,
        judge=JudgeKind.VISION_LLM,
        vision_url=f"{url}/v1",
        vision_model="a-model",
        vision_key=key,
    )
    settings = resources.settings.model_copy(update={"spending": SpendingSettings(tokens_per_day=tokens_per_day)})
    return replace(resources, settings=settings.with_group(curator).with_group(footy))


@dataclass(frozen=True)
class Recorded:
    """A recorded answer of a provider."""

    name: str
    streamed: bool
    answer: Answer


def recorded_completions() -> Iterator[Recorded]:
    """Those of OpenAI-compatible endpoints."""
    folder = shared("providers")
    for path in sorted((folder / "openai_compatible").rglob("*.y*ml")) if folder else ():
        yield from _read_cassette(path)
    for path in sorted((folder / "openai_compatible").rglob("*.httprr")) if folder else ():
        yield from _read_trace(path)


def recorded_translations() -> Iterator[tuple[str, Recorded]]:
    """The provider, and what it answered."""
    folder = shared("providers")
    for path in sorted((folder / "deepl").glob("*.yml")) if folder else ():
        document = yaml.load(path.read_text(), Loader=_Loader)
        for number, exchange in enumerate(document["http_interactions"]):
            content, response = exchange["response"]["body"].get("string") or b"", exchange["response"]
            body = content.encode() if isinstance(content, str) else content
            if "/v2/translate" in exchange["request"]["uri"] or response["status"]["code"] >= 400:
                yield "deepl", Recorded(f"{path.stem}-{number}", False, Answer(response["status"]["code"], body))
    for path in sorted((folder / "microsoft_translator").glob("*.json")) if folder else ():
        told = json.loads(path.read_text())
        yield "microsoft", Recorded(path.stem, False, Answer(told["StatusCode"], told["ResponseBody"].encode()))


class _Loader(yaml.CSafeLoader):
    """Ruby writes bodies that are not plain text under a tag of its own."""


_Loader.add_constructor("!binary", lambda loader, node: base64.b64decode(node.value))


def _read_cassette(path: Path) -> Iterator[Recorded]:
    document: Mapping[str, Any] = yaml.load(path.read_text(), Loader=_Loader)
    for number, exchange in enumerate(document.get("interactions") or document.get("http_interactions") or ()):
        request, response = exchange["request"], exchange["response"]
        if not _is_chat(str(request["uri"])):
            continue
        asked, body = str(request.get("parsed_body") or request.get("body")), response.get("body") or {}
        text = body.get("string") if isinstance(body, dict) else None
        content = json.dumps(response["parsed_body"]) if "parsed_body" in response else text
        content = content.encode() if isinstance(content, str) else content
        if not isinstance(content, bytes):
            continue
        headers = {name: str(value[0]) for name, value in response["headers"].items() if name.lower() == "retry-after"}
        answer = Answer(response["status"]["code"], content, headers)
        yield Recorded(f"{path.parent.name}-{path.stem}-{number}", _is_streamed(asked), answer)


_EXCHANGE = re.compile(
    rb"^POST (?P<url>\S+) (?P<asked>.*?)HTTP/\d\.\d (?P<status>\d{3}) .*?\r?\n\r?\n(?P<body>.*?)"
    rb"(?=^\d+ \d+\r?\nPOST |\Z)",
    re.DOTALL | re.MULTILINE,
)


def _read_trace(path: Path) -> Iterator[Recorded]:
    """Go's recorder. Its lengths do not hold any more: secrets were taken out."""
    for number, found in enumerate(_EXCHANGE.finditer(path.read_bytes())):
        if _is_chat(found["url"].decode()):
            answer = Answer(int(found["status"]), found["body"])
            yield Recorded(f"{path.stem}-{number}", _is_streamed(found["asked"].decode(errors="replace")), answer)


def _is_chat(url: str) -> bool:
    return url.partition("?")[0].partition("#")[0].endswith("/chat/completions")


def _is_streamed(asked: str) -> bool:
    return "'stream': True" in asked or '"stream":true' in asked
