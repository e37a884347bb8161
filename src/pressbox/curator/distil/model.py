"""The distiller on any OpenAI-compatible endpoint: several articles in a call, and no paid answer is lost."""

import secrets
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import timedelta

from pydantic import SecretStr

from pressbox.core.models.chat import ChatModel, Endpoint, Said
from pressbox.curator.distil.prompt import (
    PROMPT_VERSION,
    Summary,
    instructions,
    material,
    read_summaries,
    repair_request,
)
from pressbox.curator.library.domain.entries import Distilled, ToDistil
from pressbox.curator.models.domain import estimate_tokens

CALLS_AT_ONCE = 2
ARTICLES_PER_CALL = 5
LONGEST_CALL = timedelta(seconds=120)
TOKENS_PER_ARTICLE = 700
MOST_KEPT = 500
_Key = tuple[str, str, int]


class ModelDistiller:
    """A problem of the endpoint is a TransientError, a wrong setting a ConfigurationError; nothing is done then.

    When the model answers nonsense about an article twice, the answer is unusable and has its cost; the other articles
    are not affected.
    """

    def __init__(
        self, url: str, model: str, key: SecretStr | None = None, *, longest_call: timedelta = LONGEST_CALL
    ) -> None:
        endpoint = Endpoint(
            url,
            model,
            key,
            url_setting="PRESSBOX_CURATOR_MODEL_URL",
            key_setting="PRESSBOX_CURATOR_MODEL_KEY",
            model_setting="PRESSBOX_CURATOR_MODEL_NAME",
        )
        self._chat = ChatModel("distiller", endpoint, longest_call=longest_call, at_once=CALLS_AT_ONCE)
        # Answers of a call whose repair failed: the next attempt does not pay for them again.
        self._kept: OrderedDict[_Key, Distilled] = OrderedDict()
        # Tokens of nonsense: they are counted with the next answer about the same text.
        self._wasted: OrderedDict[_Key, tuple[int, int]] = OrderedDict()

    @property
    def name(self) -> str:
        return self._chat.model

    @property
    def prompt_version(self) -> str:
        return PROMPT_VERSION

    async def distil(self, entries: Sequence[ToDistil], language: str, sentences: int) -> Sequence[Distilled]:
        keys = {entry.entry_id: (entry.content_hash, language, sentences) for entry in entries}
        # The same text in two feeds is asked about once.
        asked = {keys[entry.entry_id]: entry for entry in entries if keys[entry.entry_id] not in self._kept}
        waiting = list(asked.values())
        for begin in range(0, len(waiting), ARTICLES_PER_CALL):
            async with self._chat.turns:
                await self._ask(waiting[begin : begin + ARTICLES_PER_CALL], language, sentences)
        found = {key: self._kept.pop(key) for key in set(keys.values()) if key in self._kept}
        for key, entry in asked.items():
            if key not in found:
                found[key] = self._unusable(entry, *self._wasted.pop(key, (0, 0)))
        return [replace(found[keys[entry.entry_id]], entry_id=entry.entry_id) for entry in entries]

    async def close(self) -> None:
        await self._chat.close()

    async def _ask(self, entries: Sequence[ToDistil], language: str, sentences: int) -> None:
        numbers = dict(enumerate(entries, start=1))
        mark = secrets.token_hex(8)
        messages: list[object] = [
            {"role": "system", "content": instructions(language, sentences, mark)},
            {"role": "user", "content": material(numbers, mark)},
        ]
        said = await self._call(messages, len(entries))
        found = read_summaries(said.text, numbers)
        self._keep(found, numbers, said, language, sentences)
        if not found:
            self._waste(entries, said, language, sentences)
        missing = [number for number in numbers if number not in found]
        if missing:
            messages += [
                {"role": "assistant", "content": said.text[:4000]},
                {"role": "user", "content": repair_request(missing)},
            ]
            again = await self._call(messages, len(missing))
            left = {number: numbers[number] for number in missing}
            repaired = read_summaries(again.text, left)
            self._keep(repaired, numbers, again, language, sentences)
            if not repaired:
                self._waste(tuple(left.values()), again, language, sentences)

    async def _call(self, messages: Sequence[object], articles: int) -> Said:
        said = await self._chat.ask(messages, TOKENS_PER_ARTICLE * articles)
        if said.tokens_in or said.tokens_out:
            return said
        # The budget needs numbers even when the endpoint does not count.
        return Said(said.text, estimate_tokens(*map(str, messages)), estimate_tokens(said.text))

    def _keep(
        self, found: Mapping[int, Summary], numbers: Mapping[int, ToDistil], said: Said, language: str, sentences: int
    ) -> None:
        for place, (number, answer) in enumerate(found.items()):
            entry = numbers[number]
            key = (entry.content_hash, language, sentences)
            wasted_in, wasted_out = self._wasted.pop(key, (0, 0))
            self._kept[key] = Distilled(
                entry_id=entry.entry_id,
                summary=answer.text,
                main_content_start_line=answer.start,
                main_content_end_line=answer.end,
                language=entry.language,
                model=self.name,
                prompt_version=PROMPT_VERSION,
                tokens_in=wasted_in + _share(said.tokens_in, place, len(found)),
                tokens_out=wasted_out + _share(said.tokens_out, place, len(found)),
                content_hash=entry.content_hash,
            )
        while len(self._kept) > MOST_KEPT:
            self._kept.popitem(last=False)

    def _waste(self, entries: Sequence[ToDistil], said: Said, language: str, sentences: int) -> None:
        for place, entry in enumerate(entries):
            key = (entry.content_hash, language, sentences)
            before_in, before_out = self._wasted.get(key, (0, 0))
            self._wasted[key] = (
                before_in + _share(said.tokens_in, place, len(entries)),
                before_out + _share(said.tokens_out, place, len(entries)),
            )
        while len(self._wasted) > MOST_KEPT:
            self._wasted.popitem(last=False)

    def _unusable(self, entry: ToDistil, tokens_in: int, tokens_out: int) -> Distilled:
        return Distilled(
            entry.entry_id,
            "",
            0,
            0,
            entry.language,
            self.name,
            PROMPT_VERSION,
            tokens_in,
            tokens_out,
            entry.content_hash,
            usable=False,
        )


def _share(tokens: int, place: int, of: int) -> int:
    """Return one share of what a call cost; all shares add up to the whole."""
    return tokens // of + (1 if place < tokens % of else 0)
